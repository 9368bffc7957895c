"""How proxies are written, and which requests go through them."""

import base64

import pytest

from searx_mcp.http.proxy import BLIND, DIRECT, Bypass, ProxyRules, ProxyUrl

ONION = "ieqzkvy4bf3xi4bzsfzfax42t4iuqcbqn6oah4uwrm4ip354gavsviad.onion"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("http://proxy.example.org:3128", "http://proxy.example.org:3128"),
        ("HTTP://Proxy.example.org:3128/", "http://proxy.example.org:3128"),
        ("proxy.example.org:3128", "http://proxy.example.org:3128"),
        ("https://proxy.example.org", "https://proxy.example.org:443"),
        ("socks5://127.0.0.1", "socks5://127.0.0.1:1080"),
        ("socks5h://[::1]:9050", "socks5h://[::1]:9050"),
    ],
)
def test_a_proxy_is_written_as_an_address(text, address):
    proxy = ProxyUrl.parse(text)
    assert (proxy.address, str(proxy)) == (address, address)
    assert (proxy.username, proxy.password, proxy.authorization) == (None, None, None)
    assert proxy.is_socks == address.startswith("socks")


@pytest.mark.parametrize(
    ("userinfo", "pair"),
    [("alice:hunter2", "alice:hunter2"), ("a%40b:p%3A%2F£", "a@b:p:/£"), ("alice", "alice:")],
)
def test_credentials_are_decoded_and_not_shown(userinfo, pair):
    proxy = ProxyUrl.parse(f"http://{userinfo}@proxy.example.org:3128")
    assert proxy.authorization == f"Basic {base64.b64encode(pair.encode()).decode()}"
    assert str(proxy) == "http://***@proxy.example.org:3128"
    for secret in pair.split(":", 1):
        assert not secret or secret not in f"{proxy} {proxy!r} {proxy.address}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http://proxy.example.org", "names no port"),
        ("http://:3128", "must look like"),
        ("http://hunter2@:3128", "must look like"),
        ("http://proxy:hunter2", "must look like"),
        ("http://proxy:99999", "must look like"),
        ("http://[::1:3128", "must look like"),
        ("http://proxy:3128/hunter2", "must look like"),
        ("http://proxy:3128?hunter2", "must look like"),
        ("http://proxy:3128#hunter2", "must look like"),
        ("http://pro xy:3128", "must look like"),
        ("http://u:hunter2#@proxy:3128", "must look like"),
        ("ftp://hunter2@proxy:3128", "must start with"),
        ("socks4://hunter2@proxy:3128", "must start with"),
        ("http://:hunter2@proxy:3128", "user name"),
        ("http://a%3Ab:hunter2@proxy:3128", "colon"),
        ("http://alice:hunter2%0A@proxy:3128", "control characters"),
        ("http://alice:hunter2%FF@proxy:3128", "control characters"),
        ("socks5://alice:hunter2£@proxy:3128", "ASCII"),
        ("socks5://alice@proxy:3128", "ASCII"),
        (f"socks5://alice:{'h' * 256}@proxy:3128", "ASCII"),
    ],
)
def test_a_mistake_is_told_without_what_was_written(text, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        ProxyUrl.parse(text)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("entry", "covered", "not_covered"),
    [
        (
            "example.org",
            ["example.org", "EXAMPLE.org.", "a.b.example.org"],
            ["anexample.org", "org"],
        ),
        (".example.org", ["example.org", "a.example.org"], ["example.com"]),
        ("*.example.org", ["example.org", "a.example.org"], ["example.com"]),
        ("Example.ORG.", ["a.example.org"], []),
        ("10.0.0.0/8", ["10.1.2.3"], ["11.0.0.1", "10.example.org"]),
        ("10.1.2.3/8", ["10.9.9.9"], []),
        ("192.0.2.1", ["192.0.2.1"], ["192.0.2.2"]),
        ("fc00::/7", ["fd00::1"], ["2001:4860::1", "10.0.0.1"]),
        ("[::1]", ["::1"], ["::2"]),
        ("<local>", ["searxng"], ["searxng.lan", "127.0.0.1", "::1"]),
        ("*", ["example.org", "10.0.0.1", "searxng"], []),
    ],
)
def test_an_exception_covers_what_it_names(entry, covered, not_covered):
    bypass = Bypass.parse([entry])
    assert all(bypass.covers(host, 443) for host in covered)
    assert not any(bypass.covers(host, 443) for host in not_covered)


@pytest.mark.parametrize("entry", ["example.org:8080", "10.0.0.1:8080", "[fd00::1]:8080"])
def test_an_exception_may_be_for_one_port(entry):
    bypass = Bypass.parse([entry])
    host = entry.removesuffix(":8080").strip("[]")
    assert bypass.covers(host, 8080)
    assert not bypass.covers(host, 443)


@pytest.mark.parametrize(
    "entry", ["", "http://example.org", "a b", "a/b", "[::1", "10.0.0.0/99", "é"]
)
def test_an_exception_of_another_form_is_a_mistake(entry):
    with pytest.raises(ValueError, match="is not a domain, address or network such as"):
        Bypass.parse([entry])


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "searxng", "nas.local", "searx.lan", "127.0.0.1", "192.168.1.1", "::1",
        "fe80::1",
    ],
)  # fmt: skip
def test_by_default_private_hosts_are_exceptions_and_public_ones_are_not(host):
    bypass = Bypass.parse(DIRECT)
    assert bypass.covers(host, 80)
    assert not bypass.covers("searx.example.org", 443)
    assert not bypass.covers("93.184.216.34", 443)


HTTP, OTHER, SOCKS = (
    ProxyUrl.parse(text) for text in ("http://a:1", "http://b:2", "socks5h://me:hunter2@c:3")
)
NOWHERE, EVERYWHERE = Bypass.parse([]), Bypass.parse(["*"])


def test_each_scheme_has_its_proxy():
    rules = ProxyRules(https=HTTP, http=OTHER, bypass=Bypass.parse(["direct.example.org"]))
    assert rules.proxy_for("https", "www.example.org", 443) == HTTP
    assert rules.proxy_for("http", "www.example.org", 80) == OTHER
    assert rules.proxy_for("https", "direct.example.org", 443) is None
    assert ProxyRules(None, OTHER, NOWHERE).proxy_for("https", "www.example.org", 443) is None


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("bypass", [NOWHERE, EVERYWHERE], ids=["nowhere", "everywhere"])
@pytest.mark.parametrize(("https", "http"), [(SOCKS, SOCKS), (SOCKS, HTTP), (HTTP, SOCKS)])
def test_a_tor_service_always_goes_through_the_socks_proxy(scheme, bypass, https, http):
    assert ProxyRules(https, http, bypass).proxy_for(scheme, ONION, 80) == SOCKS


def test_without_a_socks_proxy_there_is_no_way_to_tor_services():
    assert ProxyRules(HTTP, OTHER, NOWHERE).onion is None
    assert ProxyRules(HTTP, SOCKS, NOWHERE).onion == SOCKS


def test_notes_say_what_goes_where_and_no_password():
    assert ProxyRules(None, None, NOWHERE).notes() == ()
    assert ProxyRules(HTTP, HTTP, NOWHERE).notes() == ("Requests go through http://a:1.", BLIND)
    assert ProxyRules(SOCKS, None, NOWHERE).notes() == (
        "https goes through socks5h://***@c:3.",
        "Plain http goes directly.",
        "Tor services are asked through socks5h://***@c:3.",
        BLIND,
    )
