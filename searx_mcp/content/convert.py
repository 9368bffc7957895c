"""Converts a body of bytes to a document, by its media type; and the same as worker jobs.

A job takes bytes and the options of `document.options_for`, and returns the frame that `document.from_frame` reads.
"""

from collections.abc import Mapping
from typing import Any, Final

from selectolax.lexbor import SelectolaxError

from searx_mcp.content.addresses import addresses_in
from searx_mcp.content.clean import clean_counted, clean_line, stripped, title_of
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.decode import decode
from searx_mcp.content.document import Document, to_frame
from searx_mcp.content.feeds import (
    MAX_ENTRIES,
    Feed,
    is_html,
    json_feed,
    listed_feed,
    plain_text,
    xml_feed,
)
from searx_mcp.content.html.guards import MAX_TAGS
from searx_mcp.content.html.metadata import LANGUAGE, Metadata
from searx_mcp.content.json_layout import json_text
from searx_mcp.content.markdown import disarm, disarm_plain, escape, fence
from searx_mcp.content.outline import headings
from searx_mcp.content.page import ReadPage, read_page
from searx_mcp.content.quality import assess
from searx_mcp.content.values import iso_date
from searx_mcp.content.words import count
from searx_mcp.content.writing.write import WrittenMarkdown
from searx_mcp.errors import ContentError, ErrorCode, SkeletonError
from searx_mcp.models.page import PageKind, PageLink, SiteIndex
from searx_mcp.models.response import Poor

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_JSON: Final = frozenset({"application/json", "text/json"})
_XML: Final = frozenset({"application/xml", "text/xml"})
_MARKDOWN: Final = frozenset({"text/markdown", "text/x-markdown"})
_TEXT: Final = frozenset({
    "application/javascript", "application/x-javascript", "application/yaml", "application/x-yaml",
    "application/toml", "application/x-sh", "application/sql", "application/x-ndjson",
    "application/jsonl",
})  # fmt: skip
"""Text types that are not registered under `text/`."""

_TITLE_CHARS: Final = 300
_DESCRIPTION_CHARS: Final = 1_000
_SOURCE_CHARS: Final = 100

_UNREADABLE: Final = "\ufffd"
_UNREADABLE_SHARE: Final = 0.02
"""Share of the characters; a text with more has lost words."""

_STRIPPED_CHARS: Final = 2_000_000
"""Most characters of a page that is read as plain text: 2 MB of tags alone take 1 s."""

_DATA_CHARS: Final = 2_000_000
"""Characters of data that are shown; the rest is not read, since each costs time for counting words."""

_NOTE_PROTECTED: Final = (
    "content protected: the site says that this page is not free to read; what is here may be only"
    " its beginning."
)
_WALL_CHARS: Final = 3_000
"""A longer page is not only a question about cookies."""
_NOTE_CONSENT: Final = "The site asks for cookie consent first: this is its question, not the page. Use another source."
_NOTE_LARGE: Final = (
    "Plain text instead of Markdown: the page is too large; the first 5,000,000 characters of its"
    " HTML were read."
)
_NOTE_TAGS: Final = f"Only the first {MAX_TAGS:,} tags of the page were read."
_NOTE_SKELETON: Final = (
    "The page needs its scripts to show its text; this is what it says without them."
)
_NOTE_UNCOVERED: Final = (
    "The page's CSS hides most of its text until its scripts run; it is shown here."
)
_NOTE_STYLE_CUT: Final = (
    "The page's CSS is too large to read in full; some of this text may be hidden on the page."
)
_NOTE_UNREADABLE: Final = (
    "Some of the text is unreadable: the page is not in the encoding it declares."
)
_NOTE_DATA_CUT: Final = f"Only the first {_DATA_CHARS:,} characters are shown."
_NOTE_PLAIN: Final = (
    "Plain text instead of Markdown, menus included: the page was too complex to convert."
)
_NOTE_PLAIN_CUT: Final = f"Only the first {_STRIPPED_CHARS:,} characters of the page were read."


