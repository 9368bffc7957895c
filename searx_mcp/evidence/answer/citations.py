"""Quotes of stored pages, each compared with the page before it is returned.

A quote is cut from the page's own bytes. What it shows must equal the text at its span, except for marks; otherwise
it is not a citation. This module never writes a word. Quotes and sentences of a report are compared after `normalised`,
which keeps marks that carry meaning.
"""

# ruff: noqa: RUF001 - quotation marks of many languages are intended

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final, NamedTuple
from unicodedata import normalize
from urllib.parse import quote

from searx_mcp.content.markdown import ESCAPE, code_span, code_spans, in_code
from searx_mcp.content.outline import inline_text
from searx_mcp.content.passages import score_all
from searx_mcp.content.sentences import plain, sentence_ends
from searx_mcp.content.words import words
from searx_mcp.evidence.answer.question import without_subject
from searx_mcp.evidence.storage.store import StoredChunk, StoredPage
from searx_mcp.evidence.values import Citation
from searx_mcp.models.page import Heading

_MOST_CHARS: Final = 600
"""A longer sentence is not quoted."""
_PAIR_CHARS: Final = 320
"""Maximum code points of two sentences together."""
_LEAST_WORDS: Final = 3
"""A sentence of fewer words says nothing by itself."""
_GAIN: Final = 0.1
"""Share of the question that a second sentence must add."""
_COLONS: Final = (":", "\uff1a")
_OPEN_SHARE: Final = 0.5
"""Weight of the score of an announcement, which says nothing itself."""
_ASKING: Final = ("?", "\uff1f", "\u061f")
"""Ends of a question, whose answer follows it."""

_EXACT_CHARS: Final = 80
"""Code points up to which a text fragment has the full quote. A longer quote is given by its ends: browsers
allow marks of footnotes and images between them."""
_EDGE_WORDS: Final = 5
_EDGE_CHARS: Final = 20
"""For scripts without spaces."""

_UNSEEN = re.compile(
    r"!\[[^\[\]\n]{0,500}+\]\([^()\n]{0,2100}+\)|\[image(?:: [^\[\]\n]{0,500}+)?\]"
    r"|\[\^[\w-]{1,20}\]:?"
    r"|(?<=\])\((?:<[^<>\n]{0,2100}+>|[^()\s]{0,2100}+(?:\([^()\s]{0,500}+\)[^()\s]{0,500}+){0,3})"
    r"(?:\s\"[^\"\n]{0,500}+\")?\)"
)
"""Images, footnote marks, and the addresses of links."""
_LINE_MARK = re.compile(
    r"^[ \t]*+(?:>[ \t]*+)*+(?:(?:[-+*]|[0-9]{1,3}[.)])[ \t]++(?:\[[ xX]\][ \t]++)?)?", re.MULTILINE
)
_LINE_START = re.compile(
    r"^[ \t]*+(?:#{1,6}[ \t]++|(?:\|[ \t:|-]*+|:?-{3,}[ \t:|-]*+)$|(?:`{3}|~{3,})[^\n]*+$)",
    re.MULTILINE,
)
"""Heading marks, table rules and code fences."""
_MARKS_OF_MARKDOWN: Final = "*_~#>|[]<^`-+"
_SHIELD: Final = str.maketrans(
    {mark: chr(0xE100 + number) for number, mark in enumerate(_MARKS_OF_MARKDOWN)}
)
_SIC = re.compile(r"[ \t]?\[sic!?\]", re.IGNORECASE)
_RAISED_TAG = re.compile(r"<sup>([^<>]{1,50}+)</sup>|([⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]{1,20}+)", re.IGNORECASE)
_LINE_RAISED = re.compile(r"(?<=[^\W\d_])\^([0-9]{1,3})|(?<=[^\W\d_])\^(-[0-9]{1,3})")
_LOWERED_TAG = re.compile(r"<sub>([^<>]{1,50}+)</sub>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:em|strong|b|i|u|mark|span|a|q|cite|code|small)(?:\s[^<>]{0,500}+)?>", re.IGNORECASE
)
_DIGITS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_STARRED = re.compile(r"(?<!\d)\*{1,3}(?=[^\s*])([^*]{1,1000}+)(?<=\S)\*{1,3}")
_UNDERSCORED = re.compile(r"(?<!\w)_(?=[^\s_])([^_]{1,1000}+)(?<=\S)_(?!\w)")
_EMPHASIS_DEPTH: Final = 2
_ESCAPED_OR_CODE = re.compile(r"`[^`]++`|\\(?P<mark>[!-/:-@\[-`{-~])")
_NO_SPACE = re.compile(r"~~|[\[\]`\u00ad]")
_MARKS = re.compile(r"[|]|\\$|<br\s?/?>", re.MULTILINE)
_ANY_MARK = re.compile(r"[*_`~#>|\\\[\]]")
_SAME: Final = str.maketrans(
    dict.fromkeys("“”„‟«»‹›「」『』", '"')
    | dict.fromkeys("‘’‚‛", "'")
    | dict.fromkeys("‐‑−", "-")
    | dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
    | {chr(0xE100 + number): mark for number, mark in enumerate(_MARKS_OF_MARKDOWN)}
)

