"""Whatever a page holds, its Markdown does nothing by itself, and what was noted of it is there.

What acts is found by a parser of Markdown (CommonMark with tables and strikethrough), told to take
any address for a link.
"""

from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.addresses import absolute
from searx_mcp.content.clean import clean_counted
from searx_mcp.content.writing.style import Links, Style, Written
from searx_mcp.content.writing.targets import Targets, target
from searx_mcp.content.writing.write import write
from searx_mcp.models.page import Images

BASE = "https://site.example/folder/page.html"
SCHEMES = {"http", "https", "mailto", "tel", "ftp"}
EVIL = [
    "javascript:alert(1)", "JaVaScRiPt:x", "java\tscript:x", "java&#10;script:x", "&#106;avascript:x",
    "&amp;#106;avascript:x", " javascript:x", "\x01javascript:x", "jav\u200bascript:x", "data:text/html,x",
    "vbscript:x", "file:///etc/passwd", "blob:https://a.example/x", "javascript\\:x", "//evil.example/x.png",
    "https://evil.example/i.png?q=1", "https://evil.example/)(", "https://evil.example/<x>", "about:blank",
    "https://[", "#javascript:x", "x:y", "", "a b", "https://evil.example/`x", "a&lt;b", "https://a.example/a\u3000b",
    "../c", "/d.e/f", "https://site.example/folder/page.html#x", "mailto:a@b.example", "1",
]  # fmt: skip
TARGETS = st.sampled_from(EVIL)
VALUES = TARGETS | st.sampled_from(
    ["language-x", "a](javascript:x)", "![", "`", "<b>", "2", "1000", "99999999999", "-1", "center", "block",
     "presentation", "warning", "[x]: y", "note", "\n\n", "a\u200bb", "text-align: right"]
)  # fmt: skip
ATTRIBUTES = st.builds(
    ' {}="{}"'.format,
    st.sampled_from(
        ["href", "src", "srcset", "data-src", "class", "title", "alt", "name", "kind", "display", "start",
         "value", "colspan", "rowspan", "align", "style", "done", "data-anchor", "width", "role", "reversed"]
    ),
    VALUES,
)  # fmt: skip
NAMES = st.sampled_from(
    ["a", "img", "p", "div", "article", "h1", "h2", "h6", "ul", "li", "ol", "pre", "code", "table", "tr", "td",
     "th", "tbody", "caption", "blockquote", "b", "i", "em", "br", "hr", "del", "picture", "source", "figure",
     "figcaption", "details", "summary", "dl", "dt", "dd", "sup", "sub", "q", "kbd", "ruby", "rt", "rp", "span",
     "x-math", "x-callout", "x-reference", "x-notes", "x-note", "x-task", "script", "xmp", "listing", "math",
     "svg", "template", "section", "mark"]
)  # fmt: skip
TAGS = st.one_of(
    st.builds("<{}{}>".format, NAMES, ATTRIBUTES | st.just("")),
    st.builds("<{}{}{}>".format, NAMES, ATTRIBUTES, ATTRIBUTES),
    st.builds("</{}>".format, NAMES),
    st.builds('<a href="{}">'.format, TARGETS),
    st.builds(
        "<{0}>{1}</{0}>".format, NAMES, st.sampled_from(["a", " b ", "(", "]", "!", "1", "*"])
    ),
)
MARKUP = st.one_of(
    st.builds("![a]({})".format, TARGETS),
    st.builds("[a]({})".format, TARGETS),
    st.builds("[a]: {}\n".format, TARGETS),
    st.builds("&lt;{}&gt;".format, TARGETS),
    st.sampled_from(
        ["!", "[", "]", "](", ")", "(", "![", "!\u200b[", "![a][b]", "[b]: ", "[1]", "[^1]", "`", "``", "```", "~~~\n",
         "~", "~~", "    ", "\n", "\n\n", " ", "\\", "\\!", "|", "| a |\n|---|\n", "|---|", "> ", "&gt;", "- ", "-", "+ ",
         "1. ", "1)", "# ", "#", "\n===\n", "=", "---", "*", "**", "_", "__", "<!--", "-->", "&lt;", "&amp;lt;", "&lt;b&gt;",
         "&amp;", "$", "$$", "$a_1$", "\\(x\\)", "\\[", "\\]", "x", "y z", "é", "\u0301", "漢字", "\uff0c", "“", "😀", "a\nb",
         "\u200d", "\ufe0f", "\u00a0", "\u3000", "\ud800", "\x00", "\x1b[31m", "\u202e", "\u00ad", ":", "[x] ", "€", "%", "\t"]
    ),
)  # fmt: skip
SOUP = st.lists(TAGS | MARKUP, max_size=30).map("".join)
STYLES = st.builds(
    Style,
    images=st.sampled_from(Images),
    links=st.sampled_from(Links),
    max_heading_level=st.integers(1, 6),
    keep_code_blocks=st.booleans(),
)

fuzz = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
reader.validateLink = lambda _: True  # type: ignore[assignment] # - to see what others would let through


def written(html: str, style: Style = Style()) -> Written:  # noqa: B008 - it is frozen
    body = LexborHTMLParser(html).body
    return write([body] if body is not None else [], base=BASE, style=style)


