"""Any body is text or a typed error, and its Markdown does nothing by itself."""

from urllib.parse import urlsplit

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from searx_mcp.content.clean import clean_counted
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import convert
from searx_mcp.content.document import Document
from searx_mcp.errors import ContentError, ErrorCode
from tests.content.soup import MARKUP, SCHEMES, TARGETS, acts, tokens

URL = "https://site.example/folder/page.html"
ATTRIBUTES = st.builds(
    " {}={}{}{}".format,
    st.sampled_from(
        ["href", "src", "srcset", "data-src", "style", "class", "id", "title", "alt", "xlink:href"]
    ),
    st.sampled_from(['"', "'", ""]),
    TARGETS
    | st.sampled_from(["language-x", "display:none", "a](javascript:x)", "![", "`", "toc", "<b>"]),
    st.sampled_from(['"', "'", ""]),
)
NAMES = st.sampled_from(
    ["a", "img", "p", "div", "article", "main", "h1", "h2", "ul", "li", "ol", "pre", "code", "table", "tr", "td",
     "th", "tbody", "blockquote", "b", "em", "br", "hr", "base", "svg", "image", "math", "iframe", "video",
     "source", "picture", "figure", "figcaption", "details", "summary", "dl", "dt", "dd", "script", "style",
     "template", "noscript", "title", "meta", "link", "object", "embed", "form", "input", "textarea",
     "select", "option", "sup", "s", "q", "kbd", "ruby", "rt", "frameset", "body", "html", "head", "span"]
)  # fmt: skip
TAGS = st.one_of(
    st.builds("<{}{}>".format, NAMES, ATTRIBUTES | st.just("")),
    st.builds("<{}{}{}/>".format, NAMES, ATTRIBUTES, ATTRIBUTES),
    st.builds("</{}>".format, NAMES),
    st.builds('<a href="{}">'.format, TARGETS),
)
TEXT = MARKUP | st.text(max_size=8)
SOUP = st.lists(TAGS | TEXT, max_size=25).map("".join)
PAGES = SOUP | st.builds("<title>{}</title><article><p>Text.</p>{}</article>".format, TEXT, SOUP)
FEEDS = st.builds(
    '<?xml version="1.0"?><rss><channel><title>{}</title><item><title>{}</title><link>{}</link>'
    "<description>{}</description></item></channel></rss>".format,
    TEXT, TEXT, TARGETS, SOUP,
)  # fmt: skip
HTML_TYPES = st.sampled_from(
    ["text/html", "application/xhtml+xml", "TEXT/HTML; charset=x", "text/xml"]
)
TYPES = HTML_TYPES | st.sampled_from(
    ["text/plain", "text/markdown", "application/json", "application/xml", "application/rss+xml", "text/css",
     "application/yaml", "application/feed+json", "image/svg+xml", "application/pdf", "", "x", "text/"]
)  # fmt: skip
LABELS = st.sampled_from(
    [None, "utf-8", "utf-16", "iso-2022-jp", "gb18030", "\ud800", "windows-1252"]
)
CONFIGS = st.sampled_from(
    [ContentConfig(), ContentConfig(keep_code_blocks=False), ContentConfig(max_page_chars=1_024)]
)

fuzz = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read(
    body: str | bytes, kind: str, label: str | None = None, config: ContentConfig | None = None
):
    """Convert; `None` for one of the two expected errors."""
    data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    try:
        return convert(
            data, media_type=kind, charset=label, url=URL, config=config or ContentConfig()
        )
    except ContentError as exc:
        error = exc
    assert error.code in {ErrorCode.EXTRACTION_FAILED, ErrorCode.UNSUPPORTED_CONTENT_TYPE}
    assert error.message.isprintable()
    return None


def check_text(page: Document) -> None:
    """All of it can be encoded, and is clean."""
    texts = [
        page.title,
        page.description,
        page.author,
        page.published,
        page.modified,
        page.language,
    ]
    texts += [page.site, *page.sources.values()]
    texts += [heading.title for heading in page.outline]
    texts += [text for image in page.images for text in (image.alt, image.caption)]
    texts += [text for link in page.links for text in (link.text, link.context)]
    for line in texts:
        assert clean_counted(line) == (line, 0)
        assert "\n" not in line
    assert clean_counted(page.markdown) == (page.markdown, 0)
    for heading in page.outline:
        assert 0 <= heading.offset < len(page.markdown)
        assert 1 <= heading.level <= 6
    for block in page.code_blocks:
        assert "```" in page.markdown[block.offset : block.offset + block.length]
    for address in [link.url for link in page.links] + [image.url for image in page.images]:
        assert urlsplit(address).scheme in {"http", "https"}
        assert clean_counted(address) == (address, 0)


@fuzz
@given(
    st.binary(max_size=300) | PAGES.map(lambda page: page.encode("utf-16", "replace")),
    TYPES,
    LABELS,
)
def test_any_bytes_of_any_type_are_text_or_a_typed_error(body, kind, label):
    page = read(body, kind, label)
    if page is not None:
        check_text(page)


@fuzz
@given(PAGES, HTML_TYPES, CONFIGS)
def test_no_page_has_images_tags_or_unsafe_links(html, kind, config):
    page = read(html, kind, config=config)
    if page is not None:
        check_text(page)
        assert acts(page.markdown) == []


@fuzz
@given(FEEDS)
def test_no_feed_has_images_tags_or_unsafe_links(xml):
    page = read(xml, "application/rss+xml")
    if page is not None:
        check_text(page)
        assert acts(page.markdown) == []


@fuzz
@given(SOUP, st.sampled_from(["application/json", "application/xml", "image/svg+xml"]))
def test_data_stay_in_their_fence(text, kind):
    page = read(f"<data>{text}", kind)  # not HTML by its root element
    if page is not None:
        check_text(page)
        assert {token.type for token in tokens(page.markdown)} <= {"fence"}


@fuzz
@given(st.lists(TEXT, max_size=20).map("".join))
def test_markdown_of_others_has_no_images_and_no_unsafe_links(text):
    page = read(text, "text/markdown")
    if page is not None:
        check_text(page)
        found = acts(page.markdown, links={*SCHEMES, ""})  # relative links are left to the reader
        assert [each for each in found if not each.startswith("html")] == []
