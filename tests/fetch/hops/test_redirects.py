"""The rules of following redirects."""

import pytest
from multidict import CIMultiDict
from yarl import URL

from searx_mcp.errors import ErrorCode, PolicyError, RedirectError, TransportError
from searx_mcp.fetch.hops.redirects import Trail, carried_headers, join, location_of, next_url
from searx_mcp.urls.address import AllowList

START = URL("https://example.org/a/b?c=1")


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/x", "https://example.org/x"),
        ("x", "https://example.org/a/x"),
        ("../x", "https://example.org/x"),
        ("?d=2", "https://example.org/a/b?d=2"),
        ("//example.com/x", "https://example.com/x"),
        ("http://example.com", "http://example.com"),
        ("HTTP://EXAMPLE.com/", "http://example.com/"),
        ("  /x  ", "https://example.org/x"),
        ("/a b", "https://example.org/a%20b"),
        ("/ü", "https://example.org/%C3%BC"),
        ("/\udcfc", "https://example.org/%FC"),
        ("/x#part", "https://example.org/x"),
        ("https://bücher.example.org/", "https://xn--bcher-kva.example.org/"),
        ("/x?a\\b", "https://example.org/x?a%5Cb"),
    ],
)
def test_a_location_is_joined_with_the_current_address(location: str, target: str):
    assert str(next_url(START, location, allow=AllowList())) == target


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("file:///etc/passwd", "blocked_scheme"),
        ("gopher://example.org/", "blocked_scheme"),
        ("javascript:alert(1)", "blocked_scheme"),
        ("data:text/html,x", "blocked_scheme"),
        ("http://127.0.0.1/", "blocked_address"),
        ("//169.254.169.254/latest/meta-data", "blocked_address"),
        ("http://[::1]/", "blocked_address"),
        ("http://[::ffff:127.0.0.1]/", "blocked_address"),
        ("http://localhost/", "blocked_address"),
        ("https://\udcff.org/", "blocked_address"),
        ("https://example.org:22/", "blocked_port"),
    ],
)
def test_a_target_that_may_not_be_fetched_is_refused(location: str, code: str):
    with pytest.raises(PolicyError) as caught:
        next_url(START, location, allow=AllowList())
    assert caught.value.code == code


@pytest.mark.parametrize(
    "location",
    [
        "http://",
        "http:///x",
        "http://[::1",
        "http://a:99999/",
        "http://a\\@example.com/",
        "\\\\example.com\\x",
        "/\\example.com",
        "http://user:secret@example.com/",
        "/\ud800",
        "/" + "x" * 5_000,
    ],
)
def test_a_location_that_is_no_address_is_a_malformed_answer(location: str):
    with pytest.raises(TransportError) as caught:
        next_url(START, location, allow=AllowList())
    assert caught.value.code is ErrorCode.MALFORMED_RESPONSE
    assert caught.value.url == str(START)
    assert "secret" not in caught.value.message


def test_the_allow_list_holds_for_targets_too():
    allow = AllowList.parse(["127.0.0.1:8081"])
    assert next_url(START, "http://127.0.0.1:8081/x", allow=allow).port == 8081


def test_joining_alone_judges_nothing():
    assert str(join(START, "http://127.0.0.1/x#y")) == "http://127.0.0.1/x"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_has_a_location(status: int):
    assert location_of(status, CIMultiDict({"location": "/x"})) == "/x"


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        (200, {"Location": "/x"}),
        (201, {"Location": "/x"}),
        (300, {"Location": "/x"}),
        (304, {"Location": "/x"}),
        (302, {}),
        (302, {"Location": ""}),
    ],
)
def test_anything_else_is_an_answer(status: int, headers: dict[str, str]):
    assert location_of(status, headers) is None


HARMLESS = {
    "Accept": "*/*",
    "Accept-Encoding": "gzip",
    "Accept-Language": "de",
    "USER-AGENT": "mine",
}
OF_THE_CALLER = {
    "Authorization": "x",
    "Cookie": "y",
    "Referer": "https://example.org/a",
    "If-None-Match": '"1"',
    "X-Api-Key": "z",
}


@pytest.mark.parametrize(
    "target",
    [
        pytest.param("https://example.com/", id="host"),
        pytest.param("http://example.org:443/", id="scheme alone"),
        pytest.param("http://example.org/", id="scheme and port"),
        pytest.param("https://example.org:8443/", id="port"),
        pytest.param("https://www.example.org/", id="subdomain"),
    ],
)
def test_another_origin_gets_only_harmless_headers(target: str):
    assert carried_headers(HARMLESS | OF_THE_CALLER, START, URL(target)) == HARMLESS


def test_the_same_origin_gets_all_headers():
    headers = {"Accept": "*/*", "Authorization": "x"}
    assert carried_headers(headers, START, URL("https://example.org:443/x")) == headers


def test_a_trail_records_each_hop_with_its_status():
    trail = Trail(START, max_redirects=3)
    trail.answered(302)
    trail.follow(URL("https://example.com/x"))
    trail.answered(200)
    assert trail.chain == [f"{START} -> 302", "https://example.com/x -> 200"]
    assert trail.redirects == 1
    assert trail.notes == []


@pytest.mark.parametrize("target", [START, URL("https://example.org/x")])
def test_an_address_met_for_the_second_time_is_a_loop(target: URL):
    trail = Trail(START, max_redirects=9)
    trail.follow(URL("https://example.org/x"))
    with pytest.raises(RedirectError) as caught:
        trail.follow(target)
    assert caught.value.code is ErrorCode.REDIRECT_LOOP
    assert caught.value.url == str(target)


def test_one_redirect_more_than_allowed_is_too_many():
    trail = Trail(START, max_redirects=2)
    trail.follow(URL("https://example.org/1"))
    trail.follow(URL("https://example.org/2"))
    with pytest.raises(RedirectError) as caught:
        trail.follow(URL("https://example.org/3"))
    assert caught.value.code is ErrorCode.TOO_MANY_REDIRECTS
    assert caught.value.url == "https://example.org/2"
    assert trail.redirects == 2


def test_leaving_https_is_noted():
    trail = Trail(START, max_redirects=4)
    trail.follow(URL("http://example.com/"))
    trail.follow(URL("http://example.com/still"))
    trail.follow(URL("https://example.com/"))
    trail.follow(URL("https://example.com/still"))
    assert trail.notes == ["A redirect left https for http."]


def test_no_redirect_may_be_allowed_and_a_circle_is_told_first():
    trail = Trail(START, max_redirects=0)
    with pytest.raises(RedirectError, match="more than 0 times"):
        trail.follow(URL("https://example.org/1"))
    with pytest.raises(RedirectError, match="in a circle"):
        trail.follow(START)
