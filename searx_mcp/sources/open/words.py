"""Splits a query into words and phrases, and finds those of its subject between frames and function words.

`words.toml` has the words that reveal the subject.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import islice
from typing import Any, Final, NamedTuple

from searx_mcp.content.clean import clean
from searx_mcp.content.words import FUNCTION_WORDS, folded
from searx_mcp.sources.open.engine import word_set
from searx_mcp.sources.open.table import ENGINES

_TABLES: Final[dict[str, Any]] = tomllib.loads(
    files(__package__).joinpath("words.toml").read_text(encoding="utf-8")
)


def _lists(table: Mapping[str, str]) -> dict[str, frozenset[str]]:
    return {name: word_set(text) for name, text in table.items()}


def _frames(text: str) -> frozenset[str]:
    return frozenset(" ".join(frame.split()) for frame in text.split(","))


WORDS: Final = _lists(_TABLES["words"])
"""Words and expressions, as from `grams`, by their meaning, which `words.toml` explains."""

FRAMES: Final = {name: _frames(text) for name, text in _TABLES["frames"].items()}
"""Frames around the subject, by their meaning."""

ENDINGS: Final = {name: tuple(text.split()) for name, text in _TABLES["endings"].items()}
"""Word endings, by their meaning."""

MEDIATYPES: Final = _lists(_TABLES["files"])
"""Words by the Internet Archive's mediatype; the first match counts."""

DEFAULT_TOPIC: Final = "stackoverflow"
"""The site for code that fits no other site."""

COMPUTERS: Final = _lists(_TABLES["topics"]["computers"])
"""Words by their site of Stack Exchange, for sites about computers."""

SUBJECTS: Final = _lists(_TABLES["topics"]["subjects"])
"""The same for all other sites."""


def topic_of(grams: Collection[str], *, is_code: bool) -> str:
    """Return the site with the most words of a question; an expression counts as its number of words.

    Args:
        grams: words and expressions of the question, see `grams`.
        is_code: whether it is about programs; then only sites about computers fit.

    Returns:
        A name of Stack Exchange's API, or empty if no site fits better than others of its kind.
    """
    found = set(grams)
    sites = COMPUTERS if is_code else COMPUTERS | SUBJECTS
    best, most = "", 0
    for site, told in sites.items():
        weight = sum(1 + word.count(" ") for word in told & found)
        if weight > most:
            best, most = site, weight
    return best


MAX_PARTS: Final = 200
"""Maximum words that are checked; a query of 500 characters has some eighty."""
_LONGEST_GRAM: Final = 4

_QUOTES: Final = str.maketrans(
    {
        "\u201c": '"',
        "\u201d": '"',
        "\u201e": '"',
        "\u00ab": '"',
        "\u00bb": '"',
        "\u2019": "'",
        "\u2018": "'",
    }
)
_SYNTAX: Final = "!?:<"
_LANGUAGE = re.compile(r":(?:[a-z]{2}(?:[-_][a-z]{2})?|all|auto)", re.IGNORECASE)
_TIMEOUT = re.compile(r"<[0-9]{1,5}")
_OPERATOR = re.compile(
    r"(-?)(site|filetype|ext|intitle|allintitle|inurl|allinurl|intext|before|after):(.*)",
    re.IGNORECASE | re.DOTALL,
)
_DATE = re.compile(r"[0-9]{4}(?:-[0-9]{2}){0,2}")
_HOST = re.compile(
    r"(?:https?://)?(?:\*?\.)?((?:[a-z0-9-]{1,63}\.){0,10}[a-z0-9-]{1,63})\.?(?:[:/].*)?", re.DOTALL
)
_OPENING: Final = "([{<'\"\u00bf\u00a1\u300c\u300e\u3010\uff08*`"
_CLOSING: Final = (
    ")]}>'\"`,;:!?*\u2026\u3002\u3001\uff01\uff1f\uff0c\u300d\u300f\u3011\uff09\u061f."
)
_SIGNS: Final = "-\u2013\u2014/\\|~=&+"
_BEFORE_QUOTE: Final = tuple(" \t([{,;:-/")
_AFTER_QUOTE: Final = tuple(" \t)]},;:.!?-/")
_BOOLEAN: Final = frozenset({"AND", "OR", "NOT"})


