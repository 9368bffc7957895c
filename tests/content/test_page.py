"""HTML pages as text: what is dropped, resolved and reported."""

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.page import MARK, ReadPage, mark_anchors, read_page
from searx_mcp.models.style import Style

URL = "https://ex.org/a/b.html"
LONG = "A sentence of the content, which is long enough to count as such. " * 6


def read(html: str, *, max_chars: int = 100_000, max_elements: int = 1_000) -> ReadPage:
    return read_page(html, url=URL, style=Style(), max_chars=max_chars, max_elements=max_elements)


def text_of(body: str) -> str:
    return read(f"<article><p>{LONG}</p>{body}</article>").written.markdown


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
        "<dialog open>GONE</dialog>",
        "<!-- GONE -->",
    ],
)
def test_what_a_reader_does_not_see_is_dropped(element: str):
    assert "GONE" not in text_of(f"{element}<p>kept {LONG}</p>")


@pytest.mark.parametrize(
    "heading",
    [
        "<h2><button>Is it free?</button></h2>",
        "<button type=button><h2>Is it free?</h2><i></i></button>",
        "<button><span>01/</span><div><h2>Is it free?</h2></div></button>",
    ],
)
def test_a_heading_that_is_a_button_stays(heading: str):
    assert "## Is it free?" in text_of(f"{heading}<p>Yes. {LONG}</p>")


def test_a_button_behind_the_words_of_a_heading_is_none_of_them():
    text = text_of(
        f"<h2>Struct <a href=#>Bin</a><button>Copy path</button></h2><p>{LONG}</p>"
        f"<h2>1. <button>Is it free?</button></h2><p>{LONG}</p>"
        f"<h2>What <button aria-expanded=true>does it cost?</button></h2><p>{LONG}</p>"
    )
    assert "## Struct Bin\n" in text
    assert "## 1. Is it free?" in text
    assert "## What does it cost?" in text


def test_words_of_buttons_in_cells_stay():
    table = (
        "<table><tr><th><button>Mode</button><th>For<tr><td><button>fast</button><td>all</table>"
    )
    assert "| Mode | For |\n| --- | --- |\n| fast | all |" in text_of(table)


def test_what_a_style_hides_in_code_and_notes_stays_hidden():
    body = (
        "<style>.h{display:none}</style><pre>ls<span class=h>; GONE</span></pre>"
        "<p>A note<sup><a href=#n1 id=r1>1</a></sup>.</p>"
        "<ol class=footnotes><li id=n1>kept <i class=h>GONE</i><a href=#r1>↩</a></li></ol>"
    )
    markdown = text_of(body)
    assert "```\nls\n```" in markdown
    assert "[^1]: kept" in markdown
    assert "GONE" not in markdown


def test_a_page_of_nothing_but_navigation_is_its_navigation():
    assert read("<nav><a href=x>y</a></nav>").written.markdown == "[y](https://ex.org/a/x)"


@pytest.mark.parametrize(
    ("base", "absolute"),
    [
        ("/d/", "https://ex.org/d/e"),
        ("https://b.org/", "https://b.org/e"),
        ("data:x", "https://ex.org/a/e"),
    ],
)
def test_links_follow_the_base_of_the_page(base: str, absolute: str):
    page = read(f'<base href="{base}"><p>{LONG}<a href="e">t</a>')
    assert f"[t]({absolute})" in page.written.markdown


@pytest.mark.parametrize(
    ("image", "shown"),
    [
        ('<img src="https://evil/x?q=1" alt="A\n pic">', "[image: A pic]"),
        ('<img src="x" alt="a [b](c)">', "[image: a (b)(c)]"),
        ('<img src="x" alt="">', None),
        ('<img src="x">', None),
    ],
)
def test_images_are_their_alternative_text(image: str, shown: str | None):
    markdown = text_of(f"<p>{image} {LONG}</p>")
    assert (shown or "") in markdown
    assert ("[image" in markdown) is bool(shown)


def test_raw_text_does_not_become_markup():
    markdown = text_of('<xmp><a href="javascript:x">y</a></xmp><plaintext><script>z')
    assert "](" not in markdown


def test_a_page_that_is_too_long_is_the_plain_text_of_its_beginning():
    page = read(f"<title>T</title><p>*a* <b>b</b></p><p>{LONG}</p>", max_chars=400)
    assert page.is_plain
    assert page.metadata.title == "T"
    assert page.written.markdown.startswith("\\*a\\*\n\nb\n\nA sentence of the content")
    assert len(page.written.markdown) < 400


