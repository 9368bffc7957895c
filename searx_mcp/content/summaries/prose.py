"""A page in Markdown as sentences, each with the block and the headings it stands under."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from searx_mcp.content.sentences import is_ended, sentence_ends
from searx_mcp.content.summaries.plain import plain
from searx_mcp.content.terms import stems, tokens

_MIN_TOKENS: Final = 4
"""Shorter ones are labels: "Read more.", "Figure 3."."""
_LABEL_TOKENS: Final = 9
"""A line of fewer that ends with a colon announces something and says nothing: "Answer by Jo:"."""
_TITLE_CHARS: Final = 80
"""A bold line of fewer is a heading: that is how deep ones are written."""
_WRAPPED: Final = 40
"""Characters of a line behind which the next one may belong to it, as in text wrapped at a margin."""

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*$")
_BOLD = re.compile(r"\s*\*\*([^*]+)\*\*\s*$")
_RULE = re.compile(r"\s*[-*_=]{3,}\s*$")
_LINKS = re.compile(r"\s*(?:[-*+]|\d+[.)])?\s*(?:\[[^\]]*\]\([^)]*\)[\s,;|·•/>-]*)+$")
_IMAGE = re.compile(r"\s*\[(?:image(?:: [^\]]*)?\]\s*$|caption: )")
_DELIMITER = re.compile(r"\s*\|[\s:|-]+$")
_MARKER = re.compile(r"\s*(?:>\s*)*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?)?")
_CELL = re.compile(r"(?<!\\)\|")
_WIDE_END = re.compile(r"[\u3000-\u9fff\uff00-\uffef]$")
_ADDRESS = re.compile(r"^[^`]*\bhttps?://")
_OWNED = re.compile(r"\W*©")
_ENOUGH_TITLES: Final = 3
"""Headings that say what a page without sentences has, such as a list of articles."""
_HARD_BREAK: Final = ("  ", "\\")
_COLONS: Final = (":", "\uff1a")


class Sentence(NamedTuple):
    """One sentence of a page.

    Attributes:
        text: as it is shown.
        terms: what it is compared by.
        counts: the same in order, as often as they stand there.
        size: its tokens, function words included.
        block: number of the paragraph, list or table it stands in.
        section: number of the heading it stands under; 0 before the first.
        is_row: whether it is the row of a table, its cells in one line.
        is_whole: whether it ends like a sentence, and gives no address.
    """

    text: str
    terms: frozenset[str]
    counts: tuple[str, ...]
    size: int
    block: int
    section: int
    is_row: bool = False
    is_whole: bool = True


@dataclass(slots=True)
class Prose:
    """The sentences of a page, and the terms of the headings above them by section."""

    sentences: list[Sentence] = field(default_factory=list)
    headings: list[frozenset[str]] = field(default_factory=lambda: [frozenset()])


def read(text: str, *, most: int) -> Prose:
    """Divide a page into sentences.

    Args:
        text: Markdown or plain text. Code, mathematics set apart, rows of links and images are left
            out.
        most: sentences at most.
    """
    reader = _Reader()
    for line in _lines(text):
        reader.take(line)
        if len(reader.prose.sentences) >= most:
            break
    reader.end_block()
    if not reader.prose.sentences:
        reader.add_titles()
    del reader.prose.sentences[most:]
    return reader.prose


def _lines(text: str) -> Iterator[str]:
    """The lines outside code and mathematics."""
    fence = ""
    for line in text.split("\n"):
        if fence:
            if line.lstrip().startswith(fence):
                fence = ""
        elif mark := _FENCE.match(line):
            fence = mark[1]
        elif line.startswith("$$"):
            fence = "" if line.rstrip().endswith("$$") and len(line.rstrip()) > 2 * 2 else "$$"
        else:
            yield line


class _Reader:
    """Puts lines together to blocks and takes them apart into sentences."""

    def __init__(self) -> None:
        self.prose = Prose()
        self._lines: list[str] = []
        self._block = 0
        self._path: list[tuple[int, frozenset[str]]] = []
        self._header = ""
        self._announces = False
        self._titles: list[str] = []

    def take(self, line: str) -> None:
        first = line.lstrip()[:1]
        if not first:
            self.end_block()
        elif first.isalnum() and not first.isdigit():
            self._prose_line(line, line, is_new=False)
        elif first == "|":
            self._row(line)
        elif heading := _HEADING.match(line):
            self._head(len(heading[1]), heading[2])
        elif _RULE.match(line) or _LINKS.match(line) or _IMAGE.match(line):
            self.end_block()
        elif (bold := _BOLD.match(line)) and len(line) < _TITLE_CHARS and not self._lines:
            self._head(_DEEPEST, bold[1])
        else:
            marker = _MARKER.match(line)
            mark = marker[0] if marker else ""
            body = line[len(mark) :]
            if heading := _HEADING.match(body):
                self._head(len(heading[1]), heading[2])
            else:
                self._prose_line(line, body, is_new=bool(mark.strip()))

    def end_block(self) -> None:
        self._flush()
        self._header = ""
        if not self._announces:
            self._block += 1

    def add_titles(self) -> None:
        if len(self._titles) >= _ENOUGH_TITLES:
            for title in self._titles:
                self._keep(title)

    def _head(self, level: int, title: str) -> None:
        self._announces = False
        self.end_block()
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._titles.append(title)
        self._path.append((level, frozenset(stems(tokens(title)))))
        self.prose.headings.append(frozenset().union(*(found for _, found in self._path)))

    def _prose_line(self, line: str, body: str, *, is_new: bool) -> None:
        if is_new:
            self._flush()
        self._lines.append(body)
        if len(body) < _WRAPPED or line.endswith(_HARD_BREAK):
            self._flush()

    def _flush(self) -> None:
        if not self._lines:
            return
        text = _joined(self._lines)
        self._lines.clear()
        start = 0
        for end in sentence_ends(text):
            self._keep(text[start:end])
            start = end
        self._keep(text[start:])
        self._announces = text.endswith(_COLONS)

    def _keep(self, piece: str) -> None:
        shown = plain(piece)
        found = tokens(shown)
        if len(found) < _MIN_TOKENS or _OWNED.match(shown) or not any(map(str.isalpha, shown)):
            return
        if len(found) < _LABEL_TOKENS and shown.endswith(_COLONS):
            return
        self._add(shown, found, is_whole=is_ended(shown) and not _ADDRESS.match(shown))

    def _row(self, line: str) -> None:
        self._flush()
        if _DELIMITER.match(line) or not self._header:
            self._header = self._header or line
            return
        cells = [plain(cell) for cell in _CELL.split(line.strip().strip("|"))]
        first, *others = [cell for cell in cells if cell] or [""]
        shown = f"{first}: {', '.join(others)}" if others else first
        self._add(shown, tokens(shown), is_row=True)

    def _add(
        self, shown: str, found: list[str], *, is_row: bool = False, is_whole: bool = False
    ) -> None:
        counts = tuple(stems(found))
        self.prose.sentences.append(
            Sentence(
                shown,
                frozenset(counts),
                counts,
                len(found),
                self._block,
                len(self.prose.headings) - 1,
                is_row,
                is_whole,
            )
        )


_DEEPEST: Final = 7
"""Level of a heading that is written as a bold line."""


def _joined(lines: list[str]) -> str:
    parts = [lines[0].strip()]
    for line in lines[1:]:
        parts += ("" if _WIDE_END.search(parts[-1]) else " ", line.strip())
    return "".join(parts)