class QueryPart(NamedTuple):
    """A word or a quoted phrase.

    Attributes:
        text: in its own spelling, without surrounding punctuation.
        folded: in lower case without accents.
        is_phrase: whether it was quoted.
    """

    text: str
    folded: str
    is_phrase: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """A query split into parts.

    Attributes:
        text: the rest on one line; quoted phrases keep their quotes.
        parts: its words and phrases, without those after a minus sign.
        sites, not_sites: domains of `site:` and `-site:`.
        filetype: of `filetype:`, in lower case.
    """

    text: str
    parts: tuple[QueryPart, ...]
    sites: tuple[str, ...] = ()
    not_sites: tuple[str, ...] = ()
    filetype: str = ""


class _Cutter:
    def __init__(self) -> None:
        self.words: list[str] = []
        self.parts: list[QueryPart] = []
        self.sites: dict[str, None] = {}
        self.not_sites: dict[str, None] = {}
        self.filetype = ""

    def phrase(self, text: str) -> None:
        text = " ".join(text.split())
        if text and " " not in text and text[0] in _SYNTAX:
            # These quotes switch off an instance's own syntax.
            self.word(text)
            return
        if _is_told(text):
            self.words.append(f'"{text}"')
            self.parts.append(QueryPart(text, folded(text), is_phrase=True))

    def word(self, word: str) -> None:
        operator = _OPERATOR.fullmatch(word)
        if operator is not None:
            word = self._without_operator(operator)
        word = _without_syntax(word)
        if not word:
            return
        self.words.append(word)
        is_excluded = len(word) > 2 and word[0] == "-" and word[1:].isalpha()  # noqa: PLR2004 - `-x` is an option
        bare = _bare(word)
        if _is_told(bare) and bare not in _BOOLEAN and not is_excluded:
            self.parts.append(QueryPart(bare, folded(bare)))

    def _without_operator(self, operator: re.Match[str]) -> str:
        minus, name, value = operator[1], operator[2].lower(), operator[3].strip('"')
        match name:
            case "site":
                host = _HOST.fullmatch(value.lower())
                if host is not None:
                    (self.not_sites if minus else self.sites)[host[1].removeprefix("www.")] = None
                return ""
            case "filetype" | "ext":
                if not minus and value.isalnum():
                    self.filetype = value.lower()
                return ""
            case "before" | "after":
                return "" if _DATE.fullmatch(value) else operator[0]
            case _:
                return minus + value


def cut(text: str) -> Cut:
    """Split a query; linear in its length, never raises.

    Args:
        text: as the caller wrote it, or with the quotes that switch off an instance's syntax.
    """
    cutter = _Cutter()
    segments = clean(text).translate(_QUOTES).split('"')
    for place, segment in enumerate(segments):
        if place % 2 and _is_quoted(segments, place):
            cutter.phrase(segment)
        else:
            for word in segment.split():
                cutter.word(word)
    return Cut(
        text=" ".join(cutter.words),
        parts=tuple(cutter.parts[:MAX_PARTS]),
        sites=tuple(cutter.sites),
        not_sites=tuple(cutter.not_sites),
        filetype=cutter.filetype,
    )


def grams(parts: Iterable[QueryPart]) -> frozenset[str]:
    """Return the words of a question and its expressions of up to four words, in the word lists' form."""
    tokens = [token for part in parts for token in part.folded.split()][:MAX_PARTS]
    return frozenset(_grams(tokens))


def _grams(tokens: list[str]) -> Iterator[str]:
    for start, token in enumerate(tokens):
        yield from _forms(token)
        gram = token
        for following in islice(tokens, start + 1, start + _LONGEST_GRAM):
            gram = f"{gram} {following}"
            yield gram


def _forms(token: str) -> Iterator[str]:
    yield token
    if token.endswith("'s"):
        yield token[:-2]
    if "-" in token:
        yield token.replace("-", " ")


