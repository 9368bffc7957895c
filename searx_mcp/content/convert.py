"""A body of bytes to Markdown, by its media type."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import SelectolaxError

from searx_mcp.content.addresses import addresses_in
from searx_mcp.content.clean import clean_counted, clean_line
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.converted import Converted
from searx_mcp.content.dates import iso_date
from searx_mcp.content.decode import decode
from searx_mcp.content.disarm import disarm, disarm_plain
from searx_mcp.content.formats.data import MAX_CHARS, fenced, json_text
from searx_mcp.content.formats.feed import MAX_ENTRIES, Feed
from searx_mcp.content.formats.feeds import listed_feed, plain_text
from searx_mcp.content.formats.json_feed import json_feed
from searx_mcp.content.formats.xml_feed import is_html, xml_feed
from searx_mcp.content.html.guards import MAX_TAGS
from searx_mcp.content.outline import headings
from searx_mcp.content.page import ReadPage, read_page
from searx_mcp.content.words import count
from searx_mcp.errors import ContentError, ErrorCode, SkeletonError
from searx_mcp.models.page import CodeBlock, Heading, PageImage, PageKind, PageLink

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_JSON: Final = frozenset({"application/json", "text/json"})
_XML: Final = frozenset({"application/xml", "text/xml"})
_MARKDOWN: Final = frozenset({"text/markdown", "text/x-markdown"})
_TEXT: Final = frozenset({
    "application/javascript", "application/x-javascript", "application/yaml", "application/x-yaml",
    "application/toml", "application/x-sh", "application/sql", "application/x-ndjson",
    "application/jsonl",
})  # fmt: skip
"""Text that is not registered under `text/`."""

_TITLE_CHARS: Final = 300
_DESCRIPTION_CHARS: Final = 1_000
_SOURCE_CHARS: Final = 100
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")

_UNREADABLE: Final = "\ufffd"
_UNREADABLE_SHARE: Final = 0.02
"""Of the characters; in a text with more, words are missing."""

_NOTE_PROTECTED: Final = (
    "content protected: the site says that this page is not free to read; what is here may be only"
    " its beginning."
)
_NOTE_PLAIN: Final = (
    "Plain text instead of Markdown: the page is too large; the first 5,000,000 characters of its"
    " HTML were read."
)
_NOTE_TAGS: Final = f"Only the first {MAX_TAGS:,} tags of the page were read."
_NOTE_SKELETON: Final = "The page needs its scripts to show its text; this is what it says without."
_NOTE_UNCOVERED: Final = (
    "The page's style hides most of its text until its scripts run; it is shown here."
)
_NOTE_STYLE_CUT: Final = "The page's style is too large to be read to its end; some of this text may be hidden from its readers."
_NOTE_UNREADABLE: Final = (
    "Some of the text is unreadable: the page is not in the encoding it names."
)


@dataclass(frozen=True, slots=True)
class _Content:
    """Content with what is known of it; the Markdown is clean, the lines are not."""

    markdown: str
    hidden: int = 0
    title: str = ""
    description: str = ""
    author: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    site: str = ""
    canonical_url: str = ""
    kind: PageKind | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    outline: tuple[Heading, ...] = ()
    images: tuple[PageImage, ...] = ()
    links: tuple[PageLink, ...] = ()
    code_blocks: tuple[CodeBlock, ...] = ()
    notes: tuple[str, ...] = ()
    is_skeleton: bool = False
    is_protected: bool = False


def convert(
    body: bytes, *, media_type: str, charset: str | None, url: str, config: ContentConfig
) -> Converted:
    """Turn a body into Markdown.

    Args:
        body: decompressed bytes, perhaps cut off.
        media_type: from the `Content-Type` header; parameters are ignored.
        charset: the header's charset, or `None`.
        url: the address of the page, against which links are resolved.
        config: limits and switches.

    Returns:
        Clean text; every string can be encoded as UTF-8.

    Raises:
        SkeletonError: the page is empty without its scripts.
        ContentError: `unsupported_content_type`, or `extraction_failed` for a body that holds no
            text.
    """
    kind = media_type.partition(";")[0].strip().lower()
    text, _ = decode(body, charset=charset)
    if kind in _HTML or ((kind in _XML or kind.endswith("+xml")) and is_html(text)):
        content = _feed(xml_feed(text), url=url, config=config) or _html(text, url, config)
    elif kind in _JSON or kind.endswith("+json"):
        content = _feed(json_feed(text), url=url, config=config) or _data(text, url, "json")
    elif kind in _XML or kind.endswith("+xml"):
        content = _feed(xml_feed(text), url=url, config=config) or _data(text, url, "xml")
    elif kind.startswith("text/") or kind in _TEXT:
        content = _text(text, url, is_markdown=kind in _MARKDOWN)
    else:
        raise ContentError(
            f"{clean_line(kind, 100) or 'a body without a type'} is not text",
            code=ErrorCode.UNSUPPORTED_CONTENT_TYPE,
            url=url,
        )
    return _converted(content)


def _converted(content: _Content) -> Converted:
    title, description, author, site = (
        _Line(content.title, _TITLE_CHARS),
        _Line(content.description, _DESCRIPTION_CHARS),
        _Line(content.author, _TITLE_CHARS),
        _Line(content.site, _TITLE_CHARS),
    )
    lines = (title, description, author, site)
    markdown = content.markdown
    unreadable = markdown.count(_UNREADABLE) > len(markdown) * _UNREADABLE_SHARE
    return Converted(
        title=title.text,
        description=description.text,
        author=author.text,
        published=iso_date(content.published),
        modified=iso_date(content.modified),
        language=content.language,
        site=site.text,
        canonical_url=content.canonical_url,
        kind=content.kind,
        sources={name: clean_line(text, _SOURCE_CHARS) for name, text in content.sources.items()},
        markdown=markdown,
        word_count=count(markdown),
        outline=content.outline,
        images=content.images,
        links=content.links,
        code_blocks=content.code_blocks,
        hidden_chars_removed=content.hidden + sum(line.hidden for line in lines),
        notes=(*content.notes, *([_NOTE_UNREADABLE] if unreadable else [])),
        is_skeleton=content.is_skeleton,
        is_protected=content.is_protected,
    )


def _html(text: str, url: str, config: ContentConfig) -> _Content:
    page = _page(text, url, config)
    said, written = page.metadata, page.written
    if text.strip() and page.is_empty:
        raise _empty(page, url)
    notes = {
        _NOTE_PLAIN: page.is_plain,
        _NOTE_TAGS: page.is_cut,
        _NOTE_PROTECTED: said.is_protected,
        _NOTE_SKELETON: page.is_skeleton,
        _NOTE_UNCOVERED: page.is_uncovered,
        _NOTE_STYLE_CUT: page.is_style_cut,
    }
    return _Content(
        markdown=written.markdown,
        hidden=written.hidden,
        title=said.title,
        description=said.description,
        author=said.author,
        published=said.published,
        modified=said.modified,
        language=said.language,
        site=said.site,
        canonical_url=said.canonical_url,
        kind=page.kind,
        sources=said.sources,
        outline=written.outline,
        images=written.images,
        links=written.links,
        code_blocks=written.code_blocks,
        notes=tuple(note for note, holds in notes.items() if holds),
        is_skeleton=page.is_skeleton,
        is_protected=said.is_protected,
    )


def _page(text: str, url: str, config: ContentConfig) -> ReadPage:
    try:
        return read_page(
            text,
            url=url,
            style=config.style,
            max_chars=config.max_page_chars,
            max_elements=config.max_elements,
        )
    except (SelectolaxError, ValueError, RuntimeError) as exc:
        raise ContentError(
            "the page could not be parsed", code=ErrorCode.EXTRACTION_FAILED, url=url
        ) from exc


def _empty(page: ReadPage, url: str) -> ContentError:
    if page.is_skeleton:
        return SkeletonError(
            "the page has no text that can be read without running its scripts",
            code=ErrorCode.EXTRACTION_FAILED,
            url=url,
        )
    return ContentError("the page has no text", code=ErrorCode.EXTRACTION_FAILED, url=url)


def _feed(feed: Feed | None, *, url: str, config: ContentConfig) -> _Content | None:
    if feed is None:
        return None
    listed = listed_feed(feed, url=url, config=config)
    # Clean already, but for what only the whole shows: text that is broken over entries.
    markdown, hidden = clean_counted(listed.markdown)
    notes = (f"The feed has {feed.count} entries; the first {MAX_ENTRIES} are listed.",)
    return _Content(
        markdown=markdown,
        hidden=hidden,
        title=plain_text(feed.title, _TITLE_CHARS),
        description=plain_text(feed.description, _DESCRIPTION_CHARS),
        author=plain_text(feed.author, _TITLE_CHARS),
        modified=feed.updated,
        language=feed.language if _LANGUAGE.fullmatch(feed.language) else "",
        outline=headings(markdown),
        links=_links(listed.links),
        notes=notes if listed.is_cut else (),
    )


def _text(text: str, url: str, *, is_markdown: bool) -> _Content:
    text, hidden = clean_counted(text)
    markdown = (disarm(text) if is_markdown else disarm_plain(text)).strip("\n")
    outline = headings(markdown) if is_markdown else ()
    return _Content(
        markdown=markdown,
        hidden=hidden,
        title=outline[0].title if outline else "",
        outline=outline,
        links=_links(addresses_in(text, base=url, is_markdown=is_markdown)),
    )


def _data(text: str, url: str, language: str) -> _Content:
    shown = (json_text(text) if language == "json" else text)[:MAX_CHARS]
    notes = (f"Only the first {MAX_CHARS:,} characters are shown.",)
    shown, hidden = clean_counted(shown)
    return _Content(
        markdown=fenced(shown, language=language),
        hidden=hidden,
        links=_links(addresses_in(shown, base=url)),
        notes=notes if len(text) > MAX_CHARS else (),
    )


def _links(addresses: tuple[str, ...]) -> tuple[PageLink, ...]:
    return tuple(PageLink(url=address) for address in addresses)


class _Line:
    """One clean line, and how much of it nobody sees."""

    def __init__(self, text: str, max_chars: int) -> None:
        cleaned, self.hidden = clean_counted(text)
        self.text = clean_line(cleaned, max_chars)
