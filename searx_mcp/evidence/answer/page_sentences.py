"""The sentences of a page, and its table rows and list items, each with the headings above it."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from searx_mcp.content.sentences import sentence_ends
from searx_mcp.evidence.answer.citations import normalised

_LONGEST: Final = 1_000
"""Maximum code points of a statement; a longer one is cut anywhere."""
_HEADING = re.compile(r"[ \t]*+(#{1,6})[ \t]++(.*)")
_RULER = re.compile(r"\|[ \t:|-]*+$")
_NEW = re.compile(r"[ \t>]*+(?:[-+*]|[0-9]{1,3}[.)])[ \t]")
_TERM = re.compile(r"[ \t>]*+(?:[-+*][ \t]++)?\*\*([^\n]{1,300}?)\*\*:")
"""A term of a definition list, which is a heading for what follows."""


class PageSentence(NamedTuple):
    """A sentence of a page, and the headings above it."""

    text: str
    above: str


def sentences_of(markdown: str) -> Iterator[PageSentence]:
    """Yield sentences, rows and items, each with the headings above it."""
    divider = _Divider()
    for line in markdown.split("\n"):
        yield from divider.take(line)
    yield from divider.end()


class _Divider:
    """Divides a page, line by line."""

    def __init__(self) -> None:
        self._above: list[tuple[int, str]] = []
        self._lines: list[str] = []
        self._header = ""
        self._term = ""

    def take(self, line: str) -> Iterator[PageSentence]:
        if line.lstrip().startswith("|"):
            yield from self.end()
            yield from self._row(line)
            return
        self._header = ""
        heading = _HEADING.match(line)
        if heading or not line.strip() or _NEW.match(line):
            yield from self.end()
        if heading:
            level = len(heading[1])
            self._term = ""
            while self._above and self._above[-1][0] >= level:
                self._above.pop()
            self._above.append((level, normalised(heading[2][:_LONGEST])))
        elif line.strip():
            self._lines.append(line)

    def end(self) -> Iterator[PageSentence]:
        if term := _TERM.match(self._lines[0]) if self._lines else None:
            self._term = normalised(term[1].partition("(")[0])
        title = " ; ".join(filter(None, (self._title(), self._term)))
        text = normalised("\n".join(self._lines))
        self._lines.clear()
        start = 0
        for stop in (*sentence_ends(text), len(text)):
            for low in range(start, stop, _LONGEST):
                yield PageSentence(text[low : min(stop, low + _LONGEST)].strip(), title)
            start = stop

    def _row(self, line: str) -> Iterator[PageSentence]:
        if _RULER.match(line.strip()):
            return
        row = normalised(line.replace("|", " ; "))[:_LONGEST]
        yield PageSentence(row, f"{self._title()} ; {self._header}")
        self._header = self._header or row

    def _title(self) -> str:
        return " ; ".join(text for _, text in self._above)
