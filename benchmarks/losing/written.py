"""What stands in Markdown: its headings, code, rows, items, and all of its letters."""

import re
from dataclasses import dataclass
from typing import Final

from benchmarks.extracting.headings import heading_lines
from benchmarks.extracting.plain import plain_text
from benchmarks.losing.page import FENCE, HEADING, LIST, TABLE, Part, letters_of

GONE, AS_TEXT = "gone", "as text"

_FENCED: Final = re.compile(
    r"^[ >]*(?:(?:[-*+]|\d{1,9}[.)]) +)*(`{3,}|~{3,})[^`\n]*\n(.*?)^[ >]*\1",
    re.MULTILINE | re.DOTALL,
)
_SPAN: Final = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_ROW: Final = re.compile(r"^[ >]*(?:(?:[-*+]|\d{1,9}[.)]) +)*\|(.*)$", re.MULTILINE)
_ITEM: Final = re.compile(
    r"^[ >]*(?:(?:[-*+]|\d{1,9}[.)]) +)+(.*)$|^[ >]*(\[\^[^\]]+\]:.*|\*\*.*)$", re.MULTILINE
)
_ENDS: Final = 25
"""Letters by which both ends of a sentence are found, where a formula, an image or a note is in it."""


@dataclass(frozen=True, slots=True)
class Markdown:
    """The letters of a text in Markdown.

    Attributes:
        headings: each.
        code: in fences and spans.
        rows: of tables.
        items: of lists, and what begins with bold words.
        all: of everything.
    """

    headings: frozenset[str]
    code: str
    rows: str
    items: str
    all: str


def read_markdown(markdown: str) -> Markdown:
    """Read what a converter has written."""
    return Markdown(
        frozenset(map(letters_of, heading_lines(markdown))),
        _joined([match[2] for match in (*_FENCED.finditer(markdown), *_SPAN.finditer(markdown))]),
        _joined([plain_text(match[1]) for match in _ROW.finditer(markdown)]),
        _joined([plain_text(match[1] or match[2] or "") for match in _ITEM.finditer(markdown)]),
        letters_of(plain_text(markdown)),
    )


def missing(part: Part, written: Markdown) -> tuple[str, str]:
    """What of a part is not there as what it is.

    Returns:
        `GONE` or `AS_TEXT`, with its letters; or two empty strings.
    """
    for letters in part.letters:
        if not _stands(part.kind, letters, written):
            return (AS_TEXT if letters in written.all else GONE), letters
    return "", ""


def _stands(kind: str, letters: str, written: Markdown) -> bool:
    if kind == HEADING:
        return letters in written.headings or any(
            letters in heading for heading in written.headings
        )
    if kind == FENCE:
        return letters in written.code
    if kind == TABLE:
        return letters in written.rows
    if kind == LIST:
        return letters in written.items or any(letters == heading for heading in written.headings)
    return letters in written.all or (
        letters[:_ENDS] in written.all and letters[-_ENDS:] in written.all
    )


def _joined(texts: list[str]) -> str:
    return "\n".join(map(letters_of, texts))