def tokens(markdown: str) -> list[Token]:
    found: list[Token] = []
    for token in reader.parse(markdown):
        found.append(token)
        found += token.children or ()
    return found


def acts(markdown: str, style: Style) -> list[str]:
    """What a host would do or offer by itself: images, tags, links of other schemes than safe ones."""
    found = []
    for token in tokens(markdown):
        if token.type in {"html_inline", "html_block"}:
            found.append(f"{token.type}: {token.content}")
        if token.type in {"image", "link_open"}:
            address = str(token.attrs["href" if token.type == "link_open" else "src"])
            allowed = SCHEMES if token.type == "link_open" else {"http", "https"}
            if urlsplit(address.replace("[", "%5B")).scheme not in allowed:
                found.append(f"{token.type}: {address}")
            if token.type == "image" and style.images is not Images.INLINE:
                found.append(f"image: {address}")
    return found


def check(html: str, style: Style) -> None:
    page = written(html, style)
    markdown = page.markdown
    assert acts(markdown, style) == []
    assert clean_counted(markdown) == (markdown, 0)
    assert markdown == markdown.strip("\n")
    assert "\n\n\n" not in "`".join(_between(page))
    for heading in page.outline:
        assert markdown.startswith("#" * heading.level + " ", heading.offset)
        assert heading.level <= style.max_heading_level
    for block in page.code_blocks:
        code = markdown[block.offset : block.offset + block.length]
        assert code.startswith(f"```{block.language}")
        assert code.endswith("```")
    lines = [heading.title for heading in page.outline] + [
        heading.anchor for heading in page.outline
    ]
    for link in page.links:
        assert urlsplit(link.url).scheme in {"http", "https"}
        lines += [link.url, link.text, link.context]
        assert max(len(link.text), len(link.context)) <= 200
    for image in page.images:
        assert urlsplit(image.url).scheme in {"http", "https"}
        lines += [image.url, image.alt, image.caption]
    for line in lines:
        assert clean_counted(line) == (line, 0)
        assert "\n" not in line


def _between(page: Written) -> list[str]:
    """The Markdown without its blocks of code."""
    parts, end = [], 0
    for block in page.code_blocks:
        parts.append(page.markdown[end : block.offset])
        end = block.offset + block.length
    return [*parts, page.markdown[end:]]


@fuzz
@given(SOUP, STYLES)
@example("<x-note>javascript:x", Style())
@example("<x-reference name=a></x-reference>(b)<x-note name=a>c", Style())
@example('<x-math>![a](u)</x-math>!<a href="/">b</a>', Style())
def test_no_page_has_images_tags_or_unsafe_links(html: str, style: Style):
    check(html, style)


WORDS = st.sampled_from(["a", "b c", " d", "e ", "x.", "“y”", *" ().1é漢€_*!]["])
OPENED = st.sampled_from(
    ["", "<b>", "<i>", "<del>", "<a href=/x>", "<code>", "<b><i>", "</b>", "</i>", "</a>", "<br>"]
)
CLOSED = st.sampled_from(["", "</b>", "</i>", "</del>", "</a>", "</code>", "</i></b>"])
PARTS = st.lists(st.builds("{}{}{}".format, OPENED, WORDS, CLOSED), max_size=10).map("".join)


@fuzz
@given(PARTS)
@example("a~~<b>b</b>~~c")
@example("<b><i>a</i>a<i>a")
@example("<b><i>a</b>a<a href=/x>a</a><b>(")
@example("<b><i>a</b><del>(<b>(")
@example("<b>e (</b>a")
@example("<b>a<a href=/x>a</a></b>a")
@example("<i>a<b>a<code>a</b>a")
def test_no_mark_is_left_that_does_nothing(html: str):
    """Of the text, nothing but what the page says is shown, whatever the formatting."""
    shown = "".join(
        token.content
        if token.type in {"text", "text_special", "code_inline"}
        else "\n" * (token.type == "hardbreak")
        for token in tokens(written(f"<p>{html}").markdown)
    )
    page = LexborHTMLParser(f"<p>{html}".replace("<br>", " ")).body
    assert page is not None
    assert "".join(shown.split()) == "".join(page.text().split())


URLS = st.lists(
    st.sampled_from(["https://", "http://", "//", "/", "a", "b.c", ".", "..", "?", "#", "x=1", "&", "%41", ":80", ":", "@", "~", "-", " ", "(", ";", "é", "A", "+", "*", "'", '"', "[", "\\", "|", "`"]),
    max_size=8,
).map("".join)  # fmt: skip


@fuzz
@given(
    URLS | TARGETS,
    st.sampled_from([BASE, "http://h.example", "https://h.example:8/x?y#z", "x", "https://[::1]/"]),
)
def test_an_address_is_the_one_that_is_always_made_of_it(href: str, base: str):
    assert Targets(base, Links.INLINE).resolve(href) == absolute(base, href)


@pytest.mark.parametrize("path", ["x", "(b)", "é b", "&amp;", "`|"])
def test_a_target_is_read_as_it_is(path: str):
    url = f"https://a.example/{path}"
    [opened] = [token for token in tokens(f"[a]({target(url)})") if token.type == "link_open"]
    assert unquote(str(opened.attrs["href"])) == url
