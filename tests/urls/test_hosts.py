"""Names of hosts, told apart without looking them up."""

import pytest

from searx_mcp.urls.hosts import (
    host_in,
    is_host_name,
    is_inner_name,
    is_public_name,
    is_short_enough,
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