_SILENT = re.compile(
    r"[ \t>]*+(?:(?:(?:[-+*]|[0-9]{1,3}[.)])[ \t]++)?#{1,6}[ \t]|[<‹]!--"
    r"|\[(?:image|caption)|[-*_=]{3,}[ \t]*+$|\|[ \t:|-]*+$|$)"
)
"""Lines that say nothing by themselves: headings, HTML comments, images, rules, and empty lines."""
_ITEM = re.compile(r"[ \t>]*+(?:[-+*]|[0-9]{1,3}[.)])[ \t]")
_BRACKET = re.compile(r"(?<!\\)[\[\]]")
_TERM = re.compile(r"\*\*(?P<term>[^\n]{1,300}?)\*\*:(?:[ \t]++|$)")
"""A term of a definition list. We add the colon, and the label of a callout: neither is in a quote."""
_CALLOUT = re.compile(
    r"(?:[\u2139\u26a0\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?[ \t]*+)\**+[^\W\d_]{2,14}:\**+[ \t]*+"
)
_FENCE = re.compile(r"[ \t>]*+(?:`{3}|~{3})")

_STATEMENT_CHARS: Final = 1_000
"""Maximum code points of a statement; a longer one is cut anywhere."""
_HEADING = re.compile(r"[ \t]*+(#{1,6})[ \t]++(.*)")
_RULER = re.compile(r"\|[ \t:|-]*+$")
_DEFINED = re.compile(r"[ \t>]*+(?:[-+*][ \t]++)?\*\*([^\n]{1,300}?)\*\*:")
"""A term of a definition list, which is a heading for what follows."""


class _Sentence(NamedTuple):
    """A quotable unit of a text: a sentence, a table row, or a line of code."""

    start: int
    end: int
    block: int
    shown: str
    term: str = ""


class MisquoteError(Exception):
    """A quote is not in its page."""