def test_a_page_of_too_many_elements_is_plain_text():
    page = read("<p>" + "<b>*x*</b> " * 1_000)
    assert page.is_plain
    assert page.written.markdown.startswith("\\*x\\*\n\n\\*x\\*")
    assert not read("<p>" + "<b>x</b> " * 999).is_plain


@pytest.mark.parametrize(
    ("unit", "shown"),
    [
        ("word ", "word "),
        ("漢字", "漢字"),
        ("[a](b", "[a]\\(b"),
        ("*a\n", "\\*a "),
        ("a\n\n", "a\n\n"),
        ("1.  b\u200b ", "1. b "),
    ],
)
def test_plain_text_is_whole_however_long_it_is(unit: str, shown: str):
    count = 200_000 // len(unit)
    page = read(f"<p>{'x ' * 1_000}{unit * count}", max_chars=300_000, max_elements=0)
    assert page.is_plain
    assert page.written.markdown == ("x " * 1_000 + shown * count).strip()


@pytest.mark.parametrize("html", ["", "<frameset><frame></frameset>", "<!-- x -->"])
def test_a_page_of_nothing_is_empty(html: str):
    assert read(html).written.markdown == ""


def test_captured_pages_can_be_read(captured_pages: list[Path]):
    for path in captured_pages:
        assert read(path.read_text(errors="replace"), max_chars=2_000_000).written.markdown


def anchors(html: str) -> list[str]:
    tree = LexborHTMLParser(html)
    mark_anchors(tree)
    assert tree.body is not None
    return [node.attributes.get(MARK) or "" for node in tree.css(f"[{MARK}]")]


@pytest.mark.parametrize(
    ("html", "anchor"),
    [
        pytest.param("<h2 id=a>T</h2>", "a", id="on the heading"),
        pytest.param("<h2><span id=a>T</span></h2>", "a", id="on a child, as MediaWiki did"),
        pytest.param("<h2><a name=a></a>T</h2>", "a", id="a named link in it"),
        pytest.param("<a id=a></a><h2>T</h2>", "a", id="an empty link before"),
        pytest.param("<a name=a></a>\n<h2>T</h2>", "a", id="a named one"),
        pytest.param("<p><a id=a></a></p>\n<h2>T</h2>", "a", id="in a paragraph"),
        pytest.param("x<span id=a></span> <h2>T</h2>", "a", id="an empty span before"),
        pytest.param("<section id=a><h2>T</h2></section>", "a", id="a section around"),
        pytest.param("<div id=a>\n<header><h2>T</h2></header></div>", "a", id="farther around"),
        pytest.param(
            '<h2 id=user-content-a>T<a class=anchor href="#a"></a></h2>', "a", id="as on GitHub"
        ),
        pytest.param(
            '<section id=b><h2>T<a class=headerlink href="#%C3%A9">¶</a></h2></section>',
            "é",
            id="its own link",
        ),
        pytest.param('<h2 id=a><a href="#toc">T</a></h2>', "a", id="a link elsewhere"),
        pytest.param("<section id=a><p>x</p><h2>T</h2></section>", "", id="not the beginning"),
        pytest.param("<a id=a>text</a><h2>T</h2>", "", id="a link with text"),
        pytest.param("<p>x</p><h2>T</h2>", "", id="none"),
        pytest.param("<h2 id='a b'>T</h2>", "", id="no fragment"),
        pytest.param(f"<h2 id={'a' * 500}>T</h2>", "", id="too long"),
        pytest.param("<h2 data-anchor=a>T</h2>", "", id="not what the page puts in our place"),
    ],
)
def test_a_heading_is_found_by(html: str, anchor: str):
    assert anchors(html) == [anchor]


def test_only_the_first_heading_of_a_section_is_its_own():
    assert anchors("<section id=a><h2>T</h2><h3>U</h3><h3 id=c>V</h3></section>") == ["a", "", "c"]


def test_headings_keep_what_was_noted_when_their_links_are_gone():
    tree = LexborHTMLParser('<h1>A<a href="#x">#</a></h1><h2>B</h2>')
    mark_anchors(tree)
    for link in tree.css("a"):
        link.decompose()
    assert tree.body is not None
    assert [node.attributes.get(MARK) for node in tree.css(f"[{MARK}]")] == ["x", ""]


