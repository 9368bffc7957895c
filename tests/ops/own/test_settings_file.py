"""The settings file, as a YAML parser reads it."""

import secrets

import pytest
import yaml

from searx_mcp.ops.own.settings_file import settings_yaml, without_secrets

SECRET = "0123456789abcdef" * 4


def test_json_is_on_and_the_limiter_off():
    assert yaml.safe_load(settings_yaml(SECRET)) == {
        "use_default_settings": True,
        "server": {
            "secret_key": SECRET,
            "limiter": False,
            "public_instance": False,
            "image_proxy": False,
        },
        "search": {"formats": ["html", "json"]},
    }


def test_a_secret_of_digits_alone_stays_text():
    secret = "1" * 64
    assert yaml.safe_load(settings_yaml(secret))["server"]["secret_key"] == secret


def test_random_secrets_are_taken():
    assert settings_yaml(secrets.token_hex(32))


@pytest.mark.parametrize("secret", ["", "a" * 63, "a" * 65, "A" * 64, "g" * 64, f"{SECRET}\n"])
def test_anything_else_is_no_secret(secret):
    with pytest.raises(ValueError, match="64"):
        settings_yaml(secret)


def test_a_secret_in_a_log_is_masked():
    assert without_secrets(f"key={SECRET}, {SECRET[:63]}") == f"key=…, {SECRET[:63]}"
    assert SECRET not in without_secrets(settings_yaml(SECRET))
