"""Finds the quotes of a report: in quotation marks of many languages, and in `<q>` and `<blockquote>`."""

# ruff: noqa: RUF001 - quotation marks of many languages are intended

import re
from collections.abc import Sequence
from typing import Final

from searx_mcp.content.markdown import code_spans

ADDRESS: Final = r"https?://[^\s<>\[\]\"“”«»|`\\^{}]{1,2100}+"
"""An address in prose, with any punctuation of the sentence after it."""
_OPEN_TAG, _CLOSE_TAG = "\ue000", "\ue001"
"""Placeholders for `<q>` and its end tag."""
_QUOTE = re.compile(
    r"(?<![^\W_]|\")\"(?=\S)(?P<straight>[^\"]{1,3000}+)(?<=\S)\"(?![^\W_])"
    r"|“[^“”]{1,3000}+”|„[^„“”]{1,3000}+[“”]|(?<!\w)”(?=\S)[^“”]{1,3000}+”"
    r"|«[^«»]{1,3000}+»|»[^«»]{1,3000}+«|‹[^‹›]{1,3000}+›"
    r"|「[^「」]{1,3000}+」|『[^『』]{1,3000}+』|《[^《》]{1,3000}+》|‚[^‚‘]{1,3000}+‘"
    rf"|{_OPEN_TAG}[^{_OPEN_TAG}{_CLOSE_TAG}]{{1,3000}}+{_CLOSE_TAG}"
)
_SINGLE = re.compile(
    r"(?P<open>(?<![^\W_])(?:‘|'(?!\d0s|(?:tis|twas|em|cause)\b))(?=\S))|(?P<close>(?<=\S)['’](?!\w))"
)
"""Where single quotation marks can open and close; the others are apostrophes."""
_PLURAL = re.compile(r"(?<=s)['’] [^\W\d_]")
_QUOTE_MARKS = re.compile(r"[\"'“”„«»‹›「」『』《》‚‘’]")
_TAG_LINE = re.compile(r"[ \t]*+<blockquote\b(?P<head>[^<>]{0,2100}+)>", re.IGNORECASE)
_TAG_END = re.compile(r"</blockquote\s?>", re.IGNORECASE)
_QUOTING_TAG = re.compile(
    r"<(?P<close>/?)(?:q|blockquote)\b(?P<head>[^<>]{0,2100}+)>", re.IGNORECASE
)
_NO_PROSE = re.compile(
    r"`[^`\n]{1,500}+`|<[a-zA-Z/!][^<>\n]{0,500}+>|(?<=\])\([^()\s]{1,2100}+\s\"[^\"\n]{0,500}+\"\)"
)
"""Inline code, tags, and links with titles: quotation marks in them mark no quote."""

_NO_NEWLINE = re.compile(r"[^\n]")
_STRAIGHT: Final = "\"'"


def quoted(prose: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of the quotes in a part of a report, without their marks, in order.

    Args:
        prose: from `without_code`. Linear in the length of the part.
        start: of the part.
        end: of the part.
    """
    found = [(each.start() + 1, each.end() - 1) for each in _QUOTE.finditer(prose, start, end)]
    opened = -1
    spans: list[tuple[int, int]] = []
    closed = -1
    for mark in (*_SINGLE.finditer(prose, start, end), None):
        if mark is None or mark["open"]:
            if 0 <= opened < closed:
                spans.append((opened, closed))
                opened = -1
            if mark and (opened < 0 or closed < 0):
                opened = mark.end()
            closed = -1
        elif opened >= 0 and (closed < 0 or _PLURAL.match(prose, closed)):
            closed = mark.start()
    return _outermost(sorted((*found, *spans), key=lambda span: (span[0], -span[1])))


def marked(text: str) -> str:
    """Rewrite HTML quotations as Markdown; lines keep their numbers."""
    if "<" not in text:
        return text
    code = iter((*code_spans(text), (len(text), len(text))))
    start, end = next(code)
    lines: list[str] = []
    at = 0
    source: str | None = None
    for line in text.split("\n"):
        while end <= at and end < len(text):
            start, end = next(code)
        is_code = start <= at < end
        at += len(line) + 1
        if source is None and not is_code and (mark := _TAG_LINE.match(line)):
            source, line = _cited(mark["head"]), line[mark.end() :]  # noqa: PLW2901 - the rest of the line
            closing = _TAG_END.search(line)
            if closing and line[closing.end() :].strip():  # continues after the quotation
                lines.append(
                    f"{_OPEN_TAG}{line[: closing.start()]}{_CLOSE_TAG}{source}{line[closing.end() :]}"
                )
                source = None
                continue
        if source is not None:
            closing = _TAG_END.search(line)
            bare = re.sub(r"</?(?:p|div)\s?>", "", line[: closing.start()] if closing else line)
            lines.append(f"> {bare}{source if closing else ''}")
            source = None if closing else source
        elif "`" in line:
            lines.append(line)
        else:
            lines.append(
                _QUOTING_TAG.sub(lambda tag: _CLOSE_TAG if tag["close"] else _OPEN_TAG, line)
            )
    return "\n".join(lines)


def _cited(head: str) -> str:
    found = re.search(rf"\bcite\s?=\s?[\"']?(?P<url>{ADDRESS})", head)
    return f" ({found['url'].rstrip(_STRAIGHT)})" if found else ""


def _outermost(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans that are not inside others."""
    kept: list[tuple[int, int]] = []
    for start, end in spans:
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def without_code(text: str) -> str:
    """Blank out code, and quotation marks that mark no quote."""
    pieces: list[str] = []
    at = 0
    for start, end in code_spans(text):
        pieces += (text[at:start], _NO_NEWLINE.sub(" ", text[start:end]))
        at = end
    prose = "".join((*pieces, text[at:]))
    return _NO_PROSE.sub(lambda found: _QUOTE_MARKS.sub(" ", found[0]), prose)
