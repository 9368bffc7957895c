"""Domains an operator lets be fetched, and those that are not."""

from pathlib import Path

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


@pytest.mark.parametrize(
    "url", ["https://example.org/", "https://a.Example.ORG./", "http://192.0.2.7/"]
)
def test_allowed_domains_pass_with_their_subdomains(url: str):
    DomainPolicy(allowed=["*.example.org", "192.0.2.7"]).check(URL(url))


@pytest.mark.parametrize(
    "url", ["https://example.com/", "https://badexample.org/", "http://192.0.2.8/", "https://org/"]
)
def test_what_is_not_among_the_allowed_domains_is_refused_and_the_message_says_so(url: str):
    policy = DomainPolicy(allowed=["example.org", "192.0.2.7"])
    with pytest.raises(
        PolicyError, match="not among those that the configuration allows"
    ) as caught:
        policy.check(URL(url))
    assert caught.value.code is ErrorCode.BLOCKED_DOMAIN
    assert caught.value.url == url


def test_a_domain_that_is_blocked_within_an_allowed_one_is_refused():
    policy = DomainPolicy(["ads.example.org"], allowed=["example.org"])
    policy.check(URL("https://www.example.org/"))
    with pytest.raises(PolicyError, match="is blocked by the configuration"):
        policy.check(URL("https://ads.example.org/"))


def test_domains_of_a_file_are_blocked_beside_those_that_are_listed(tmp_path: Path):
    file = tmp_path / "list.txt"
    file.write_text("ads.example\n", encoding="utf-8")
    policy = DomainPolicy(["example.org"], blocklist=file)
    policy.check(URL("https://example.com/"))
    for url in ("https://example.org/", "https://x.ads.example/"):
        with pytest.raises(PolicyError, match="is blocked by the configuration"):
            policy.check(URL(url))


@pytest.mark.parametrize("field", ["blocked", "allowed"])
def test_a_wrong_entry_is_a_settings_error_naming_field_and_entry(field: str):
    domains = ["example.org", "not a domain"]
    with pytest.raises(SettingsError) as caught:
        DomainPolicy(domains) if field == "blocked" else DomainPolicy(allowed=domains)
    assert caught.value.field == f"fetch.{field}_domains"
    assert "'not a domain'" in caught.value.message
