"""The quotes and links of a report.

A quote is in quotation marks of one of many languages, in a Markdown quotation, or in `<q>` or `<blockquote>`. It is
attributed to the nearest link or numbered source. A sentence or table row with links makes its claim about each page
that it links.
"""

# ruff: noqa: RUF001 - quotation marks of many languages are intended

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from searx_mcp.content.clean import clean
from searx_mcp.content.sentences import sentence_ends
from searx_mcp.content.words import words
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.evidence.answer.citations import normalised
from searx_mcp.evidence.answer.quotation import ADDRESS, marked, quoted, without_code

MAX_CHARS: Final = 1_000_000
"""Maximum code points of a report."""
MAX_CLAIMS: Final = 1_000
"""Maximum quotes of a report, and links: each quote is searched in whole pages."""

_LEAST_WORDS: Final = 4
_LEAST_CHARS: Final = 12
"""Minimum words and code points of a quote: anything shorter is a name, a term or irony."""
_SPACELESS_CHARS: Final = 8
"""Code points that are enough in scripts without spaces between words."""
_BEHIND: Final = 20
"""Distance added to a number before a quote: `[1]` follows the text it belongs to."""

_NUMBERS: Final = r"\[\^?(?P<numbers>[0-9]{1,3}(?:[ ]?[,;][ ]?\^?[0-9]{1,3}){0,9})\](?![(:])"
_ANCHOR = re.compile(
    r"!\[[^\[\]\n]{0,500}+\]\([^()\s]{0,2100}+"  # an image attributes nothing
    rf"|(?:\[[^\[\]\n]{{0,500}}+\]\(\s?<?)?(?P<url>{ADDRESS})"
    rf"|{_NUMBERS}"
)
_ANCHOR_NUMBER = re.compile(_NUMBERS)
_SOURCE = re.compile(
    rf"^[ \t>]*+(?:[-*+][ \t]++)?(?:\[\^?(?P<number>[0-9]{{1,3}})\]:?|(?P<item>[0-9]{{1,3}})[.)])"
    rf"[ \t][^\n]{{0,1000}}?(?:\n[ \t]++[^\n]{{0,200}}?)?(?P<url>{ADDRESS})",
    re.MULTILINE,
)
"""An entry of a list of sources; its address may be on the next line."""

_CITATION = re.compile(r"[^\n\"“„«「]{0,9}[\"“„«「][^\n]*+\n[ \t]*+(?:[—–―]|--)")
"""An entry that quotes, and attributes the quote on the next line: the format of `answer`'s citations."""
_BEHIND_QUOTE = re.compile(rf"[\s.,;]{{0,2}}{_NUMBERS}")
_BETWEEN = re.compile(r"[\s,;]*+")
_QUOTED_LINE = re.compile(r"[ ]{0,3}>[ \t>]*+")
_NEW_BLOCK = re.compile(r"[ \t]*+(?:[-*+][ \t]|[0-9]{1,3}[.)][ \t]|#{1,6}[ \t]|\|)")
_ASCRIBING = re.compile(r"[\s>]*+(?:[—–―]|--|\(|\[|https?://|source|from)", re.IGNORECASE)
"""Starts of lines that attribute the quotation above."""
_LEFT_OUT = re.compile(r"\s*+\(?(?:…|\.{3,}|\. \. \.)\)?\s*+")
_BEFORE_STOP = re.compile(r"[ \t]++(?=[.,!?](?:\s|$))")
_NUMBER = re.compile(r"\[[0-9]{1,3}[\],;]")
SPACELESS: Final = "\u0e00"
"""From Thai on, scripts are written without spaces, or join their particles to words."""
_DASHES: Final = ("—", "–", "―", "--")
_EDGES = re.compile(r"^(?:[ \t\"'.,;:!?()–—]|-(?!\d))++|[ \t\"'.,;:!?()–—-]+$")
_WORDS_BEFORE: Final = 80
"""Code points before a quote that can negate it."""
_TARGET: Final = r"https?://[^\s<>()]{1,2100}+(?:\([^\s<>()]{0,500}+\)[^\s<>()]{0,500}+){0,3}+"
_ADDRESSED = re.compile(
    rf"\(\s?(?:[^\W\d_]{{1,20}}:?\s)?\[[^\[\]\n]{{0,500}}+\]\(<?{_TARGET}>?(?:\s\"[^\"\n]{{0,500}}+\")?\)\s?\)"
    r"|\[(?:the\s)?(?:source|link|here|docs|documentation|manual|guide|page|website|reference)s?\]"
    rf"\(<?{_TARGET}>?\)"
    rf"|\(?<?{_TARGET}>?\)?",
    re.IGNORECASE,
)
"""Text that names a page and says nothing else."""


