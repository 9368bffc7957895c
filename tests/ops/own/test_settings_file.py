"""The settings files, as a YAML parser reads them."""

import secrets

import pytest
import yaml

from searx_mcp.models.request import Category
from searx_mcp.ops.own.installation import (
    ENGINES,
    kept_engines,
    missing_engines,
    native_settings,
    without_secrets,
)

SECRET = "0123456789abcdef" * 4


@pytest.mark.parametrize("secret", ["1" * 64, secrets.token_hex(32)], ids=["digits", "random"])
def test_a_secret_stays_text(secret):
    assert yaml.safe_load(native_settings(secret))["server"]["secret_key"] == secret


@pytest.mark.parametrize("secret", ["", "a" * 63, "a" * 65, "A" * 64, "g" * 64, f"{SECRET}\n"])
def test_anything_else_is_no_secret(secret):
    with pytest.raises(ValueError, match="64"):
        native_settings(secret)


def test_a_secret_in_a_log_is_masked():
    assert without_secrets(f"key={SECRET}, {SECRET[:63]}") == f"key=…, {SECRET[:63]}"
    assert SECRET not in without_secrets(native_settings(SECRET))


def test_the_settings_are_what_the_instance_needs():
    settings = yaml.safe_load(native_settings(SECRET))
    assert settings["server"]["limiter"] is False
    assert settings["server"]["bind_address"] == "127.0.0.1"
    assert settings["search"]["formats"] == ["html", "json"]
    assert settings["search"]["ban_time_on_fail"] == 0
    assert settings["ui"] == {"default_locale": "en"}
    assert settings["plugins"] == {}
    assert "proxies" not in settings["outgoing"]


def test_every_category_has_engines_and_those_shipped_switched_off_are_switched_on():
    settings = yaml.safe_load(native_settings(SECRET))
    kept = settings["use_default_settings"]["engines"]["keep_only"]
    assert len(kept) == len(set(kept))
    assert {*Category} <= {*ENGINES}
    switched = {each["name"] for each in settings["engines"] if "disabled" in each}
    assert "bing" in switched
    assert "wikipedia" not in switched
    for changed in settings["engines"]:
        assert changed["name"] in kept
        assert changed.get("disabled", False) is False
        assert changed.get("timeout", 6.0) <= 6.0


def test_engines_are_asked_through_the_proxy_of_the_settings():
    settings = yaml.safe_load(native_settings(SECRET, proxy="http://a%3Ab:c@proxy:3128"))
    assert settings["outgoing"]["proxies"] == {"all://": ["http://a%3Ab:c@proxy:3128"]}


def test_engines_that_an_instance_does_not_list_are_missing():
    text = native_settings(SECRET)
    kept = yaml.safe_load(text)["use_default_settings"]["engines"]["keep_only"]
    assert list(kept_engines(text)) == kept
    assert missing_engines(text, kept) == ()
    assert missing_engines(text, [name for name in kept if name != "brave"]) == ("brave",)


@pytest.mark.parametrize("text", ["", "use_default_settings: true\n", "- a\n- b\n"])
def test_settings_of_another_shape_keep_no_engines_by_name(text):
    assert kept_engines(text) == ()