def convert(
    body: bytes, *, media_type: str, charset: str | None, url: str, config: ContentConfig
) -> Document:
    """Convert a body to Markdown.

    Args:
        body: decompressed bytes, possibly truncated.
        media_type: from the `Content-Type` header; parameters are ignored.
        charset: the header's charset, or `None`.
        url: the address of the page, against which links are resolved.
        config: limits and switches.

    Returns:
        Clean text; every string can be encoded as UTF-8.

    Raises:
        SkeletonError: the page is empty without its scripts.
        ContentError: `unsupported_content_type`, or `extraction_failed` for a body without text.
    """
    kind = media_type.partition(";")[0].strip().lower()
    text, _ = decode(body, charset=charset)
    is_json = kind in _JSON or kind.endswith("+json")
    is_xml = kind in _XML or kind.endswith("+xml")
    if is_json or is_xml or kind in _HTML:
        if (feed := json_feed(text) if is_json else xml_feed(text)) is not None:
            return _feed(feed, url, config)
        if not is_json and (kind in _HTML or is_html(text)):
            return _html(text, url, config)
        return _data(text, url, "json" if is_json else "xml")
    if kind.startswith("text/") or kind in _TEXT:
        return _text(text, url, is_markdown=kind in _MARKDOWN)
    raise ContentError(
        f"{clean_line(kind, 100) or 'a body without a type'} is not text",
        code=ErrorCode.UNSUPPORTED_CONTENT_TYPE,
        url=url,
    )


