"""The settings of the open sources."""

import pytest
from pydantic import ValidationError

from searx_mcp.settings.values import Settings
from searx_mcp.sources.open.config import OpenSourcesConfig
from searx_mcp.sources.open.engine import Ask
from searx_mcp.sources.open.table import ENGINES, engines_of


@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param("mode", "sometimes", id="mode"),
        pytest.param("disabled", ["googel"], id="unknown engine"),
        pytest.param("contact", "me", id="neither mail nor URL"),
        pytest.param("contact", "a@b.example (x)", id="parentheses"),
        pytest.param("contact", "a@b.example\r\nX-Evil: 1", id="two lines"),
        pytest.param("photon_url", "ftp://a.example", id="scheme"),
        pytest.param("npm_url", "https://u:p@a.example", id="password"),
        pytest.param("github_token", "ghp_x y", id="a space in a token"),
        pytest.param("stackexchange_key", "x\r\nX-Evil: 1", id="two lines in a key"),
    ],
)
def test_a_wrong_value_names_its_field(field, value):
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({"open_sources": {field: value}})
    assert [error["loc"][1] for error in caught.value.errors()] == [field]
    assert str(value) not in str(caught.value)


@pytest.mark.parametrize("contact", ["", "me@example.org", "https://example.org/about?a=1"])
def test_a_contact_is_a_mail_address_or_a_url(contact):
    given = Settings.model_validate({"open_sources": {"contact": contact}})
    assert given.open_sources.contact == contact


def test_by_default_all_are_on_but_those_that_want_a_switch_or_an_address():
    names = engines_of(OpenSourcesConfig())
    assert {row.name for row in ENGINES} - set(names) == {"npm", "keenable", "gdelt"}


def test_an_engine_can_be_switched_off_and_on():
    config = OpenSourcesConfig(
        disabled=("photon", "wikipedia"),
        keenable=True,
        gdelt=True,
        npm_url="https://packages.example",
    )
    names = engines_of(config)
    assert not {"photon", "wikipedia"} & set(names)
    assert {"npm", "keenable", "gdelt"} < set(names)
    assert names["npm"].endpoint == "https://packages.example"


def test_another_server_for_places_can_be_named():
    engines = engines_of(OpenSourcesConfig(photon_url="http://127.0.0.1:2322/photon/"))
    assert engines["photon"].endpoint == "http://127.0.0.1:2322/photon"
    assert engines["photon"].address == "http://127.0.0.1:2322/"


def test_without_a_server_for_places_nobody_is_asked_for_them():
    assert "photon" not in engines_of(OpenSourcesConfig(photon_url=""))


@pytest.mark.parametrize(
    ("setting", "name", "sent"),
    [
        ("github_token", "github", "Bearer s3cr3t"),
        ("stackexchange_key", "stackexchange", "&key=s3cr3t"),
    ],
)
def test_a_key_is_of_one_engine_and_raises_its_limits(setting, name, sent):
    keyed = engines_of(OpenSourcesConfig(**{setting: "s3cr3t"}))
    told = {row.name: f"{row.url(Ask({'q': 'a'}))} {row.key_headers}" for row in keyed.values()}
    assert [row for row in told if "s3cr3t" in told[row]] == [name]
    assert sent in told[name]
    assert keyed[name].per_day > engines_of(OpenSourcesConfig())[name].per_day
    assert "s3cr3t" not in repr(keyed)