def cite(chunk: StoredChunk, page: StoredPage, question: str, *, source: int) -> Citation | None:
    """Quote the one or two sentences of a chunk that match a question best.

    Args:
        chunk: of the page. Linear in its text and in the page.
        page: as stored.
        question: what is asked; if the chunk contains nothing of it, the first sentence is quoted.
        source: number of the page among the sources.

    Returns:
        The quote, or `None` if the chunk has nothing to quote, such as a list of links.

    Raises:
        MisquoteError: the chunk is not at its span in the page, or the text at the quote's own span is not the
            quote.
    """
    kept = page.document.markdown.encode("utf-8", "replace")
    if not chunk.text or _cut(kept, chunk.start, chunk.end) != chunk.text:
        raise MisquoteError
    before = len(kept[: chunk.start].decode("utf-8", "replace"))
    is_code = in_code(page.document.markdown)
    best = _best(list(_sentences(chunk.text, lambda at: is_code(before + at))), question)
    if best is None:
        return None
    start = chunk.start + len(chunk.text[: best.start].encode("utf-8", "replace"))
    end = start + len(chunk.text[best.start : best.end].encode("utf-8", "replace"))
    found = _cut(kept, start, end)
    if not found or _letters(found) != _letters(best.shown):
        raise MisquoteError
    return Citation(
        source=source,
        text=best.shown,
        url=page.url,
        title=page.title,
        section=_section(chunk, before, best.start, page.document.outline),
        span=(start, end),
        retrieved_at=datetime.fromtimestamp(round(page.fetched_at), UTC).isoformat(),
        content_hash=page.content_hash,
        extractor=page.extractor,
        fragment_url=fragment_url(page.final_url or page.url, best.shown),
    )


def _section(chunk: StoredChunk, before: int, at: int, outline: Sequence[Heading]) -> str:
    """Return the heading above a quote: in the chunk, which may have several sections, else above the chunk."""
    starts = [heading.offset for heading in outline]
    index = bisect_right(starts, before + at) - 1
    if index >= 0 and starts[index] >= before:
        return outline[index].title
    return chunk.path[-1] if chunk.path else ""


def _letters(text: str) -> str:
    """Return what a displayed line shares with the bytes it is cut from: all but marks, anywhere."""
    seen = _UNSEEN.sub("", _LINE_MARK.sub("", text))
    return " ".join(_ANY_MARK.sub("", seen).translate(_SAME).split())


def normalised(text: str, *, is_inline: bool = False) -> str:
    """Return a text in the form in which texts are compared: without Markdown syntax, on one line.

    Removes images, the addresses of links, footnote, quote, heading and list marks, emphasis, brackets, `[sic]`, and
    the marks of superscripts and subscripts. Quotation marks, apostrophes and hyphens become ASCII, and any white space
    becomes one space. Words, figures, other signs and their order stay, and so do Markdown characters that are not syntax,
    as in code, `> 5`, `~5`, `C#` and `foo_bar`.

    Args:
        text: Markdown or plain text. Linear in its length.
        is_inline: whether it starts inside a line, where a line mark is a plain character.
    """
    text = _shielded(normalize("NFC", text))
    first, line_break, rest = text.partition("\n") if is_inline else ("", "", text)
    text = first + line_break + _LINE_START.sub("", _LINE_MARK.sub("", rest))
    text = _UNSEEN.sub("", _SIC.sub("", text))
    text = _LINE_RAISED.sub(_raised, _TAG.sub("", _RAISED_TAG.sub(_raised, text)))
    text = _LOWERED_TAG.sub(r"\1", text)
    for _ in range(_EMPHASIS_DEPTH):
        text = _UNDERSCORED.sub(r"\1", _STARRED.sub(r"\1", text))
    return " ".join(_MARKS.sub(" ", _NO_SPACE.sub("", text)).translate(_SAME).split())


def _shielded(text: str) -> str:
    """Protect characters that are not Markdown syntax: in code and after a backslash."""
    pieces: list[str] = []
    at = 0
    for start, end in code_spans(text) if "`" in text or "~~~" in text else ():
        code = text[start:end].strip("`") if text[start] == "`" else text[start:end]
        pieces += (ESCAPE.sub(_literal, text[at:start]), code.translate(_SHIELD))
        at = end
    return "".join((*pieces, ESCAPE.sub(_literal, text[at:])))


def _literal(found: re.Match[str]) -> str:
    return found[1].translate(_SHIELD)


def _raised(found: re.Match[str]) -> str:
    """Replace a superscript: after a figure by an exponent, elsewhere by plain letters."""
    raised = next(filter(None, found.groups()), "").translate(_DIGITS)
    before = found.string[found.start() - 1 : found.start()]
    return f"^{raised}" if before.isdecimal() and not raised[:1].isalpha() else raised


