"""Reading a body as a job: what goes in is bytes and `options_for`, what comes out `converted` reads."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from searx_mcp.content.clean import clean_counted, clean_line
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.convert import convert
from searx_mcp.content.converted import Converted, dumped
from searx_mcp.content.decode import decode
from searx_mcp.content.escaping import escape
from searx_mcp.content.html.stripping import stripped, title_of
from searx_mcp.errors import ContentError, ErrorCode

_MAX_CHARS: Final = 2_000_000
"""Of a page that is read as plain text, at most: 2 MB of nothing but tags take 1 s."""

_TITLE_CHARS: Final = 300
_NOTE_PLAIN: Final = (
    "Plain text instead of Markdown, menus included: the page was too much for its reader."
)
_NOTE_CUT: Final = f"Only the first {_MAX_CHARS:,} characters of the page were read."


def page(body: bytes, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Turn a body into Markdown.

    Args:
        body: as for `convert.convert`.
        options: those of `converted.options_for`.

    Returns:
        The fields of `Converted` as JSON has them; `converted.converted` reads them back.

    Raises:
        SkeletonError: the page is empty without its scripts.
        ContentError: as of `convert.convert`, if that is what it says of the body.
        Exception: whatever a library raised that gave up on it, so that it counts as a defeat.
    """
    try:
        found = _convert(body, options)
    except ContentError as error:
        if error.__cause__ is not None:
            raise error.__cause__ from None
        raise
    return dumped(found)


def text(body: bytes, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Turn a page into plain text, with nothing that its markup or its size could defeat.

    No parser reads it. Arguments and result are those of `page`.

    Raises:
        ContentError: `extraction_failed`; there is no text in it.
    """
    html, _ = decode(body, charset=options["charset"])
    plain, hidden = clean_counted(stripped(html[:_MAX_CHARS]))
    if not plain.strip():
        raise ContentError("the page has no text", code=ErrorCode.EXTRACTION_FAILED)
    # Escaped, it is Markdown that shows the same.
    found = _convert(
        escape(plain).encode(), {**options, "media_type": "text/plain", "charset": "utf-8"}
    )
    whole = replace(
        found,
        title=clean_line(title_of(html), _TITLE_CHARS),
        hidden_chars_removed=found.hidden_chars_removed + hidden,
        notes=(_NOTE_PLAIN, *([_NOTE_CUT] if len(html) > _MAX_CHARS else []), *found.notes),
    )
    return dumped(whole)


def _convert(body: bytes, options: Mapping[str, Any]) -> Converted:
    return convert(
        body,
        media_type=options["media_type"],
        charset=options["charset"],
        url=options["url"],
        config=ContentConfig.model_validate(options["config"]),
    )
