"""Addresses of links, and addresses in plain text."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.addresses import (
    MAX_LINKS,
    absolute,
    absolute_web,
    addresses_in,
    image_address,
    listed,
)

BASE = "https://ex.org/a/b.html"


UNSAFE = [
    "javascript:alert(1)", " JaVa\nscript:alert(1)", "\x01javascript:alert(1)", "vbscript:x",
    "data:text/html,x", "blob:https://ex.org/x", "file:///etc/passwd", "about:blank",
    "intent://x#Intent;end", "http://[", "http:///x", "/" + "x" * 3_000, "https://" + "\ufdfa" * 500,
    "//" + "é" * 254, "x" * 1_990,
]  # fmt: skip


@pytest.mark.parametrize(
    ("href", "address"),
    [
        ("c", "https://ex.org/a/c"),
        ("../c?q=1#z", "https://ex.org/c?q=1#z"),
        (" c\n/d ", "https://ex.org/a/c/d"),
        ("#part", "https://ex.org/a/b.html#part"),
        ("//cdn.org/x", "https://cdn.org/x"),
        ("", "https://ex.org/a/b.html"),
        ("MAILTO:a@b.org", "MAILTO:a@b.org"),
        ("tel:+123", "tel:+123"),
        ("ftp://f.org/x", "ftp://f.org/x"),
        ("https://u:p@host.org:8080/x@y?z@#@", "https://host.org:8080/x@y?z@#@"),
        ("https://good.org@evil.org/", "https://evil.org/"),
        ("//u@host.org", "https://host.org"),
        ("https://u:p@q@host.org", "https://host.org"),
        ("https://:@[2001:db8::1]/", "https://[2001:db8::1]/"),
        ("ftp://anonymous:me%40x@f.org/", "ftp://f.org/"),
        ("/~u@host", "https://ex.org/~u@host"),
        *((href, "") for href in UNSAFE),
    ],
)
def test_a_link_leads_somewhere_safe_or_nowhere(href: str, address: str):
    assert absolute(BASE, href) == address


def test_only_the_web_can_be_fetched():
    assert absolute_web(BASE, "mailto:a@b.org") == ""
    assert absolute_web(BASE, "/x") == "https://ex.org/x"


def test_addresses_are_listed_once_and_not_without_end():
    assert listed(["b", "", "a", "b"]) == ("b", "a")
    assert listed(map(str, range(2 * MAX_LINKS))) == tuple(map(str, range(MAX_LINKS)))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("See https://a.org/x, or http://b.org/(y).", ("https://a.org/x", "http://b.org/")),
        ('{"url": "https://a.org/x?y=1&z=2"}', ("https://a.org/x?y=1&z=2",)),
        ("[t](https://a.org/x)", ("https://a.org/x",)),
        ("https://u:p@a.org/x", ("https://a.org/x",)),
        ("ftp://a.org javascript:x", ()),
        ("http:// https://", ()),
    ],
)
def test_text_spells_addresses_out(text: str, found: tuple[str, ...]):
    assert addresses_in(text, base=BASE) == found


@pytest.mark.parametrize(
    ("markdown", "found"),
    [
        ("[t](c.md) <https://b.org> x", ("https://ex.org/a/c.md", "https://b.org")),
        ("https://b.org [t](https://a.org 'T')", ("https://b.org", "https://a.org")),
        ("[t][r]\n\n[r]: /d", ("https://ex.org/d",)),
        ("[t](https://u:p@a.org/x)", ("https://a.org/x",)),
        ("[t](javascript:x) [u](data:x)", ()),
        ("[t](<c d>)", ("https://ex.org/a/c",)),
    ],
)
def test_markdown_has_targets_too(markdown: str, found: tuple[str, ...]):
    assert addresses_in(markdown, base=BASE, is_markdown=True) == found


@pytest.mark.parametrize("unit", ["[a](", "](", "[a]: ", "http://", "https://a.b/ ", "[", "](x) "])
def test_addresses_of_a_long_text_are_read_to_their_end(unit: str):
    assert len(addresses_in(unit * 50_000, base=BASE, is_markdown=True)) <= 1_000


def images(html: str) -> list[str]:
    found = LexborHTMLParser(html).css("img")
    addresses = [image_address(image, image.attributes, BASE) for image in found]
    return [address for address in addresses if address]


IMAGES = {
    "relative": ("<img src=i.png>", "https://ex.org/a/i.png"),
    "without a scheme": ("<img src=//cdn.org/i.png>", "https://cdn.org/i.png"),
    "lazy": ("<img src=data:image/gif;base64,x data-src=/i.png>", "https://ex.org/i.png"),
    "placeholder": ("<img src=/blank.gif data-original=/i.png>", "https://ex.org/i.png"),
    "lazy set": (
        "<img src=data:x data-srcset='/s.png 300w, /l.png 900w, /m.png 600w'>",
        "https://ex.org/l.png",
    ),
    "set": ("<img srcset='/a,b.png 1x, /c.png 2.5x'>", "https://ex.org/c.png"),
    "set of one": ("<img srcset='/one.png'>", "https://ex.org/one.png"),
    "picture": (
        "<picture><source srcset='/w.webp 2x'><img alt=x></picture>",
        "https://ex.org/w.webp",
    ),
    "no address": ("<img src='javascript:x' srcset='data:x 9x,/i.png 1x'>", ""),
    "data": ("<img src=data:image/png;base64,AAAA>", ""),
    "file": ("<img src=file:///etc/passwd>", ""),
    "blob": ("<img src=blob:https://ex.org/1>", ""),
    "no web address": ("<img src=mailto:a@b.org>", ""),
    "counts visitors": ("<img src=/t.gif width=1>", ""),
    "of no height": ("<img src=/t.gif height=0px>", ""),
    "malformed": ("<img src='http://['>", ""),
    "too long": (f"<img src=/{'x' * 3_000}>", ""),
    "nothing": ("<img>", ""),
}


@pytest.mark.parametrize(("html", "url"), IMAGES.values(), ids=IMAGES)
def test_an_image_is_where_a_reader_would_get_it(html: str, url: str):
    assert images(html) == ([url] if url else [])


@pytest.mark.parametrize(
    ("srcset", "found"),
    [
        (",", []),
        (" ", []),
        ("," * 20_000, []),
        (" 1w" * 5_000, ["https://ex.org/a/1w"]),
        ("a " * 5_000, ["https://ex.org/a/a"]),
        ("a 1w,," * 3_000, ["https://ex.org/a/a"]),
    ],
)
def test_hostile_sets_of_images_are_read_to_their_end(srcset: str, found: list[str]):
    assert images(f"<img srcset='{srcset}'>") == found