@pytest.mark.parametrize(
    ("unit", "headings"),
    [
        ("<h2>", 3_000),
        ("<div><h2>", 1),  # the parser puts what follows into the first
        ("<a id=x></a>", 0),
        ("<span><h1>x", 1),
        ("<section>", 0),
    ],
)
def test_many_elements_are_walked_through(unit: str, headings: int):
    assert len(anchors(unit * 3_000)) == headings


STREAMED = "<p>One.</p><template id={}></template><p>Three.</p><div hidden id={}><p>Two.</p></div>"
CALL = "<script>$RC('B:0','S:0')</script>"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        pytest.param(STREAMED.format("B:0", "S:0") + CALL, "One. Two. Three.", id="boundary"),
        pytest.param(STREAMED.format("P:0", "S:0") + CALL, "One. Two. Three.", id="placeholder"),
        pytest.param(STREAMED.format("x", "S:2") + CALL, "One. Three. Two.", id="no place"),
        pytest.param(
            f"<p>One.</p><div hidden id=S:3><p>Two.</p><template id=B:3></template></div>{CALL}",
            "One. Two.",
            id="place inside",
        ),
        pytest.param(STREAMED.format("x", "x") + CALL, "One. Three.", id="hidden"),
        pytest.param(STREAMED.format("B:0", "S:0"), "One. Two. Three.", id="call in a file"),
        pytest.param(STREAMED.format("B:0", "S:1"), "One. Three.", id="no call"),
        pytest.param("<frameset></frameset>", "", id="no body"),
    ],
)
def test_parts_that_scripts_would_show_stand_where_they_belong(body: str, shown: str):
    assert " ".join(read(body).written.markdown.split()) == shown


SENTENCES = "<p>A sentence that a reader can read without any script at all.</p>" * 12


@pytest.mark.parametrize(
    ("body", "is_open"),
    [
        pytest.param(
            f"<noscript>Held. {SENTENCES}</noscript><script>{'x();' * 500}</script>",
            True,
            id="Discourse",
        ),
        pytest.param(
            f"<noscript>Held. {SENTENCES}</noscript>{SENTENCES * 2}",
            False,
            id="page has its own text",
        ),
        pytest.param(
            "<p>Tides.</p><noscript>Held. Enable JavaScript.</noscript>",
            False,
            id="asks for scripts",
        ),
    ],
)
def test_noscript_that_is_the_page_is_opened(body: str, *, is_open: bool):
    assert ("Held." in read(f"<body>{body}").written.markdown) is is_open


PROSE = "<p>" + "A sentence that a reader can read without any script at all. " * 5
SCRIPT = f"<script>{'draw();' * 400}</script>"


SKELETONS = {
    "Vite": ("<div id=root></div><script type=module src=/m.js></script>", True),
    "Vue": ("<div id=app><!-- --></div><script src=/m.js></script>", True),
    "loading": ("<div id=__next>Loading…</div><script src=/m.js></script>", True),
    "Angular": ("<app-root></app-root><script src=/m.js></script>", True),
    "asks in the head": (
        "<noscript>Enable JavaScript.</noscript><script src=/m.js></script>",
        True,
    ),
    "asks for scripts": (
        (
            "<body><noscript>You need to enable JavaScript to run this app.</noscript><div></div>"
            "<script src=/m.js></script>"
        ),
        True,
    ),
    "module": ("<my-page></my-page><script type=module src=/m.js></script>", True),
    "large script": (f"<h1>Shop</h1>{SCRIPT}", True),
    "drawn by the server": (f"<div id=root>{PROSE}</div>{SCRIPT}", False),
    "long enough": (f"<noscript>No JavaScript?</noscript>{PROSE}{SCRIPT}", False),
    "some text": (f"<p>{'Hello, reader. ' * 6}</p>{SCRIPT}", False),
    "counts visits": ("<p>Hello.</p><script src=/count.js></script>", False),
    "short": ("<p>Hello.</p>", False),
    "no scripts at all": ("<div id=root></div>", False),
    "data": ("<h1>x</h1><script type='application/ld+json'>" + "[]" * 5_000 + "</script>", False),
    "empty": ("", False),
}


@pytest.mark.parametrize(("body", "expected"), SKELETONS.values(), ids=SKELETONS)
def test_a_skeleton_is_told_from_a_short_page(body: str, *, expected: bool):
    assert (
        read_page(body, url="https://ex.org/", style=Style(), max_chars=100_000).is_skeleton
        is expected
    )
