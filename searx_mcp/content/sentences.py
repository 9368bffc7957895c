"""The sentences of a Markdown page, each with its block, its headings, and its text when shown alone.

Sentence ends are found by punctuation, in most scripts: `.`, `!`, `?` and the like before a space, in Han and kana
anywhere. Thai and Lao have no such punctuation: there a space ends a clause, and clauses are joined until they have
the length of a sentence.
"""

# ruff: noqa: RUF001 - Cyrillic letters that look like Latin ones are Cyrillic here

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from searx_mcp.content.words import stems, tokens

_STOPS: Final = ".!?\u2026\u061f\u06d4\u0964\u0965\u0589\u1362\u1367\u1368\u17d4\u17d5\u104a\u104b"
"""Latin, Arabic, Urdu, Devanagari, Armenian, Ethiopic, Khmer, Burmese."""
_WIDE_STOPS: Final = "\u3002\uff01\uff1f\uff61"
_CLOSING: Final = "\"'\u201d\u2019\u00bb)\\]*_\\\\"
"""Closing characters after a stop, as Markdown writes them: marks may be escaped."""
_WIDE_CLOSING: Final = "\u201d\u2019\u300d\u300f\uff09\u300b"
_NOTES: Final = r"(?:\[\^[\w-]{1,20}\])*"

_ENDS: Final = frozenset(_STOPS + _WIDE_STOPS)
_BEHIND: Final = " \u00a0\u202f[]" + _CLOSING + _WIDE_CLOSING
_CUT: Final = ("...", "\u2026")

# Whether a space follows is checked later: a run of marks is read once, from its start.
# Otherwise, 50,000 "!" in a row took 40 s.
_ASCII_END = re.compile(rf"[.!?]+[\"')\]*_\\]*{_NOTES}")
_END = re.compile(
    rf"[{_STOPS}{_WIDE_STOPS}]+[{_CLOSING}{_WIDE_CLOSING}]*(?:[ \u00a0\u202f]\u00bb)?{_NOTES}"
)
_CLAUSE_LETTER: Final = "\u0e00-\u0eff"
_CLAUSE_SIGN = re.compile(rf"[{_CLAUSE_LETTER}]")
_CLAUSE_END = re.compile(rf"{_END.pattern}|(?<=[{_CLAUSE_LETTER}])\s+(?=[{_CLAUSE_LETTER}])")

_SHORTENED: Final = """
mr mrs ms dr prof sr jr st vs etc cf al vol eq ca approx inc ltd co corp dept est gen sgt capt rev ave
blvd mt ft viz ed eds ph.d
jan feb mar apr jun jul aug sep sept oct nov dec
bzw usw vgl ggf evtl bspw str tel inkl zzgl mio mrd hr fr geb gest jh sog
sra srta dra ud uds ee.uu aprox avda lic tlf mm mme mlle env chap sig dott ecc avv
bijv enz dhr mevr np tzn tzw ul godz vb sn örn
гг вв ул им руб тыс млн млрд др пр акад проф обл
"""
_SHORTENED_BEFORE_FIGURE: Final = """
no nos nr núm fig abb pp pág pag art sec ch cap kap bl blz стр рис см №
"""
_BEFORE_DAY: Final = (
    "am vom zum bis im der die das den dem des und seit ab beim jeder jeden zur ein"
)

_ABBREVIATIONS: Final = frozenset(_SHORTENED.split())
"""Abbreviations in the prose of ten languages; they do not end a sentence."""
_BEFORE_FIGURE: Final = frozenset(_SHORTENED_BEFORE_FIGURE.split())
"""They end a sentence like any word, but not before a figure."""
_BEFORE_ORDINAL: Final = frozenset(_BEFORE_DAY.split())
"""German writes "am 3. Mai"; in other languages that do so, the next word is in lower case."""
_LARGEST_ORDINAL_DIGITS: Final = 2

_GOES_ON_BEHIND_QUOTE: Final = frozenset("とっのはがをにでもやへ、\uff0c,")
_REACH: Final = 40
"""Characters that are enough for every abbreviation; keeps the scan linear."""
_CLAUSE: Final = 70
"""Characters after which a space between Thai letters ends a sentence. Sentences of the Thai text in
`benchmarks/summaries_data` have 30 to 140."""

_CODE = re.compile(r"``.+?``(?!`)|`[^`]+`")
_TARGETS = re.compile(
    rf"(?P<code>{_CODE.pattern})"
    r"|\[image(?:: [^\]]{0,500})?\]|!\[[^\]]{0,500}\]\([^()\s]*(?:\s[^()]{0,500})?\)"
    r"|\[\^[\w-]{1,20}\]:?"
    r"|(?<![\\!])\[(?P<link>(?:[^\[\]\\`]|\\.|`[^`]+`|\[[^\[\]]{0,500}\])*)\]"
    r"\((?:<[^<>]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s\"[^\"]*\")?\)"
)
"""Code, images, note references and links; the text of a link may contain any of the others."""
_LABEL = re.compile(
    r"^(?:[\u2139\u26a0\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?\s*)\**[^\W\d_]{2,14}:\**\s*"
)
_EMPHASIS = re.compile(
    rf"(?P<code>{_CODE.pattern})"
    r"|(?<!\\)\*{1,3}(?=[^\s*])|(?<=[^\s\\*])\*{1,3}|(?<!\\)~~"
)
_SPACES = re.compile(r"\s+")
_MARKED = re.compile(r"[`*\[~!]")