def page_job(body: bytes, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a body to Markdown.

    Args:
        body: as for `convert`.
        options: those of `document.options_for`.

    Raises:
        SkeletonError: the page is empty without its scripts.
        ContentError: as in `convert`, if it is about the body.
        Exception: any error of a library that failed on the body, so that it counts as a defeat.
    """
    try:
        return to_frame(
            convert(
                body,
                media_type=options["media_type"],
                charset=options["charset"],
                url=options["url"],
                config=ContentConfig.model_validate(options["config"]),
            )
        )
    except ContentError as error:
        if error.__cause__ is not None:
            raise error.__cause__ from None
        raise


def text_job(body: bytes, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a page to plain text, without any code that its markup or its size could defeat.

    No parser reads it. Arguments and result are those of `page_job`.

    Raises:
        ContentError: `extraction_failed`; it has no text.
    """
    html, _ = decode(body, charset=options["charset"])
    plain, hidden = clean_counted(stripped(html[:_STRIPPED_CHARS]))
    if not plain.strip():
        raise ContentError("The page has no text", code=ErrorCode.EXTRACTION_FAILED)
    # Escaped, it is Markdown that looks the same.
    found = _text(escape(plain), options["url"], is_markdown=False)
    cut = [_NOTE_PLAIN_CUT] if len(html) > _STRIPPED_CHARS else []
    whole = {
        "title": clean_line(title_of(html), _TITLE_CHARS),
        "hidden_chars_removed": found.hidden_chars_removed + hidden,
        "notes": (_NOTE_PLAIN, *cut, *found.notes),
    }
    return to_frame(found.model_copy(update=whole))


def _html(text: str, url: str, config: ContentConfig) -> Document:
    try:
        page = read_page(
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
    if text.strip() and page.is_empty:
        raise _empty(page, url)
    notes = {
        _NOTE_LARGE: page.is_plain,
        _NOTE_TAGS: page.is_cut,
        _NOTE_PROTECTED: page.metadata.is_protected,
        _NOTE_SKELETON: page.is_skeleton,
        _NOTE_UNCOVERED: page.is_uncovered,
        _NOTE_STYLE_CUT: page.is_style_cut,
        _NOTE_CONSENT: _asks_consent(page.written.markdown, page.metadata.title),
    }
    return _document(
        page.written,
        page.metadata,
        kind=page.kind,
        indexes=page.indexes,
        notes=[note for note, holds in notes.items() if holds],
        is_skeleton=page.is_skeleton,
        removed=page.removed,
    )


def _asks_consent(markdown: str, title: str) -> bool:
    return len(markdown) <= _WALL_CHARS and assess(markdown, title=title).poor is Poor.CONSENT


def _empty(page: ReadPage, url: str) -> ContentError:
    if page.is_skeleton:
        return SkeletonError(
            "The page has no text that can be read without running its scripts",
            code=ErrorCode.EXTRACTION_FAILED,
            url=url,
        )
    return ContentError("The page has no text", code=ErrorCode.EXTRACTION_FAILED, url=url)


def _feed(feed: Feed, url: str, config: ContentConfig) -> Document:
    listed = listed_feed(feed, url=url, config=config)
    # Already clean, except for escapes that are split over entries.
    markdown, hidden = clean_counted(listed.markdown)
    said = Metadata(
        title=plain_text(feed.title, _TITLE_CHARS),
        description=plain_text(feed.description, _DESCRIPTION_CHARS),
        author=plain_text(feed.author, _TITLE_CHARS),
        modified=feed.updated,
        language=feed.language if LANGUAGE.fullmatch(feed.language) else "",
    )
    written = WrittenMarkdown(
        markdown, links=_links(listed.links), outline=headings(markdown), hidden=hidden
    )
    note = f"The feed has {feed.count} entries; the first {MAX_ENTRIES} are listed."
    return _document(written, said, notes=[note] if listed.is_cut else [])


def _text(text: str, url: str, *, is_markdown: bool) -> Document:
    text, hidden = clean_counted(text)
    markdown = (disarm(text) if is_markdown else disarm_plain(text)).strip("\n")
    outline = headings(markdown) if is_markdown else ()
    links = _links(addresses_in(text, base=url, is_markdown=is_markdown))
    return _document(
        WrittenMarkdown(markdown, links=links, outline=outline, hidden=hidden),
        Metadata(title=outline[0].title if outline else ""),
    )


def _data(text: str, url: str, language: str) -> Document:
    shown = (json_text(text) if language == "json" else text)[:_DATA_CHARS]
    shown, hidden = clean_counted(shown)
    links = _links(addresses_in(shown, base=url))
    return _document(
        WrittenMarkdown(fenced(shown, language=language), links=links, hidden=hidden),
        Metadata(),
        notes=[_NOTE_DATA_CUT] if len(text) > _DATA_CHARS else [],
    )


def _links(addresses: tuple[str, ...]) -> tuple[PageLink, ...]:
    return tuple(PageLink(url=address) for address in addresses)


def _document(
    written: WrittenMarkdown,
    said: Metadata,
    *,
    kind: PageKind | None = None,
    indexes: tuple[SiteIndex, ...] = (),
    notes: list[str] | None = None,
    is_skeleton: bool = False,
    removed: Mapping[str, int] | None = None,
) -> Document:
    """Clean the metadata of a text, and combine both."""
    title, hidden_title = _line(said.title, _TITLE_CHARS)
    description, hidden_description = _line(said.description, _DESCRIPTION_CHARS)
    author, hidden_author = _line(said.author, _TITLE_CHARS)
    site, hidden_site = _line(said.site, _TITLE_CHARS)
    markdown = written.markdown
    unreadable = markdown.count(_UNREADABLE) > len(markdown) * _UNREADABLE_SHARE
    return Document(
        title=title,
        description=description,
        author=author,
        published=iso_date(said.published),
        modified=iso_date(said.modified),
        language=said.language,
        site=site,
        canonical_url=said.canonical_url,
        kind=kind,
        is_protected=said.is_protected,
        sources={name: clean_line(text, _SOURCE_CHARS) for name, text in said.sources.items()},
        markdown=markdown,
        word_count=count(markdown),
        outline=written.outline,
        images=written.images,
        links=written.links,
        indexes=indexes,
        code_blocks=written.code_blocks,
        hidden_chars_removed=written.hidden
        + hidden_title
        + hidden_description
        + hidden_author
        + hidden_site,
        notes=(*(notes or ()), *([_NOTE_UNREADABLE] if unreadable else [])),
        is_skeleton=is_skeleton,
        removed=removed or {},
    )


def _line(text: str, max_chars: int) -> tuple[str, int]:
    """One clean line, and how many of its characters are invisible."""
    cleaned, hidden = clean_counted(text)
    return clean_line(cleaned, max_chars), hidden


def fenced(text: str, *, language: str) -> str:
    """Data in a fence; empty if there is no data."""
    code = text.strip()
    return fence(code, language=language) if code else ""