def fragment_url(address: str, text: str) -> str:
    """Return an address with a text fragment, with which a browser shows a quote on the page.

    See WICG, "URL Fragment Text Directives".

    Args:
        address: of the page; its own fragment stays, except for directives.
        text: the quote, in Markdown on one line.
    """
    before, _, fragment = address.partition("#")
    shown = inline_text(plain(text))
    first, *others = [cell.strip() for cell in shown.split(" | ") if cell.strip()] or [shown]
    if others:
        ends = [_edge(first, 1), _edge(others[-1], 1, is_last=True)]
    elif len(shown) > _EXACT_CHARS:
        ends = [_edge(shown, 2), _edge(shown, 2, is_last=True)]
    else:
        ends = [shown]
    return f"{before}#{fragment.partition(':~:')[0]}:~:text={','.join(map(_percent, ends))}"


def _edge(text: str, parts: int, *, is_last: bool = False) -> str:
    """Return the first or last words of a text, at most `1 / parts` of it."""
    found = text.split()
    many = min(_EDGE_WORDS, len(found) // parts)
    if many:
        return " ".join(found[-many:] if is_last else found[:many])
    chars = min(_EDGE_CHARS, len(text) // parts)
    return text[-chars:] if is_last else text[:chars]


def _percent(text: str) -> str:
    """Encode a part of a directive, in which `-`, `,` and `&` have special meanings."""
    return quote(text, safe="", errors="replace").replace("-", "%2D")


def _cut(kept: bytes, start: int, end: int) -> str:
    """Return the text at a span of bytes; empty if there is none."""
    if not 0 <= start < end <= len(kept):
        return ""
    try:
        return kept[start:end].decode()
    except UnicodeDecodeError:
        return ""


def _best(sentences: list[_Sentence], question: str) -> _Sentence | None:
    """Return the sentence that matches best, with an adjacent one if that adds to the answer."""
    if not sentences:
        return None
    matches = score_all([(each.shown, (each.term,)) for each in sentences], question)
    scores = [
        match.score * (_OPEN_SHARE if each.shown.endswith(_COLONS) else 1.0)
        for match, each in zip(matches, sentences, strict=True)
    ]
    # Sentences with what the part itself asks come first.
    own = without_subject(question)
    asked = [0.0] * len(sentences)
    if own != question:
        asked = [
            match.coverage for match in score_all([(each.shown, ()) for each in sentences], own)
        ]
    at = max(range(len(sentences)), key=lambda index: (asked[index], scores[index], -index))
    alone = sentences[at]
    pairs = [
        _Sentence(
            first.start,
            last.end,
            first.block,
            f"{first.shown}{' ' * (first.end < last.start)}{last.shown}",
            first.term,
        )
        for first, last in pairwise(sentences[max(0, at - 1) : at + 2])
        if first.block == last.block
    ]
    pairs = [each for each in pairs if len(each.shown) <= _PAIR_CHARS]
    if pairs and alone.shown.endswith(_ASKING) and pairs[-1].start == alone.start:
        return pairs[-1]
    beside = score_all([(each.shown, (each.term,)) for each in (alone, *pairs)], question)
    gains = [match.coverage - beside[0].coverage for match in beside[1:]]
    if gains and max(gains) >= _GAIN:
        return pairs[gains.index(max(gains))]
    return alone


def _sentences(text: str, is_code: Callable[[int], bool]) -> Iterator[_Sentence]:
    """Yield the quotable units in order: sentences, and single table rows and lines of code."""
    start = end = depth = 0
    term = ""
    for number, line in enumerate(text.split("\n")):
        begin, behind = end, end + len(line)
        end = behind + 1
        is_alone = is_code(begin) or line.lstrip().startswith("|")
        is_silent = _SILENT.match(line) is not None
        quoted = line[: len(line) - len(line.lstrip(" \t>"))].count(">")
        if is_alone or is_silent or quoted != depth or _ITEM.match(line):
            term = _term(text, start, begin) or term
            yield from _of_paragraph(text, start, begin, number, term)
            start = end if is_alone or is_silent else begin
            term = "" if line.startswith("#") else term
        depth = quoted
        if is_alone and not is_silent:
            yield from _of_line(text, begin, behind, number, is_code=is_code(begin))
    term = _term(text, start, len(text)) or term
    yield from _of_paragraph(text, start, len(text), end, term)


def _term(text: str, start: int, end: int) -> str:
    """Return the term that a paragraph defines, without its arguments; empty if it defines none."""
    mark = _LINE_MARK.match(text, start, end)
    found = _TERM.match(text, mark.end() if mark else start, end)
    return plain(found["term"].partition("(")[0]) if found else ""


def _of_paragraph(text: str, start: int, end: int, number: int, term: str) -> Iterator[_Sentence]:
    first = start
    for ours in (_LINE_MARK, _CALLOUT, _TERM):
        found = ours.match(text, first, end)
        first = found.end() if found else first
    for stop in (*(first + at for at in sentence_ends(text[first:end])), end):
        piece = text[first:stop]
        shown = " ".join(plain(_LINE_MARK.sub("", piece)).split())
        is_torn = "](" in shown or shown.count("[") != shown.count("]")
        if is_torn or _letters(shown) != _letters(piece):
            bare = _UNSEEN.sub("", _LINE_MARK.sub("", piece))
            shown = " ".join(_BRACKET.sub("", bare).split())
        if _is_worth(shown):
            at = first + len(piece) - len(piece.lstrip())
            yield _Sentence(at, first + len(piece.rstrip()), number, _unescaped(shown), term)
        first = stop


def _of_line(text: str, start: int, end: int, number: int, *, is_code: bool) -> Iterator[_Sentence]:
    line = text[start:end].strip()
    shown = code_span(line) if is_code and line else plain(line).strip("| ")
    if _is_worth(shown) and not _FENCE.match(line):
        at = text.index(line, start)
        yield _Sentence(at, at + len(line), number, shown if is_code else _unescaped(shown))


def _unescaped(text: str) -> str:
    """Remove Markdown's backslashes; those in code belong to the page."""
    return _ESCAPED_OR_CODE.sub(lambda found: found["mark"] or found[0], text)


def _is_worth(shown: str) -> bool:
    return len(shown) <= _MOST_CHARS and len(words(shown)) >= _LEAST_WORDS


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
        if heading or not line.strip() or _ITEM.match(line):
            yield from self.end()
        if heading:
            level = len(heading[1])
            self._term = ""
            while self._above and self._above[-1][0] >= level:
                self._above.pop()
            self._above.append((level, normalised(heading[2][:_STATEMENT_CHARS])))
        elif line.strip():
            self._lines.append(line)

    def end(self) -> Iterator[PageSentence]:
        if term := _DEFINED.match(self._lines[0]) if self._lines else None:
            self._term = normalised(term[1].partition("(")[0])
        title = " ; ".join(filter(None, (self._title(), self._term)))
        text = normalised("\n".join(self._lines))
        self._lines.clear()
        start = 0
        for stop in (*sentence_ends(text), len(text)):
            for low in range(start, stop, _STATEMENT_CHARS):
                yield PageSentence(text[low : min(stop, low + _STATEMENT_CHARS)].strip(), title)
            start = stop

    def _row(self, line: str) -> Iterator[PageSentence]:
        if _RULER.match(line.strip()):
            return
        row = normalised(line.replace("|", " ; "))[:_STATEMENT_CHARS]
        yield PageSentence(row, f"{self._title()} ; {self._header}")
        self._header = self._header or row

    def _title(self) -> str:
        return " ; ".join(text for _, text in self._above)
