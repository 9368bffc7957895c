"""Kinds of host names, without a lookup, and domains in all spellings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.urls.hosts import (
    host_in,
    is_host_name,
    is_inner_name,
    is_public_name,
    is_short_enough,
    is_within,
    normalise_domain,
    without_userinfo,
)


@pytest.mark.parametrize(
    "host",
    [
        "127.1",
        "127.0.0.1",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "2130706433",
        "8.8.8.8",
        "a.example.0x",
        "localhost",
        "LOCALHOST.",
        "searx",
        "x.localhost",
        "searx.internal",
        "Searx.Internal.",
        "printer.local",
        "router.home.arpa",
        "nas.lan",
        "wiki.corp",
        "a.b.svc.cluster.local",
        "a.b.svc",
        "a.test",
    ],
)
def test_a_name_of_a_private_network_is_not_public(host):
    assert is_inner_name(host)
    assert not is_public_name(host)


@pytest.mark.parametrize("host", ["a.example", "a.invalid", "a.alt", "a.onion", "a.i2p."])
def test_a_name_that_the_web_does_not_have_is_not_public(host):
    assert not is_inner_name(host)
    assert not is_public_name(host)


@pytest.mark.parametrize(
    "host", ["example.org", "EXAMPLE.org.", "local.org", "xinternal.org", "1.example.org", "x.0y"]
)
def test_other_names_may_be_public(host):
    assert is_public_name(host)


@pytest.mark.parametrize(
    ("host", "is_name"),
    [
        ("a_b.example.org", True),
        ("_dmarc.example.org", True),
        ("xn--bcher-kva.example", True),
        ("a" * 63 + ".org", True),
        ("a" * 64 + ".org", False),
        ("a." * 126 + "b", True),
        ("a." * 127 + "b", False),
        ("", False),
        (".", False),
        ("a..b", False),
        ("a.b..", False),
        ("-a.org", False),
        ("a-.org", False),
        ("bücher.example", False),
        ("[::1]", False),
        ("::1", False),
        ("a b.org", False),
        ("a.org\n", False),
    ],
)
def test_a_host_name_has_the_shape_of_one(host, is_name):
    assert is_host_name(host) is is_name


@pytest.mark.parametrize(
    ("host", "is_short"),
    [
        ("", True),
        ("a" * 253, True),
        ("a" * 254, False),
        ("é" * 253, True),
        ("é" * 254, False),
        ("\ufdfa" * 14, True),  # NFKC makes 18 characters of each
        ("\ufdfa" * 15, False),
        ("e\u0301" * 200, False),
    ],
)
def test_a_host_is_short_enough_in_any_alphabet(host, is_short):
    assert is_short_enough(host) is is_short


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://u:p@example.org:80/a@b", "example.org:80"),
        ("//example.org?q", "example.org"),
        ("https://[::1]#x", "[::1]"),
        ("/a//b", "b"),
        ("a", ""),
        ("", ""),
    ],
)
def test_the_host_of_an_address_as_it_is_written(address, host):
    assert host_in(address) == host


@pytest.mark.parametrize(
    ("address", "left"),
    [
        ("https://example.org/a@b?c@d#e@f", "https://example.org/a@b?c@d#e@f"),
        ("https://u:p@example.org:8443/", "https://example.org:8443/"),
        ("HTTPS://u@example.org", "HTTPS://example.org"),
        ("//u:p@example.org/", "//example.org/"),
        ("https://a@b@example.org/", "https://example.org/"),
        ("https://@example.org/", "https://example.org/"),
        ("https://good.org\\@example.org/", "https://example.org/"),
        ("ftp://u:p@[2001:db8::1]/", "ftp://[2001:db8::1]/"),
        ("mailto:a@example.org", "mailto:a@example.org"),
        ("a@example.org", "a@example.org"),
        ("", ""),
    ],
)
def test_an_address_is_left_without_what_stands_before_its_host(address, left):
    assert without_userinfo(address) == left


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("example.org", "example.org"),
        ("Example.ORG.", "example.org"),
        ("  example.org\n", "example.org"),
        ("*.example.org", "example.org"),
        (".example.org", "example.org"),
        ("https://www.example.org/path", "www.example.org"),
        ("HTTP://Example.org:8080/?q=1#f", "example.org"),
        ("https://user:secret@example.org/", "example.org"),
        ("example.org/path", "example.org"),
        ("example.org:8443", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
        ("*.Bücher.example.", "xn--bcher-kva.example"),
        ("faß.example", "xn--fa-hia.example"),
        ("\uff45xample\u3002\uff4frg", "example.org"),
        ("my_host.example.org", "my_host.example.org"),
        ("localhost", "localhost"),
        ("x.y", "x.y"),
        ("zip", "zip"),
        (f"{'a' * 63}.{'b' * 63}", f"{'a' * 63}.{'b' * 63}"),
        (".".join(["abcdefg"] * 31 + ["abcde"]), ".".join(["abcdefg"] * 31 + ["abcde"])),
        ("192.0.2.7", "192.0.2.7"),
        ("http://192.0.2.7:8080/", "192.0.2.7"),
        ("2001:DB8:0::1", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("https://[2001:db8::1]/", "2001:db8::1"),
    ],
)
def test_a_domain_has_one_spelling(text: str, expected: str):
    assert normalise_domain(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "*",
        "*.",
        ".",
        "..",
        "a..b",
        "https://",
        "http:///path",
        "not a domain",
        "exam*ple.org",
        "a.*.org",
        "-a.org",
        "a-.org",
        "a%41.org",
        "example.org:http",
        "[::1",
        "[]@",  # an IndexError of yarl
        "1",
        "0.0.1",
        "127.1",
        "0x7f.1",
        "example.0x7f",
        "300.300.300.300",
        "ex\u200dample.org",
        "\ud800.org",
        "a\x00.org",
        f"{'a' * 64}.org",
        f"example.{'a' * 64}",
        f"_{'a' * 63}.org",
        f"{'a' * 50}.{'b' * 50}.{'c' * 50}.{'d' * 50}.{'e' * 50}",  # 254 characters
        f"_.{'a' * 50}.{'b' * 50}.{'c' * 50}.{'d' * 50}.{'e' * 48}",
        ".".join(["abcdefgh"] * 30),
    ],
)
def test_rubbish_is_refused_with_a_sentence(text: str):
    with pytest.raises(ValueError, match=r" is not a domain such as example\.org$"):
        normalise_domain(text)


@pytest.mark.parametrize(
    ("host", "domain", "expected"),
    [
        ("example.org", "example.org", True),
        ("a.b.example.org", "example.org", True),
        ("EXAMPLE.org.", "example.org", True),
        ("example.org", "*.Example.org.", True),
        ("xn--bcher-kva.example", "bücher.example", True),
        ("www.bücher.example", "xn--bcher-kva.example", True),
        ("example.org", "org", True),
        ("192.0.2.7", "192.0.2.7", True),
        ("notexample.org", "example.org", False),
        ("example.org.evil.example", "example.org", False),
        ("example.org", "www.example.org", False),
        ("192.0.2.7", "2.7.example", False),
        ("192.0.2.7", "192.0.2.70", False),
        ("", "example.org", False),
        ("no host", "example.org", False),
    ],
)
def test_a_host_matches_its_domain_and_the_parents(host: str, domain: str, *, expected: bool):
    assert is_within(host, {"other.example", normalise_domain(domain)}) is expected


def test_no_domain_matches_nothing():
    assert not is_within("example.org", frozenset())


@given(st.text(max_size=300) | st.from_regex(r"[A-Za-z0-9_.*:\[\]@/-]{1,40}", fullmatch=True))
def test_any_text_gives_a_stable_domain_or_a_value_error(text: str):
    try:
        domain = normalise_domain(text)
    except ValueError:
        return
    assert domain.isascii()
    assert normalise_domain(domain) == domain
    assert is_within(domain, {domain})
