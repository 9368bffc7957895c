"""How addresses became known, and which policy lets them pass."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from searx_mcp.errors import ErrorCode, PolicyError
from searx_mcp.fetch.config import FetchPolicy
from searx_mcp.fetch.policy.provenance import Provenance

FOUND = "https://found.example/page?q=1"
LINKED = "https://linked.example/page"
OTHER_PAGE = "https://found.example/other"
STRANGE = "https://strange.example/"


def provenance(policy: FetchPolicy = FetchPolicy.ANY, **how: int) -> Provenance:
    it = Provenance(policy, **how)
    it.remember([FOUND], "search")
    it.remember([LINKED], "link")
    return it


@pytest.mark.parametrize(
    ("url", "source"),
    [
        (FOUND, "search"),
        (LINKED, "link"),
        (OTHER_PAGE, "unknown"),
        (STRANGE, "unknown"),
        ("https://found.example/page?q=1#part", "search"),
        ("HTTPS://FOUND.example:443/page?q=1", "search"),
        ("https://found.example./page?q=1", "search"),
        ("https://found.example/%70age?q=%31", "search"),
        ("https://found.example/Page?q=1", "unknown"),
        ("https://found.example/page/?q=1", "unknown"),
        ("https://found.example/page", "unknown"),
        ("https://found.example/page?q=12", "unknown"),
        ("http://found.example/page?q=1", "unknown"),
        ("https://found.example:8443/page?q=1", "unknown"),
        ("https://www.found.example/page?q=1", "unknown"),
        ("", "unknown"),
        ("no address", "unknown"),
        ("http://[]@", "unknown"),
        ("http://[::1", "unknown"),
        ("http://\ud800.example/", "unknown"),
    ],
)
def test_an_address_is_known_in_every_spelling_and_no_other_is(url: str, source: str):
    assert provenance().of(url) == source


def test_what_a_search_found_stays_found_when_a_page_links_to_it():
    it = Provenance(FetchPolicy.ANY)
    it.remember([FOUND], "link")
    assert it.of(FOUND) == "link"
    it.remember([FOUND], "search")
    it.remember([FOUND], "link")
    assert it.of(FOUND) == "search"


def test_names_beyond_ascii_are_one_with_their_encoding():
    it = Provenance(FetchPolicy.SEEN)
    it.remember(["https://b\u00fccher.example/\u00fc"], "link")
    url = URL("https://xn--bcher-kva.example/%C3%BC")
    assert it.check(url, by_person=False) == "link"


@pytest.mark.parametrize(
    ("policy", "url", "said"),
    [
        (FetchPolicy.ANY, FOUND, "search"),
        (FetchPolicy.ANY, LINKED, "link"),
        (FetchPolicy.ANY, STRANGE, "unknown"),
        (FetchPolicy.SEEN, FOUND, "search"),
        (FetchPolicy.SEEN, LINKED, "link"),
        (FetchPolicy.SEEN, OTHER_PAGE, None),
        (FetchPolicy.SEEN, STRANGE, None),
        (FetchPolicy.SEEN_HOSTS, FOUND, "search"),
        (FetchPolicy.SEEN_HOSTS, LINKED, "link"),
        (FetchPolicy.SEEN_HOSTS, OTHER_PAGE, "unknown"),
        (FetchPolicy.SEEN_HOSTS, "http://FOUND.example.:8080/x", "unknown"),
        (FetchPolicy.SEEN_HOSTS, STRANGE, None),
        (FetchPolicy.SEEN_HOSTS, "https://www.found.example/", None),
        (FetchPolicy.SEEN_HOSTS, "https://found.example.evil.example/", None),
    ],
)
def test_the_policy_decides_on_calls_of_a_model(policy: FetchPolicy, url: str, said: str | None):
    it = provenance(policy)
    if said is not None:
        assert it.check(URL(url), by_person=False) == said
        return
    with pytest.raises(PolicyError, match="The configuration allows only") as caught:
        it.check(URL(url), by_person=False)
    assert caught.value.code is ErrorCode.BLOCKED_DOMAIN
    assert caught.value.url == str(URL(url))
    assert "Search for the page first" in caught.value.advice


@pytest.mark.parametrize("policy", FetchPolicy)
@pytest.mark.parametrize("url", [FOUND, STRANGE])
def test_a_person_may_fetch_everything(policy: FetchPolicy, url: str):
    assert provenance(policy).check(URL(url), by_person=True) == "person"


def test_two_schemes_at_one_port_are_two_addresses():
    it = Provenance(FetchPolicy.ANY)
    it.remember(["https://a.example:8443/"], "link")
    assert it.of("http://a.example:8443/") == "unknown"


def test_a_fragment_makes_no_other_address():
    it = provenance(FetchPolicy.SEEN)
    assert it.check(URL(f"{FOUND}#part"), by_person=False) == "search"


def test_the_oldest_are_forgotten_with_their_hosts():
    it = Provenance(FetchPolicy.SEEN_HOSTS, size=2)
    it.remember(["https://a.example/1", "https://a.example/2", "https://b.example/"], "search")
    assert it.of("https://a.example/1") == "unknown"
    assert it.check(URL("https://a.example/1"), by_person=False) == "unknown"
    it.remember(["https://c.example/"], "search")
    with pytest.raises(PolicyError):
        it.check(URL("https://a.example/2"), by_person=False)
    assert repr(it) == "<Provenance [2 search, 0 link, 2 hosts]>"


def test_what_is_used_or_shown_again_is_not_the_oldest():
    it = Provenance(FetchPolicy.ANY, size=3)
    a, b, c = (f"https://{name}.example/" for name in "abc")
    it.remember([a, b, c], "link")
    it.of(a)
    it.remember([b], "link")
    it.remember(["https://d.example/"], "link")
    assert [it.of(url) for url in (a, b, c)] == ["link", "link", "unknown"]


def test_a_page_full_of_links_does_not_push_out_what_was_found():
    it = provenance(FetchPolicy.SEEN, size=10)
    it.remember((f"https://flood.example/{n}" for n in range(1_000)), "link")
    assert it.check(URL(FOUND), by_person=False) == "search"
    assert repr(it) == "<Provenance [1 search, 10 link, 2 hosts]>"


def test_what_is_no_address_of_the_web_is_passed_over():
    it = Provenance(FetchPolicy.ANY)
    it.remember(
        ["", "x", "mailto:a@a.example", "ftp://a.example/", "javascript:1", "/path", "http://[]@", "http://[::1",
         "http://a.example:99999/", "http://a.example:0/", "http://\ud800.example/", f"http://a.example/{'a' * 5_000}"],
        "link",
    )  # fmt: skip
    assert repr(it) == "<Provenance [0 search, 0 link, 0 hosts]>"


@pytest.mark.parametrize(
    ("path", "source"), [("a" * 4_079, "link"), ("a" * 4_080, "unknown")], ids=["whole", "longer"]
)
def test_an_address_has_an_end(path: str, source: str):
    it = Provenance(FetchPolicy.ANY)
    url = f"http://a.example/{path}"
    it.remember([url, "http://a.example:1/"], "link")
    assert it.of(url) == source
    assert it.of("http://a.example:1/") == "link"


@given(st.lists(st.tuples(st.integers(0, 8), st.sampled_from(["search", "link"])), max_size=40))
def test_hosts_are_counted_right_whatever_is_remembered_and_forgotten(shown):
    it = Provenance(FetchPolicy.SEEN_HOSTS, size=3)
    for n, source in shown:
        it.remember([f"https://h{n % 3}.example/{n}"], source)
    held = [host for seen in it._seen.values() for host in seen.values()]
    assert dict(it._hosts) == {host: held.count(host) for host in held}


@given(st.text(max_size=60) | st.from_regex(r"https?://[\[\]a-z0-9.:@/?#%-]{0,40}", fullmatch=True))
def test_any_text_is_an_address_or_none(text: str):
    it = Provenance(FetchPolicy.ANY)
    it.remember([text], "link")
    assert it.of(text) in {"link", "unknown"}
