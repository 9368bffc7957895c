"""Patterns of questions: frames around the subject, and function words."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from searx_mcp.content.words import FUNCTION_WORDS
from searx_mcp.sources.open.routing.words import FRAMES, WORDS, QueryPart
from searx_mcp.sources.open.table import ENGINES

MAX_KEYWORDS: Final = 6
_LONGEST: Final = 7
"""Words of the longest frame."""
_TIMES: Final = 3
"""Maximum frames removed from one end: `please tell me`, `what is the best way to`."""

_SOURCES: Final = frozenset[str]().union(*(engine.words.frames for engine in ENGINES))
"""These determine the collection."""
_OPENING: Final = FRAMES["practical"] | FRAMES["defining"] | FRAMES["opening"]
_ALWAYS: Final = _SOURCES | FRAMES["failures"]

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
    for length in range(min(_LONGEST, len(tokens) - place), 0, -1):
        if " ".join(tokens[place : place + length]) in frames:
            return length
    return 0


def _take_opening(tokens: Sequence[str], kept: list[bool]) -> None:
    place = 0
    for _ in range(_TIMES):
        length = _frame_at(tokens, place, _OPENING)
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
    for _ in range(_TIMES):
        for length in range(min(_LONGEST, end), 0, -1):
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
