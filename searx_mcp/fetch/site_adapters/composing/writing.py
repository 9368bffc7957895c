"""Markdown of what services say: names are strangers' text, so nothing of them becomes markup."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from yarl import URL

from searx_mcp.content.clean import clean_line
from searx_mcp.content.escaping import escape, safe_address

MAX_NAME: Final = 200
_MAX_URL: Final = 2_000
_MAX_VALUE: Final = 1_000
_BRACKETS: Final = str.maketrans("[]", "()")
_CLOSING_MARKS = re.compile(r"(?:(?<=\s)|^)(#+)$")


@dataclass(frozen=True, slots=True)
class Link:
    """A link to write.

    Attributes:
        label: plain text.
        url: where it leads; the label stays alone if that is no address of the web.
    """

    label: str
    url: str


Value = str | Link | int | None
"""Plain text, a link or a number of a fact; the empty ones are not written."""


def heading(level: int, text: str) -> str:
    """A heading of plain text, which is cut to one line."""
    line = escape(clean_line(text, MAX_NAME))
    return f"{'#' * level} {_CLOSING_MARKS.sub(_escaped, line)}"


def facts(pairs: Iterable[tuple[str, Value]]) -> str:
    """A list of labels and values; a label is ours."""
    return "\n".join(
        f"- {written}" for label, value in pairs if (written := _written(value, label=f"{label}: "))
    )


def bullets(values: Iterable[Value]) -> str:
    """A list of values."""
    return "\n".join(f"- {written}" for value in values if (written := _written(value)))


def plain(text: str, most: int = MAX_NAME) -> str:
    """Plain text on one line, as Markdown."""
    return escape(clean_line(text, most))


def link(label: str, url: str) -> str:
    """A link, or its label if the address is none that a reader should follow."""
    shown = plain(label.translate(_BRACKETS))
    destination = web_address(url)
    return f"[{shown}]({destination})" if shown and destination else shown


def web_address(url: str) -> str:
    """An address of the web as a link destination, or nothing."""
    if not 0 < len(url) <= _MAX_URL:
        return ""
    try:
        parsed = URL(clean_line(url, _MAX_URL))
    except ValueError:
        return ""
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        return ""
    return safe_address(str(parsed.with_user(None)))


def joined(*blocks: str) -> str:
    """Blocks of Markdown below each other; empty ones are left out."""
    return "\n\n".join(stripped for block in blocks if (stripped := block.strip("\n")))


def capped(values: list[str], most: int) -> str:
    """Names in one line, with the number of those left out."""
    shown = ", ".join(values[:most])
    return f"{shown} and {len(values) - most:,} more" if len(values) > most else shown


def size(count: int | None) -> str:
    """Bytes for a reader."""
    if count is None:
        return ""
    if count < 1 << 10:
        return f"{count} bytes"
    return f"{count / (1 << 10):,.0f} KB" if count < 1 << 20 else f"{count / (1 << 20):,.1f} MB"


def _written(value: Value, *, label: str = "") -> str:
    """A value behind its label, or nothing if it is empty."""
    match value:
        case None | "":
            return ""
        case int():
            return f"{label}{value:,}"
        case Link(label=shown, url=url):
            written = link(shown, url)
            return f"{label}{written}" if written else ""
        case str():
            # Escaped as what it is: not the beginning of a line if there is a label.
            return plain(f"{label}{value}", len(label) + _MAX_VALUE) if value.strip() else ""


def _escaped(match: re.Match[str]) -> str:
    return "\\" + match[1]
