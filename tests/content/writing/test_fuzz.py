"""The Markdown of any page is inactive, and its headings, links and code are where they are said to be."""

from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.addresses import absolute
from searx_mcp.content.clean import clean_counted
from searx_mcp.content.writing.targets import Targets, target
from searx_mcp.content.writing.write import WrittenMarkdown, write
from searx_mcp.models.style import Images, Links, Style
from tests.content.soup import MARKUP, TARGETS, acts, tokens

BASE = "https://site.example/folder/page.html"
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
SOUP = st.lists(TAGS | MARKUP, max_size=30).map("".join)
STYLES = st.builds(
    Style,
    images=st.sampled_from(Images),
    links=st.sampled_from(Links),
    max_heading_level=st.integers(1, 6),
    keep_code_blocks=st.booleans(),
)

fuzz = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def written(html: str, style: Style = Style()) -> WrittenMarkdown:  # noqa: B008 - it is frozen
    body = LexborHTMLParser(html).body
    return write([body] if body is not None else [], base=BASE, style=style)


def check(html: str, style: Style) -> None:
    page = written(html, style)
    markdown = page.markdown
    inline = {"http", "https"} if style.images is Images.INLINE else set()
    assert acts(markdown, images=inline) == []
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


def _between(page: WrittenMarkdown) -> list[str]:
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
    """Formatting leaves no marks that a reader would see."""
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
