"""A body of bytes to Markdown, by its media type."""

import json
import re
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import SelectolaxError

from searx_mcp.content.clean import clean_counted, clean_line
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.decode import decode
from searx_mcp.content.extract import Extracted, main_content
from searx_mcp.content.markdown import escape, fence, to_markdown
from searx_mcp.content.summary import summarize
from searx_mcp.content.words import words
from searx_mcp.errors import ContentError, ErrorCode

_HTML: Final = frozenset({"text/html", "application/xhtml+xml"})
_JSON: Final = frozenset({"application/json", "text/json"})
_XML: Final = frozenset({"application/xml", "text/xml"})
_TEXT: Final = frozenset({
    "application/javascript", "application/x-javascript", "application/yaml", "application/x-yaml",
    "application/toml", "application/x-sh", "application/sql", "application/x-ndjson",
    "application/jsonl",
})  # fmt: skip
"""Text that is not registered under `text/`."""

_TITLE_CHARS: Final = 300
_DESCRIPTION_CHARS: Final = 1_000

_PRETTY_CHARS: Final = 200_000
"""Longer JSON stays as it came: 1.8 MB take 85 ms to print, and nobody reads it."""

_PRETTY_DEPTH: Final = 64
"""Deeper JSON stays as it came: each level indents every line in it, and the decoder of the
standard library recurses."""

_HEADING = re.compile(r"^#{1,6}[ \t]+([^\n]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Converted:
    """A page as text.

    Attributes:
        title: one line; empty if the page has none.
        description: one line, the page's own; empty if it has none.
        language: BCP 47 tag the page declares, or empty.
        markdown: the content, clean.
        word_count: words of the Markdown; a Han character or kana is one.
        summary: empty if switched off, or if there is no prose.
        hidden_chars_removed: characters of title, description and content that no reader sees.
        notes: sentences a caller should know.
    """

    title: str
    description: str
    language: str
    markdown: str
    word_count: int
    summary: str
    hidden_chars_removed: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Content:
    """Clean content with what is known of it."""

    markdown: str
    hidden: int
    title: str = ""
    description: str = ""
    language: str = ""
    notes: tuple[str, ...] = ()


def convert(
    body: bytes,
    *,
    media_type: str,
    charset: str | None,
    url: str,
    config: ContentConfig,
    query: str = "",
) -> Converted:
    """Turn a body into Markdown.

    Args:
        body: decompressed bytes, perhaps cut off.
        media_type: from the `Content-Type` header; parameters are ignored.
        charset: the header's charset, or `None`.
        url: the address of the page, against which links are resolved.
        config: limits and switches.
        query: what the summary should answer; may be empty.

    Returns:
        Clean text; every string can be encoded as UTF-8.

    Raises:
        ContentError: `unsupported_content_type`, or `extraction_failed` for a body that holds no
            text.
    """
    kind = media_type.partition(";")[0].strip().lower()
    text, _ = decode(body, charset=charset)
    if kind in _HTML:
        content = _html(text, url=url, config=config)
    elif kind in _JSON or kind.endswith("+json"):
        content = _fenced(_pretty(text), language="json")
    elif kind in _XML or kind.endswith("+xml"):
        content = _fenced(text, language="xml")
    elif kind.startswith("text/") or kind in _TEXT:
        content = _text(text, is_markdown=kind in {"text/markdown", "text/x-markdown"})
    else:
        raise ContentError(
            f"{clean_line(kind, 100) or 'a body without a type'} is not text",
            code=ErrorCode.UNSUPPORTED_CONTENT_TYPE,
            url=url,
        )
    summary = ""
    if config.summarize:
        summary = summarize(content.markdown, query=query, max_chars=config.max_summary_length)
    return Converted(
        title=content.title,
        description=content.description,
        language=content.language,
        markdown=content.markdown,
        word_count=len(words(content.markdown)),
        summary=summary,
        hidden_chars_removed=content.hidden,
        notes=content.notes,
    )


def _html(text: str, *, url: str, config: ContentConfig) -> _Content:
    extracted = _extracted(text, url=url)
    title, title_hidden = _line(extracted.title, _TITLE_CHARS)
    description, description_hidden = _line(extracted.description, _DESCRIPTION_CHARS)
    # Cleaned before it is converted: a character that vanishes later could join two halves of
    # markup that the converter found harmless apart.
    html, hidden = clean_counted(extracted.html)
    notes: tuple[str, ...] = ()
    try:
        markdown = to_markdown(html, config=config)
    except ContentError as error:
        plain, hidden = clean_counted(extracted.text)
        markdown = escape(plain)
        notes = (f"Plain text instead of Markdown: {error.message}.",)
    if text.strip() and not extracted.text:
        raise ContentError(
            "the page has no text that can be read without running its scripts",
            code=ErrorCode.EXTRACTION_FAILED,
            url=url,
        )
    return _Content(
        markdown=markdown,
        hidden=hidden + title_hidden + description_hidden,
        title=title,
        description=description,
        language=extracted.language,
        notes=notes,
    )


def _extracted(text: str, *, url: str) -> Extracted:
    try:
        return main_content(text, url=url)
    except (SelectolaxError, ValueError, RuntimeError) as exc:
        raise ContentError(
            "the page could not be parsed", code=ErrorCode.EXTRACTION_FAILED, url=url
        ) from exc


def _line(text: str, max_chars: int) -> tuple[str, int]:
    line, hidden = clean_counted(text)
    return clean_line(line, max_chars), hidden


def _text(text: str, *, is_markdown: bool) -> _Content:
    clean, hidden = clean_counted(text)
    heading = _HEADING.search(clean) if is_markdown else None
    title = clean_line(heading[1].rstrip("# \t"), _TITLE_CHARS) if heading else ""
    return _Content(markdown=clean.strip("\n"), hidden=hidden, title=title)


def _fenced(text: str, *, language: str) -> _Content:
    clean, hidden = clean_counted(text)
    code = clean.strip()
    return _Content(markdown=fence(code, language=language) if code else "", hidden=hidden)


def _pretty(text: str) -> str:
    """JSON with a member on each line; anything else as it came."""
    if len(text) > _PRETTY_CHARS or _nesting(text) > _PRETTY_DEPTH:
        return text
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        # No JSON, or a number of more digits than Python turns into an integer.
        return text


def _nesting(text: str) -> int:
    """Brackets open at once at most; those in strings are counted too."""
    depth = deepest = 0
    for character in re.findall(r"[\[\]{}]", text):
        depth += 1 if character in "[{" else -1
        deepest = max(deepest, depth)
    return deepest
