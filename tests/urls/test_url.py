import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.errors import ErrorCode, InvalidArgumentError, PolicyError
from searx_mcp.models.coercion import MAX_URL_LENGTH
from searx_mcp.urls.address import AllowList
from searx_mcp.urls.url import check_url

NOTHING = AllowList()


@pytest.mark.parametrize(
    ("raw", "checked"),
    [
        ("http://example.org", "http://example.org"),
        ("HTTP://EXAMPLE.ORG/A#b", "http://example.org/A"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:8080/?q=1#", "http://example.org:8080/?q=1"),
        ("http://müller.example.org/ü", "http://xn--mller-kva.example.org/%C3%BC"),
    ],
)
def test_a_url_comes_back_as_it_will_be_requested(raw, checked):
    assert str(check_url(raw, allow=NOTHING)) == checked


ADVICE = {
    ErrorCode.BLOCKED_PORT: "Use port 80, 443, 8080 or 8443.",
    ErrorCode.BLOCKED_ADDRESS: "fetch.allow_private",
}


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("ftp://example.org/", ErrorCode.BLOCKED_SCHEME),
        ("about:blank", ErrorCode.BLOCKED_SCHEME),
        ("localhost:80/", ErrorCode.BLOCKED_SCHEME),
        ("http://example.org:22/", ErrorCode.BLOCKED_PORT),
        ("http://127.0.0.1:22/", ErrorCode.BLOCKED_PORT),
        ("http://127.0.0.1/", ErrorCode.BLOCKED_ADDRESS),
        ("http://[fe80::1%25eth0]/", ErrorCode.BLOCKED_ADDRESS),
        ("http://127.1/", ErrorCode.BLOCKED_ADDRESS),
        ("http://intranet/", ErrorCode.BLOCKED_ADDRESS),
        ("http://x.internal/", ErrorCode.BLOCKED_ADDRESS),
    ],
)
def test_a_forbidden_url_says_which_rule_it_breaks(raw, code):
    with pytest.raises(PolicyError) as caught:
        check_url(raw, allow=NOTHING)
    assert (caught.value.code, caught.value.url) == (code, raw)
    assert ADVICE.get(code, "") in caught.value.advice


@pytest.mark.parametrize("scheme", ["http", "https", "ftp", "gopher", "javascript"])
def test_no_error_shows_a_password(scheme):
    with pytest.raises((PolicyError, InvalidArgumentError)) as caught:
        check_url(f"{scheme}://me:secret@example.org:22/x", allow=NOTHING)
    error = caught.value
    assert "secret" not in f"{error} {error.advice} {getattr(error, 'url', '')}"


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("example.org/", "must start with"),
        ("//example.org/", "must start with"),
        ("", "must start with"),
        ("http://exa mple.org/", "a space"),
        ("http://example.org\\x", "a backslash"),
        ("http://example.org/\ud800x", "a lone surrogate"),  # yarl drops it
        ("http://a:b@example.org/", "a user name"),
        ("http://example.org:x/", "not a valid URL"),
        ("http://example.org:+80/", "not a valid URL"),
        ("http:///x", "not a valid URL"),
        ("http://[]@", "not a valid URL"),  # an IndexError of yarl
        ("http://[2606:4700::0x1]#x", "not a valid URL"),  # a ValueError when it is written
        ("http://\u2603.example.org/", "host name"),  # IDNA 2003 only
        ("http://\u2603.EXAMPLE.org/", "host name"),  # yarl would keep the capitals
        ("http://\u2603.stra\u00dfe.example.org/", "host name"),  # and take this for strasse
        ("http://ex*mple.org/", "host name"),
        ("http://" + "é" * 254 + "/", "not a valid URL"),
        ("http://a:\ufdfa@" + "\ufdfa" * 15, "not a valid URL"),  # NFKC makes 18 characters of each
        ("http://example.org/" + "a" * MAX_URL_LENGTH, "longer than"),
        ("http://example.org/" + "ü" * 1_000, "longer than"),
    ],
    ids=lambda value: value[:30],
)
def test_a_malformed_url_is_a_wrong_argument(raw, problem):
    with pytest.raises(InvalidArgumentError, match=problem) as caught:
        check_url(raw, allow=NOTHING)
    assert (caught.value.field, caught.value.code) == ("url", ErrorCode.INVALID_ARGUMENT)


@pytest.mark.parametrize(
    "raw",
    [
        "http://localhost:8001/search",
        "http://LOCALHOST.:8001/",
        "http://searxng:8080/",
        "http://10.1.2.3:9000/",
        "https://[fd00::1]/",
    ],
)
def test_an_allowed_host_passes_at_its_port(raw):
    allow = AllowList.parse(["localhost:8001", "searxng:8080", "10.0.0.0/8:9000", "[fd00::/8]:443"])
    assert check_url(raw, allow=allow).host


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        ("http://localhost:8002/", PolicyError),
        ("http://127.0.0.1:8001/", PolicyError),
        ("ftp://localhost:8001/", PolicyError),
        ("http://me@localhost:8001/", InvalidArgumentError),
    ],
)
def test_an_allowed_host_passes_at_no_other_port_address_or_scheme(raw, error):
    with pytest.raises(error):
        check_url(raw, allow=AllowList.parse(["localhost:8001"]))


HOSTS = st.one_of(
    st.from_regex("[a-z0-9.:\\[\\]%@①。\uff10x-]{1,20}", fullmatch=True),
    st.ip_addresses().map(str),
    st.text(max_size=12),
)


@given(st.builds("http://{}{}".format, HOSTS, st.text(max_size=12)))
def test_checking_twice_is_checking_once(raw):
    try:
        url = check_url(raw, allow=NOTHING)
    except (InvalidArgumentError, PolicyError):
        return
    assert check_url(str(url), allow=NOTHING) == url
