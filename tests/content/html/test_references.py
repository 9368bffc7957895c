"""Links and images of the main content."""

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.references import images_of, resolve_links
from searx_mcp.models.page import PageImage

BASE = "https://ex.org/a/b.html"


def body(html: str) -> LexborNode:
    found = LexborHTMLParser(html).body
    assert found is not None
    return found


def images(html: str) -> list[str]:
    return [image.url for image in images_of(body(html), BASE)]


@pytest.mark.parametrize(
    ("html", "url"),
    [
        pytest.param("<img src=i.png>", "https://ex.org/a/i.png", id="relative"),
        pytest.param("<img src=//cdn.org/i.png>", "https://cdn.org/i.png", id="without a scheme"),
        pytest.param(
            "<img src=data:image/gif;base64,x data-src=/i.png>", "https://ex.org/i.png", id="lazy"
        ),
        pytest.param(
            "<img src=/blank.gif data-original=/i.png>", "https://ex.org/i.png", id="placeholder"
        ),
        pytest.param(
            "<img src=data:x data-srcset='/s.png 300w, /l.png 900w, /m.png 600w'>",
            "https://ex.org/l.png",
            id="lazy set",
        ),
        pytest.param("<img srcset='/a,b.png 1x, /c.png 2.5x'>", "https://ex.org/c.png", id="set"),
        pytest.param("<img srcset='/one.png'>", "https://ex.org/one.png", id="set of one"),
        pytest.param(
            "<picture><source srcset='/w.webp 2x'><img alt=x></picture>",
            "https://ex.org/w.webp",
            id="picture",
        ),
        pytest.param("<img src='javascript:x' srcset='data:x 9x,/i.png 1x'>", "", id="no address"),
        pytest.param("<img src=data:image/png;base64,AAAA>", "", id="data"),
        pytest.param("<img src=file:///etc/passwd>", "", id="file"),
        pytest.param("<img src=blob:https://ex.org/1>", "", id="blob"),
        pytest.param("<img src=mailto:a@b.org>", "", id="no web address"),
        pytest.param("<img src=/t.gif width=1>", "", id="counts visitors"),
        pytest.param("<img src=/t.gif height=0px>", "", id="of no height"),
        pytest.param("<img src='http://['>", "", id="malformed"),
        pytest.param(f"<img src=/{'x' * 3_000}>", "", id="too long"),
        pytest.param("<img>", "", id="nothing"),
    ],
)
def test_an_image_is_where_a_reader_would_get_it(html: str, url: str):
    assert images(html) == ([url] if url else [])


def test_images_are_listed_once_in_order_and_with_clean_words():
    html = (
        "<img src=a><img src=b alt=' B\u200b\n b '><img src=a alt=A><img src=c alt="
        + "x" * 500
        + ">"
    )
    found = images_of(body(html), BASE)
    assert found[:2] == (
        PageImage(url="https://ex.org/a/a", alt="A"),
        PageImage(url="https://ex.org/a/b", alt="B b"),
    )
    assert len(found[2].alt) == 300


def test_there_is_an_end_to_images():
    assert len(images("".join(f"<img src=i{number}>" for number in range(200)))) == 50


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


def test_links_are_listed_once_in_order_and_without_those_of_the_page_itself():
    root = body(
        "<a href=c>1</a><a href='#x'>2</a><a href='/d?q#f'>3</a><a href=c>4</a><a href=mailto:a@b.c>5</a>"
        "<a href='javascript:x'>6</a><a>7</a><a href='b.html#y'>8</a>"
    )
    assert resolve_links(root, BASE) == ("https://ex.org/a/c", "https://ex.org/d?q#f")
    assert "javascript" not in (root.html or "")


def test_there_is_an_end_to_links():
    root = body("".join(f"<a href={number}>x</a>" for number in range(1_500)))
    assert len(resolve_links(root, BASE)) == 1_000
