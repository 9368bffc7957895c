"""Domains in all spellings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.urls.domains import is_within, normalise_domain


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
