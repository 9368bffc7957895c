"""Domains an operator keeps from being fetched."""

import pytest
from yarl import URL

from searx_mcp.errors import ErrorCode, PolicyError, SettingsError
from searx_mcp.fetch.policy.lists import DomainPolicy


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/",
        "http://www.example.org:8080/a?b",
        "https://EXAMPLE.org./",
        "https://bücher.example/",
        "https://xn--bcher-kva.example/",
        "http://192.0.2.7/",
        "http://[2001:db8::1]/",
    ],
)
def test_a_blocked_domain_is_refused_in_every_spelling(url: str):
    policy = DomainPolicy(
        ["https://Example.org/x", "*.Bücher.example", "192.0.2.7", "2001:db8:0::1"]
    )
    with pytest.raises(PolicyError) as caught:
        policy.check(URL(url))
    assert caught.value.code is ErrorCode.BLOCKED_DOMAIN
    assert caught.value.url == str(URL(url))
    assert caught.value.advice


@pytest.mark.parametrize("url", ["https://example.com/", "https://badexample.org/"])
def test_another_domain_passes(url: str):
    DomainPolicy(["example.org"]).check(URL(url))


def test_an_empty_policy_lets_everything_pass():
    DomainPolicy([]).check(URL("https://example.org/"))


def test_a_wrong_entry_is_a_settings_error_naming_field_and_entry():
    with pytest.raises(SettingsError) as caught:
        DomainPolicy(["example.org", "not a domain"])
    assert caught.value.field == "fetch.blocked_domains"
    assert "'not a domain'" in caught.value.message
