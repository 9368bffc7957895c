"""What is dropped, which element is taken, where links lead."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.html.extract import main_content

URL = "https://ex.org/a/b.html"
LONG = "A sentence of the content that is long enough to count. " * 6


def html_of(body: str) -> str:
    return main_content(body, url=URL).html


@pytest.mark.parametrize(
    "element",
    [
        "<script>GONE</script>",
        "<style>GONE</style>",
        "<noscript>GONE</noscript>",
        "<template>GONE</template>",
        "<iframe>GONE</iframe>",
        "<svg><text>GONE</text></svg>",
        "<form><button>GONE</button><select><option>GONE</select><textarea>GONE</textarea></form>",
        "<nav>GONE<nav>GONE</nav></nav>",
        "<footer>GONE</footer>",
        "<aside>GONE</aside>",
        "<header>GONE</header>",
        '<div role="navigation">GONE</div>',
        "<p hidden>GONE</p>",
        '<p aria-hidden="TRUE">GONE</p>',
        '<p style="color:red; Display : none !important">GONE</p>',
        '<p style="visibility:hidden">GONE</p>',
        '<p style="opacity:0.0;">GONE</p>',
        '<p style="font-size:0px">GONE</p>',
        '<p style="dis/**/play:none">GONE</p>',
        "<!-- GONE -->",
        "<nav><p hidden>GONE</p></nav>",
    ],
)
def test_what_a_reader_does_not_read_is_dropped(element: str):
    extracted = main_content(f"<body><p>kept</p>{element}<p>too</p>", url=URL)
    assert "GONE" not in extracted.html + extracted.text
    assert extracted.text == "kept\ntoo"


@pytest.mark.parametrize(
    "style",
    ["opacity:0.5", "font-size:0.9em", "display:block", "x-display:none-at-all", "opacity:05"],
)
def test_what_is_seen_stays(style: str):
    assert main_content(f'<p style="{style}">kept</p>', url=URL).text == "kept"


def test_the_header_of_an_article_stays():
    assert "kept" in html_of("<article><header>kept</header><p>x</article>")


@pytest.mark.parametrize(
    "element",
    [
        f"<main>{LONG}</main>",
        f"<article>{LONG}</article><article>{LONG[:250]}</article>",
        f'<div role="main">{LONG}</div>',
        f'<div id="content">{LONG}</div>',
        f'<div class="x entry-content">{LONG}</div>',
    ],
)
def test_the_largest_marked_element_is_taken(element: str):
    extracted = main_content(f"<div>AROUND</div>{element}", url=URL)
    assert extracted.text == LONG.strip()


def test_a_marked_element_that_is_only_a_shell_is_not_taken():
    assert "elsewhere" in html_of("<main>short</main><div>elsewhere</div>")


def test_a_page_of_nothing_but_navigation_is_its_navigation():
    assert main_content("<nav><a href=x>y</a></nav>", url=URL).text == "y"


@pytest.mark.parametrize(
    ("href", "absolute"),
    [
        ("../c?q=1#z", "https://ex.org/c?q=1#z"),
        (" c\n/d ", "https://ex.org/a/c/d"),
        ("//cdn.org/x", "https://cdn.org/x"),
        ("#part", "https://ex.org/a/b.html#part"),
        ("mailto:a@b.org", "mailto:a@b.org"),
        ("javascript:alert(1)", None),
        (" JaVa\nscript:alert(1)", None),
        ("\x01javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("vbscript:x", None),
        ("file:///etc/passwd", None),
        ("http://[", None),
        ("/" + "x" * 3_000, None),
    ],
)
def test_links_are_absolute_or_become_their_text(href: str, absolute: str | None):
    expected = f'<a href="{absolute}">t</a>' if absolute else "<a>t</a>"
    assert expected in html_of(f'<p><a href="{href}">t</a></p>')


@pytest.mark.parametrize(
    ("base", "absolute"),
    [
        ("/d/", "https://ex.org/d/e"),
        ("https://b.org/", "https://b.org/e"),
        ("data:x", "https://ex.org/a/e"),
    ],
)
def test_links_follow_the_base_of_the_page(base: str, absolute: str):
    assert f'href="{absolute}"' in html_of(f'<base href="{base}"><a href="e">t</a>')


@pytest.mark.parametrize(
    ("image", "shown"),
    [
        ('<img src="https://evil/x?q=1" alt="A\n pic">', "[image: A pic]"),
        ('<img src="x" alt="a [b](c)">', "[image: a (b)(c)]"),
        ('<img src="x" alt="">', ""),
        ('<img src="x">', ""),
    ],
)
def test_images_are_their_alternative_text(image: str, shown: str):
    assert html_of(f"<p>{image}</p>") == f"<body><p>{shown}</p></body>"


def test_raw_text_does_not_become_markup():
    html = html_of('<xmp><a href="javascript:x">y</a></xmp><plaintext><script>z')
    assert "<a" not in html
    assert "<script" not in html


def test_plain_text_has_a_line_for_each_block_and_no_break_inside_words():
    assert main_content("<div>a<p>b<b>c</b> d<br>e</p>f</div>", url=URL).text == "a\nbc d\ne\nf"


@pytest.mark.parametrize("html", ["", "<frameset><frame></frameset>", "<!-- x -->", "<"])
def test_a_page_of_nothing_is_empty(html: str):
    assert main_content(html, url="no url").text in {"", "<"}


@given(st.text(alphabet="<>/!-=\"' abdivpscript:#&;\0\ud800\n", max_size=200))
def test_anything_can_be_read(html: str):
    extracted = main_content(html, url=URL)
    assert "<script" not in extracted.html


def test_captured_pages_can_be_read(captured_pages: list[Path]):
    for path in captured_pages:
        assert main_content(path.read_text(errors="replace"), url=URL).html
