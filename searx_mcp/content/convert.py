"""A body of bytes to Markdown, by its media type."""

import re
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import SelectolaxError

from searx_mcp.content.addresses import addresses_in
from searx_mcp.content.clean import clean, clean_counted, clean_line
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.dates import iso_date
from searx_mcp.content.decode import decode
from searx_mcp.content.disarm import disarm
from searx_mcp.content.formats.data import MAX_CHARS, fenced, json_text
from searx_mcp.content.formats.feed import MAX_ENTRIES, Feed
from searx_mcp.content.formats.feeds import listed_feed, plain_text
from searx_mcp.content.formats.json_feed import json_feed
from searx_mcp.content.formats.xml_feed import is_html, xml_feed
from searx_mcp.content.html.extract import Extracted, main_content
from searx_mcp.content.markdown import escape, to_markdown
from searx_mcp.content.outline import headings, with_anchors
from searx_mcp.content.words import words
from searx_mcp.errors import ContentError, ErrorCode, SkeletonError
from searx_mcp.models.page import Heading, PageImage

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
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")

_UNREADABLE: Final = "\ufffd"
_UNREADABLE_SHARE: Final = 0.02
"""Of the characters; in a text with more, words are missing."""

_NOTE_PROTECTED: Final = (
    "content protected: the site says that this page is not free to read; what is here may be only"
    " its beginning."
)
_NOTE_SKELETON: Final = "The page needs its scripts to show its text; this is what it says without."
_NOTE_UNCOVERED: Final = (
    "The page's style hides most of its text until its scripts run; it is shown here."
)
_NOTE_UNREADABLE: Final = (
    "Some of the text is unreadable: the page is not in the encoding it names."
)


@dataclass(frozen=True, slots=True)
class Converted:
    """A page as text; every string is clean.

    Attributes:
        title: one line; empty if the page has none.
        description: one line, the page's own; empty if it has none.
        author: names on one line, as the page gives them; may be empty.
        published: ISO 8601 where that could be read, else as the page writes it; may be empty.
        modified: likewise.
        language: BCP 47 tag the page declares, or empty.
        markdown: the content.
        word_count: words of the Markdown; a Han character or kana is one.
        outline: the headings of the Markdown, in order, with the page's own anchors.
        images: of the main content, in order, at most 50.
        links: web addresses that the main content leads to, in order, at most 1,000.
        hidden_chars_removed: characters of the text that no reader sees.
        notes: sentences a caller should know.
        is_skeleton: whether the page needs its scripts to say more than this.
        is_protected: whether the page says that it is not free to read.
    """

    title: str
    description: str
    author: str
    published: str
    modified: str
    language: str
    markdown: str
    word_count: int
    outline: tuple[Heading, ...]
    images: tuple[PageImage, ...]
    links: tuple[str, ...]
    hidden_chars_removed: int
    notes: tuple[str, ...]
    is_skeleton: bool
    is_protected: bool


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
    anchors: tuple[tuple[str, str], ...] = ()
    images: tuple[PageImage, ...] = ()
    links: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    has_headings: bool = True
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
    title, description, author = (
        _Line(content.title, _TITLE_CHARS),
        _Line(content.description, _DESCRIPTION_CHARS),
        _Line(content.author, _TITLE_CHARS),
    )
    markdown = content.markdown
    outline = headings(markdown) if content.has_headings else ()
    unreadable = markdown.count(_UNREADABLE) > len(markdown) * _UNREADABLE_SHARE
    return Converted(
        title=title.text,
        description=description.text,
        author=author.text,
        published=iso_date(content.published),
        modified=iso_date(content.modified),
        language=content.language,
        markdown=markdown,
        word_count=len(words(markdown)),
        outline=with_anchors(outline, content.anchors) if content.anchors else outline,
        images=content.images,
        links=content.links,
        hidden_chars_removed=content.hidden + title.hidden + description.hidden + author.hidden,
        notes=(*content.notes, *([_NOTE_UNREADABLE] if unreadable else [])),
        is_skeleton=content.is_skeleton,
        is_protected=content.is_protected,
    )


def _html(text: str, url: str, config: ContentConfig) -> _Content:
    extracted = _extracted(text, url=url)
    said = extracted.metadata
    # Cleaned before it is converted: a character that vanishes later could join two halves of
    # markup that the converter found harmless apart.
    html, hidden = clean_counted(extracted.html)
    notes: list[str] = []
    is_plain = False
    try:
        markdown = to_markdown(html, config=config)
    except ContentError as error:
        plain, hidden = clean_counted(extracted.text)
        markdown, is_plain = escape(plain), True
        notes.append(f"Plain text instead of Markdown: {error.message}.")
    if text.strip() and not extracted.text:
        raise _empty(extracted, url)
    if said.is_protected:
        notes.append(_NOTE_PROTECTED)
    if extracted.is_skeleton:
        notes.append(_NOTE_SKELETON)
    if extracted.is_uncovered:
        notes.append(_NOTE_UNCOVERED)
    return _Content(
        markdown=markdown,
        hidden=hidden,
        title=said.title,
        description=said.description,
        author=said.author,
        published=said.published,
        modified=said.modified,
        language=said.language,
        anchors=tuple((clean(entry.title), entry.anchor) for entry in extracted.headings),
        images=extracted.images,
        links=extracted.links,
        notes=tuple(notes),
        has_headings=not is_plain,
        is_skeleton=extracted.is_skeleton,
        is_protected=said.is_protected,
    )


def _extracted(text: str, *, url: str) -> Extracted:
    try:
        return main_content(text, url=url)
    except (SelectolaxError, ValueError, RuntimeError) as exc:
        raise ContentError(
            "the page could not be parsed", code=ErrorCode.EXTRACTION_FAILED, url=url
        ) from exc


def _empty(extracted: Extracted, url: str) -> ContentError:
    if extracted.is_skeleton:
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
        links=listed.links,
        notes=notes if listed.is_cut else (),
    )


def _text(text: str, url: str, *, is_markdown: bool) -> _Content:
    text, hidden = clean_counted(text)
    markdown = (disarm(text) if is_markdown else text).strip("\n")
    outline = headings(markdown) if is_markdown else ()
    return _Content(
        markdown=markdown,
        hidden=hidden,
        title=outline[0].title if outline else "",
        links=addresses_in(text, base=url, is_markdown=is_markdown),
        has_headings=is_markdown,
    )


def _data(text: str, url: str, language: str) -> _Content:
    shown = (json_text(text) if language == "json" else text)[:MAX_CHARS]
    notes = (f"Only the first {MAX_CHARS:,} characters are shown.",)
    shown, hidden = clean_counted(shown)
    return _Content(
        markdown=fenced(shown, language=language),
        hidden=hidden,
        links=addresses_in(shown, base=url),
        notes=notes if len(text) > MAX_CHARS else (),
        has_headings=False,
    )


class _Line:
    """One clean line, and how much of it nobody sees."""

    def __init__(self, text: str, max_chars: int) -> None:
        cleaned, self.hidden = clean_counted(text)
        self.text = clean_line(cleaned, max_chars)