_MIN_TOKENS: Final = 4
"""Shorter sentences are labels: "Read more.", "Figure 3."."""
_LABEL_TOKENS: Final = 9
"""A line with fewer tokens that ends with a colon only announces something: "Answer by Jo:"."""
_TITLE_CHARS: Final = 80
"""A bold line with fewer characters is a heading: deep headings are written that way."""
_WRAPPED: Final = 40
"""Characters of a line after which the next one may continue it, as in text wrapped at a margin."""

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
"""Headings that show the content of a page without sentences, such as a list of articles."""
_HARD_BREAK: Final = ("  ", "\\")
_COLONS: Final = (":", "\uff1a")


_DEEPEST: Final = 7
"""Level of a heading that is written as a bold line."""


def sentence_ends(text: str) -> Iterator[int]:
    """Find where sentences end, in order.

    Args:
        text: one or more lines of prose. The end of the text itself does not count.

    Yields:
        Offsets after the last mark of each sentence.
    """
    pattern = _ASCII_END
    if not text.isascii():
        pattern = _CLAUSE_END if _CLAUSE_SIGN.search(text) else _END
    start, size = 0, len(text)
    for end in pattern.finditer(text):
        at = end.end()
        if at < size and _is_end(text, start, end):
            yield at
            start = at


def _is_ended(text: str) -> bool:
    """Whether a piece of prose ends like a sentence; in scripts without stops all prose does.

    A piece that is cut with an ellipsis, or announces something with a colon, does not.
    """
    bare = text.rstrip(_BEHIND)
    if bare.endswith(_CUT):
        return False
    return bare[-1:] in _ENDS or bool(_CLAUSE_SIGN.search(bare))


def _is_end(text: str, start: int, end: re.Match[str]) -> bool:
    mark, at = text[end.start()], end.end()
    if mark.isspace():
        return at - start >= _CLAUSE
    if mark in _WIDE_STOPS:
        return text[at - 1] not in _WIDE_CLOSING or text[at] not in _GOES_ON_BEHIND_QUOTE
    if not text[at].isspace():
        return False
    following = text[at + 1 : at + 2]
    if following.islower() or (mark != "." and following == "\u2026"):  # such as "fixup! …"
        return False
    return mark != "." or not _is_shortened(text[max(start, at - _REACH) : at], following)


def _is_shortened(last_words: str, following: str) -> bool:
    """Whether the full stop at the end belongs to its word."""
    before, _, word = last_words.rpartition(" ")
    word = word.strip("(\u00ab\u201e\u201c\"'*_)]").lower()
    if not word.endswith("."):
        return False
    bare = word[:-1]
    if bare in _ABBREVIATIONS or all(len(part) == 1 and part.isalpha() for part in bare.split(".")):
        return True  # initials and "e.g."; each part of "z. B." is an abbreviation
    if following.isdigit():
        return bare in _BEFORE_FIGURE
    return (
        bare.isdigit()
        and len(bare) <= _LARGEST_ORDINAL_DIGITS
        and before.rpartition(" ")[2].lower() in _BEFORE_ORDINAL
    )


def plain(piece: str) -> str:
    """Remove what a reader does not need from a line of Markdown.

    Addresses of links, images, footnote references, emphasis and the label of a callout are removed; code, mathematics,
    escapes and every word stay as they are. The result is still Markdown, and has no link or image that was not in
    the piece.

    Args:
        piece: of one block; may be cut anywhere.
    """
    if piece.isascii() and not _MARKED.search(piece):
        return piece.strip()
    if "[" in piece:
        piece = _TARGETS.sub(_kept, piece)
    if "*" in piece or "~" in piece:
        piece = _EMPHASIS.sub(lambda found: found["code"] or "", piece)
    return _closed(piece)


def _kept(found: re.Match[str]) -> str:
    return found["code"] or _TARGETS.sub(_kept, found["link"] or "")


def _closed(piece: str) -> str:
    """Join lines, and keep text that was not a link from becoming one."""
    if not piece.isascii():
        piece = _LABEL.sub("", piece.lstrip())
    return _SPACES.sub(" ", piece).replace("](", "] (").replace("![", "! [").strip()


class Sentence(NamedTuple):
    """One sentence of a page.

    Attributes:
        text: as it is shown.
        terms: for comparisons.
        counts: the same in order, with repetitions.
        size: number of tokens, including function words.
        block: number of its paragraph, list or table.
        section: number of its heading; 0 before the first.
        is_row: whether it is a table row, with its cells on one line.
        is_whole: whether it ends like a sentence, and contains no address.
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
class PageSentences:
    """The sentences of a page, and the terms of the headings above them by section."""

    sentences: list[Sentence] = field(default_factory=list)
    headings: list[frozenset[str]] = field(default_factory=lambda: [frozenset()])


def read(text: str, *, most: int) -> PageSentences:
    """Split a page into sentences.

    Args:
        text: Markdown or plain text. Code, display formulas, rows of links and images are left out.
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
    """Joins lines into blocks and splits these into sentences."""

    def __init__(self) -> None:
        self.prose = PageSentences()
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
        self._add(shown, found, is_whole=_is_ended(shown) and not _ADDRESS.match(shown))

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


def _joined(lines: list[str]) -> str:
    parts = [lines[0].strip()]
    for line in lines[1:]:
        parts += ("" if _WIDE_END.search(parts[-1]) else " ", line.strip())
    return "".join(parts)