class QuoteInReport(NamedTuple):
    """A quote of a report.

    Attributes:
        text: on one line.
        parts: the pieces between its ellipses, normalised.
        urls: pages that it is attributed to, or a number without a source, such as `[2]`; may be empty.
        line: of the report, from 1.
        before: the words before it, normalised.
    """

    text: str
    parts: tuple[str, ...]
    urls: tuple[str, ...]
    line: int
    before: str = ""


class ClaimInReport(NamedTuple):
    """A sentence or table row that links pages.

    Attributes:
        text: normalised, without its quotes and addresses.
        urls: pages that it links.
        line: of the report, from 1.
        is_rest: whether a quote was removed from it.
    """

    text: str
    urls: tuple[str, ...]
    line: int
    is_rest: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """The quotes of a report, its links, each address once with its first line, and its sentences with links."""

    quotes: tuple[QuoteInReport, ...]
    links: tuple[tuple[str, int], ...]
    claims: tuple[ClaimInReport, ...] = ()


class _Anchor(NamedTuple):
    """What a quote can be attributed to: a link, or numbers of sources."""

    start: int
    end: int
    urls: tuple[str, ...]
    is_number: bool


class _Block(NamedTuple):
    """A paragraph, an item, or a paragraph of a quotation; `run` differs between different quotations."""

    start: int
    end: int
    run: int
    is_quotation: bool


def read_report(text: str) -> Report:
    """Find the quotes and links of a report.

    Args:
        text: Markdown or plain text. Linear in its length.

    Raises:
        InvalidArgumentError: it is longer than `MAX_CHARS`, or has more quotes or links than `MAX_CLAIMS`.
    """
    if len(text) > MAX_CHARS:
        raise InvalidArgumentError("text", f"has {len(text)} characters; {MAX_CHARS} are checked")
    reader = _Reader(marked(clean(text)))
    report = Report(tuple(reader.quotes()), tuple(reader.links()), tuple(reader.claims()))
    for name, found in (
        ("quotes", report.quotes),
        ("links", report.links),
        ("sentences", report.claims),
    ):
        if len(found) > MAX_CLAIMS:
            raise InvalidArgumentError("text", f"has {len(found)} {name}; {MAX_CLAIMS} are checked")
    return report