def _is_quoted(segments: list[str], place: int) -> bool:
    """Return whether a piece between two quotes was quoted; in `27" monitor, 32" or` they are inches."""
    if place == len(segments) - 1:
        return False
    before, inside, after = segments[place - 1], segments[place], segments[place + 1]
    return (
        (not before or before.endswith(_BEFORE_QUOTE))
        and (not after or after.startswith(_AFTER_QUOTE))
        and bool(inside.strip())
        and not inside[0].isspace()
    )


def _without_syntax(word: str) -> str:
    """Return a word without SearXNG's commands; what may be meant as a word stays one."""
    if not word or word[0] not in _SYNTAX:
        return word
    if _TIMEOUT.fullmatch(word) or _LANGUAGE.fullmatch(word):
        return ""
    bare = word.lstrip(_SYNTAX)
    return "" if word[0] == "!" and bare.lower() in WORDS["bangs"] else bare


def _bare(word: str) -> str:
    # A dot stays before `.NET`, a plus sign after `C++`, and a bracket that was opened inside.
    start, end = 0, len(word)
    while start < end and word[start] in _OPENING:
        start += 1
    while end > start and word[end - 1] in _CLOSING:
        end -= 1
    bare = word[start:end]
    if bare.count("(") > bare.count(")") and word[end : end + 1] == ")" and bare[-1] != "(":
        bare += ")"
    return bare.rstrip("([{").lstrip(_SIGNS)


def _is_told(text: str) -> bool:
    return any(map(str.isalnum, text))


MAX_KEYWORDS: Final = 6
_FRAME_WORDS: Final = 7
"""Words of the longest frame."""
_MOST_FRAMES: Final = 3
"""Maximum frames removed from one end: `please tell me`, `what is the best way to`."""

_SOURCE_FRAMES: Final = frozenset[str]().union(*(engine.words.frames for engine in ENGINES))
"""These determine the collection."""
_FIRST_FRAMES: Final = FRAMES["practical"] | FRAMES["defining"] | FRAMES["opening"]
_ALWAYS: Final = _SOURCE_FRAMES | FRAMES["failures"]

_YEAR = re.compile(r"20[2-4][0-9]")
_ELISION = re.compile(r"(?:qu|[ldjnscmt])'(?=\w{2})", re.IGNORECASE)
_PARTICLE = re.compile("[\u3041-\u309f]{1,2}")
"""Hiragana that stand alone."""

_NAMES: Final = WORDS["code"] | WORDS["ambiguous"] | WORDS["coding"] | WORDS["technology"]
_FOREIGN: Final = FUNCTION_WORDS - WORDS["english"] - _NAMES
_ACRONYM_LENGTH: Final = 5
_LONG: Final = 10
"""Letters from which a word counts as long."""


def opens_with(parts: Sequence[QueryPart], frames: Collection[str]) -> bool:
    """Return whether a question begins with one of the frames.

    Args:
        parts: of the query, in order.
        frames: in the form of `FRAMES`.
    """
    return bool(_frame_at(_tokens(parts), 0, frames))


def content(parts: Sequence[QueryPart], *, is_code: bool, is_news: bool) -> tuple[QueryPart, ...]:
    """Extract the subject of a question: its parts without frames and function words.

    Args:
        parts: of the query, in order.
        is_code: whether it is about programs; then `image of` and the like are not frames.
        is_news: whether it asks for news; then a year beside a word such as `latest` is part of the frame.

    Returns:
        Parts in their order; all of them if nothing else were left.
    """
    tokens = _tokens(parts)
    kept = [True] * len(tokens)
    _take_opening(tokens, kept)
    _take_inner(tokens, kept, _ALWAYS if is_code else _ALWAYS | FRAMES["media"])
    closing = FRAMES["closing"] if is_code else FRAMES["closing"] | FRAMES["closing_media"]
    _take_closing(tokens, kept, closing)
    if is_news and WORDS["fresh"].intersection(tokens):
        for place, token in enumerate(tokens):
            kept[place] &= token not in WORDS["fresh"] and not _YEAR.fullmatch(token)
    left = [part for part, keep in zip(parts, kept, strict=True) if keep]
    left = _without_function_words(left, is_foreign=_is_foreign(tokens))
    return tuple(left) or tuple(parts)