def address_key(url: str) -> str:
    """Return what addresses of the same page share: all but scheme, `www.`, fragment and trailing slash."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    host = parts.netloc.lower().removeprefix("www.")
    return f"{host}{unquote(parts.path).rstrip('/')}?{parts.query}"


class _Reader:
    """Reads one report."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._prose = without_code(text)
        self._newlines = [each.start() for each in re.finditer("\n", text)]
        self._sources, self._listed = _sources(self._prose)
        self._anchors = list(self._find_anchors())
        self._starts = [anchor.start for anchor in self._anchors]
        self._blocks = list(_blocks(self._prose))

    def links(self) -> Iterator[tuple[str, int]]:
        """Yield each address once, with its line."""
        seen: set[str] = set()
        for anchor in self._anchors:
            if not anchor.is_number and (key := address_key(anchor.urls[0])) not in seen:
                seen.add(key)
                yield anchor.urls[0], self._line(anchor.start)

    def quotes(self) -> Iterator[QuoteInReport]:
        """Yield all quotes, in order."""
        for index, block in enumerate(self._blocks):
            if block.is_quotation:
                yield from self._quotation(index)
            elif not self._is_listed(block.start):
                for start, end in quoted(self._prose, block.start, block.end):
                    urls = self._nearest(block.start, block.end, start - 1, end + 1)
                    before = self._text[max(block.start, start - 1 - _WORDS_BEFORE) : start - 1]
                    yield from self._quote(self._text[start:end], urls, start, before)

    def claims(self) -> Iterator[ClaimInReport]:
        """Yield all sentences with links, in order, except those that consist of a quote."""
        was_quotation = False
        for block in self._blocks:
            is_ascription = was_quotation and _ASCRIBING.match(self._prose, block.start)
            was_quotation = block.is_quotation
            if was_quotation or is_ascription or self._is_listed(block.start):
                continue
            quotes = [
                (start, end)
                for start, end in quoted(self._prose, block.start, block.end)
                if _is_long(self._text[start:end])
            ]
            for start, end in self._linking(block, quotes):
                anchors = self._in(start, end)
                urls = tuple(dict.fromkeys(url for anchor in anchors for url in anchor.urls))
                is_rest = any(start <= low < end for low, _ in quotes)
                if urls and ((text := self._said(start, end, quotes)) or not is_rest):
                    first = len(self._text[start:end]) - len(self._text[start:end].lstrip())
                    yield ClaimInReport(text, urls, self._line(start + first), is_rest)

    def _linking(
        self, block: _Block, quotes: Sequence[tuple[int, int]]
    ) -> Iterator[tuple[int, int]]:
        """Yield the sentences of a block; a source reference after the full stop belongs to the sentence before it."""
        blank = list(self._prose[block.start : block.end])
        for start, end in quotes:
            blank[start - block.start : end - block.start] = "X" * (end - start)
        for anchor in self._in(block.start, block.end):
            low, high = anchor.start - block.start, min(anchor.end, block.end) - block.start
            blank[low:high] = "X" * (high - low)
        text = "".join(blank)
        if text.lstrip().startswith("|"):
            yield block.start, block.end
            return
        start = 0
        for end in (*sentence_ends(text), len(text)):
            at = end
            for anchor in self._in(block.start + end, block.end):
                between = text[at : anchor.start - block.start]
                if not anchor.is_number or between.strip(" \t\n[(,;"):
                    break
                at = anchor.end - block.start
            if at > start:
                yield block.start + start, block.start + at
            start = max(start, at)

    def _said(self, start: int, end: int, quotes: Sequence[tuple[int, int]]) -> str:
        """Return a sentence without its quotes and source references."""
        pieces: list[str] = []
        at = start
        for low, high in quotes:
            if start <= low < end:
                pieces += (self._text[at : low - 1], " ")
                at = high + 1
        pieces.append(self._text[at:end])
        bare = _ANCHOR_NUMBER.sub(self._without_number, _ADDRESSED.sub(" ", "".join(pieces)))
        bare = _BEFORE_STOP.sub("", bare).replace("|", " ; ")
        return normalised(bare.strip()) if any(map(str.isalnum, bare)) else ""

    def _quotation(self, index: int) -> Iterator[QuoteInReport]:
        block = self._blocks[index]
        said: list[str] = []
        at = block.start
        for line in self._text[block.start : block.end].split("\n"):
            mark = _QUOTED_LINE.match(line)
            body = line[mark.end() :] if mark else line
            if body.startswith((*_DASHES, "[!")) or (
                said and _ASCRIBING.match(body) and self._in(at, at + len(line))
            ):
                break
            said.append(body)
            at += len(line) + 1
        yield from self._quote("\n".join(said), self._of_quotation(index, at), block.start)

    def _of_quotation(self, index: int, end: int) -> tuple[str, ...]:
        """Return what a quotation is attributed to: at its end, else after it, else before it."""
        block = self._blocks[index]
        last = index
        while last + 1 < len(self._blocks) and self._blocks[last + 1].run == block.run:
            last += 1
        inside = self._in(end, self._blocks[last].end) or self._in(block.start, end)[-1:]
        if inside:
            return inside[0].urls
        if last + 1 < len(self._blocks):
            behind = self._blocks[last + 1]
            found = self._in(behind.start, behind.end)
            if found and _ASCRIBING.match(self._prose, behind.start):
                return found[0].urls
        before = index
        while before >= 0 and self._blocks[before].run == block.run:
            before -= 1
        if before >= 0 and (
            found := self._in(self._blocks[before].start, self._blocks[before].end)
        ):
            return found[-1].urls
        return ()

    def _quote(
        self, text: str, urls: tuple[str, ...], at: int, before: str | None = None
    ) -> Iterator[QuoteInReport]:
        bare = _ANCHOR.sub(self._without_number, text)
        plain = normalised(bare, is_inline=before is not None)
        parts = [_EDGES.sub("", part) for part in _LEFT_OUT.split(plain)]
        parts = [part for part in parts if any(map(str.isalnum, part))]
        if _is_long(" ".join(parts)):
            yield QuoteInReport(
                normalised(text, is_inline=before is not None),
                tuple(parts),
                urls,
                self._line(at),
                normalised(before or ""),
            )

    def _without_number(self, found: re.Match[str]) -> str:
        numbers = found["numbers"]
        return "" if numbers and self._named(numbers) else found[0]

    def _nearest(self, low: int, high: int, start: int, end: int) -> tuple[str, ...]:
        """Return the urls of the nearest anchor in a block outside a quote, else inside it.

        A number without a source right behind the quote is returned itself.
        """
        first, behind = bisect_left(self._starts, start), bisect_left(self._starts, end)
        if first < behind and self._anchors[first].start == start + 1:  # the quote is the link
            return self._anchors[first].urls
        number = _BEHIND_QUOTE.match(self._prose, end, high)
        if number and not self._named(number["numbers"]):
            return (f"[{number['numbers']}]",)
        best: tuple[int, tuple[str, ...]] | None = None
        if behind < len(self._anchors) and (after := self._anchors[behind]).start < high:
            best = after.start - end, after.urls
        if first and (before := self._anchors[first - 1]).start >= low:
            away = start - before.end + (_BEHIND if before.is_number else 0)
            if best is None or away < best[0]:
                best = away, before.urls
        if best is not None:
            return best[1]
        return self._anchors[first].urls if first < behind else ()

    def _in(self, low: int, high: int) -> Sequence[_Anchor]:
        return self._anchors[bisect_left(self._starts, low) : bisect_left(self._starts, high)]

    def _find_anchors(self) -> Iterator[_Anchor]:
        """Yield all links and numbers of sources; adjacent numbers are one anchor."""
        last: _Anchor | None = None
        for found in _ANCHOR.finditer(self._prose):
            if found["url"]:
                url = _trimmed(found["url"])
                end = found.start("url") + len(url)
                new = _Anchor(found.start(), end, (url,), is_number=False)
            elif urls := self._named(found["numbers"] or ""):
                new = _Anchor(found.start(), found.end(), urls, is_number=True)
                gap = _BETWEEN.match(self._prose, last.end, new.start) if last else None
                if last and last.is_number and gap and gap.end() == new.start:
                    last = _Anchor(last.start, new.end, last.urls + urls, is_number=True)
                    continue
            else:
                continue
            if last is not None:
                yield last
            last = new
        if last is not None:
            yield last

    def _named(self, numbers: str) -> tuple[str, ...]:
        found = (self._sources.get(int(number)) for number in re.findall("[0-9]+", numbers))
        return tuple(url for url in found if url)

    def _is_listed(self, at: int) -> bool:
        """Return whether a block is an entry of the list of sources, which quotes only titles."""
        index = bisect_right(self._listed, (at, len(self._prose))) - 1
        return index >= 0 and at < self._listed[index][1]

    def _line(self, at: int) -> int:
        return bisect_left(self._newlines, at) + 1


def _is_long(text: str) -> bool:
    """Return whether a text is long enough to be a quote."""
    if len(text) >= _LEAST_CHARS and len(words(text)) >= _LEAST_WORDS:
        return True
    return len(text) >= _SPACELESS_CHARS and sum(letter >= SPACELESS for letter in text) * 2 > len(
        text
    )


def _sources(prose: str) -> tuple[dict[int, str], list[tuple[int, int]]]:
    """Return the addresses in a list of sources by number, and the spans of its entries, in order."""
    labelled: dict[int, str] = {}
    items: dict[int, str] = {}
    spans: list[tuple[int, int]] = []
    item_spans: list[tuple[int, int]] = []
    for found in _SOURCE.finditer(prose):
        url = _trimmed(found["url"])
        if found["number"]:
            labelled.setdefault(int(found["number"]), url)
            if not _CITATION.match(found[0]):
                spans.append(found.span())
        else:
            if int(found["item"]) == 1:  # the last of several lists counts
                items.clear()
                item_spans.clear()
            items.setdefault(int(found["item"]), url)
            item_spans.append(found.span())
    if labelled or not _NUMBER.search(prose):
        return labelled, spans
    return items, item_spans


def _blocks(prose: str) -> Iterator[_Block]:
    """Yield paragraphs, items and quotations, in order."""
    start = end = run = 0
    is_open = was_quoted = False
    for line in prose.split("\n"):
        begin, behind = end, end + len(line)
        end = behind + 1
        mark = _QUOTED_LINE.match(line)
        is_quoted = mark is not None
        is_empty = not line[mark.end() if mark else 0 :].strip()
        is_new = is_quoted != was_quoted or (not is_quoted and _NEW_BLOCK.match(line) is not None)
        if is_open and (is_empty or is_new):
            yield _Block(start, begin, run, was_quoted)
            is_open = False
        if is_quoted != was_quoted or (is_empty and not is_quoted):
            run += 1
        was_quoted = is_quoted
        if not is_empty and not is_open:
            start, is_open = begin, True
    if is_open:
        yield _Block(start, len(prose), run, was_quoted)


def _trimmed(url: str) -> str:
    """Return an address without the punctuation of the sentence after it."""
    unopened = url.count(")") - url.count("(")
    while True:
        bare = url.rstrip(".,;:!?'*_~")
        if bare.endswith(")") and unopened > 0:
            bare = bare[:-1]
            unopened -= 1
        if bare == url:
            return url
        url = bare