def keywords(parts: Sequence[QueryPart]) -> tuple[str, ...]:
    """Return the texts of the most significant parts, at most six, in their order, each once."""
    once = {part.folded: part for part in reversed(parts)}
    parts = [part for part in parts if once.get(part.folded) is part]
    told = [part for part in parts if part.is_phrase or part.folded not in WORDS["filler"]]
    parts = told if len(told) > 1 else parts
    ranked = sorted(range(len(parts)), key=lambda place: -_weight(parts[place], place))
    return tuple(parts[place].text for place in sorted(ranked[:MAX_KEYWORDS]))


def _tokens(parts: Sequence[QueryPart]) -> list[str]:
    # A phrase is not part of a frame.
    return ["" if part.is_phrase else part.folded for part in parts]


def _frame_at(tokens: Sequence[str], place: int, frames: Collection[str]) -> int:
    """Return the length of the longest frame at a place, 0 if there is none."""
    for length in range(min(_FRAME_WORDS, len(tokens) - place), 0, -1):
        if " ".join(tokens[place : place + length]) in frames:
            return length
    return 0


def _take_opening(tokens: Sequence[str], kept: list[bool]) -> None:
    place = 0
    for _ in range(_MOST_FRAMES):
        length = _frame_at(tokens, place, _FIRST_FRAMES)
        kept[place : place + length] = [False] * length
        place += length


def _take_inner(tokens: Sequence[str], kept: list[bool], frames: Collection[str]) -> None:
    place = 0
    while place < len(tokens):
        length = _frame_at(tokens, place, frames)
        kept[place : place + length] = [False] * length
        place += max(1, length)


def _take_closing(tokens: Sequence[str], kept: list[bool], frames: Collection[str]) -> None:
    end = len(tokens)
    for _ in range(_MOST_FRAMES):
        for length in range(min(_FRAME_WORDS, end), 0, -1):
            if " ".join(tokens[end - length : end]) in frames:
                kept[end - length : end] = [False] * length
                end -= length
                break


def _is_foreign(tokens: Sequence[str]) -> bool:
    english = sum(token in WORDS["english"] for token in tokens)
    foreign = sum(token in _FOREIGN for token in tokens)
    return foreign > english and (foreign > 1 or not WORDS["strong_foreign"].isdisjoint(tokens))


def _without_function_words(parts: Sequence[QueryPart], *, is_foreign: bool) -> list[QueryPart]:
    shouts = all(part.text.isupper() for part in parts)
    left = []
    for part in parts:
        is_acronym = 1 < len(part.text) <= _ACRONYM_LENGTH and part.text.isupper() and not shouts
        is_name = part.is_phrase or part.folded in _NAMES or is_acronym
        drops = FUNCTION_WORDS if is_foreign or not part.folded.isascii() else WORDS["english"]
        if is_name or not (part.folded in drops or _PARTICLE.fullmatch(part.folded)):
            left.append(_without_article(part) if is_foreign and not part.is_phrase else part)
    return left


def _without_article(part: QueryPart) -> QueryPart:
    """Return a word without an elided French article."""
    article = _ELISION.match(part.text)
    return QueryPart(part.text[article.end() :], part.folded[article.end() :]) if article else part


def _weight(part: QueryPart, place: int) -> float:
    """Return a part's significance: phrases and code most, then names, then long words."""
    text = part.text
    weight = min(len(text), _LONG) / _LONG
    has_digit = any(map(str.isdigit, text))
    if part.is_phrase:
        weight += 3
    if part.folded in WORDS["weak"]:
        weight -= 2
    if part.folded in _NAMES:
        weight += 1
    if (
        any(map(str.isupper, text[1:]))
        or (has_digit and any(map(str.isalpha, text)))
        or "_" in text
    ):
        weight += 1.5
    elif place and text[:1].isupper():
        weight += 1
    elif text.replace(".", "").isdigit():
        weight -= 0.5
    return weight
