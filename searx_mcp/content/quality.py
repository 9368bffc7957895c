"""How much a page that was read is worth to the one who asked.

The score is 0.5 relevance + 0.35 density + 0.15 of its kind, each 0 to 1, and 0 for a page of which
nothing is worth giving.

- *Relevance*: the mean over the terms of the question of how well the page covers each: 1 in the title,
  0.9 in a heading, else n / (n + 1.5) for n times in the text.
- *Density*: how much there is (0.4, full from 600 words on), how much of it is sentences (0.3), how
  little of it is links (0.2), and how varied its words are (0.1).
- *Kind*: what pages of the kind are good for when they are read.

Without a question, density and kind share the whole.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from searx_mcp.content.terms import folded, stems, terms, tokens
from searx_mcp.content.walls import PHRASES
from searx_mcp.models.page import PageKind
from searx_mcp.models.response import Poor

_RELEVANCE: Final = 0.5
_DENSITY: Final = 0.35
_KIND: Final = 0.15
"""A page about something else is worth nothing however dense it is, so relevance has half."""

_KINDS: Final = {
    PageKind.DOCUMENTATION: 1.0,
    PageKind.ARTICLE: 0.9,
    PageKind.FORUM: 0.8,
    PageKind.SERVICE: 0.6,
    PageKind.PRODUCT: 0.6,
    PageKind.COLLECTION: 0.35,
    PageKind.LISTING: 0.35,
}
_UNKNOWN_KIND: Final = 0.6

_IN_TITLE: Final = 1.0
_IN_HEADING: Final = 0.9
_HALF: Final = 1.5

_LOOKED_AT: Final = 4_000
"""Characters of the page of which density and signs are taken; about 0.5 ms."""
_SEARCHED: Final = 20_000
"""Characters in which the terms of the question are counted."""
_FULL: Final = 600
_SENTENCE: Final = 30
_VARIED: Final = 0.5
"""Of 487 pages of all kinds half have .54 different words among the first 400, and one in twenty less than
.41."""
_VARIETY_OF: Final = 400

_EMPTY: Final = 10
"""Words below which there is nothing to read."""
_SHORT: Final = 200
"""Words below which a page may be nothing but a wall."""
_FIRST_SCREEN: Final = 1_000
_ERROR_SCREEN: Final = 300
_CONSENTS: Final = 2
"""Phrases about cookies that a wall has at least; one stands in the footer of many pages."""

_JUDGED: Final = 80
"""Words from which on repetition says something."""
_STUFFED: Final = 0.2
_STUFFED_LIST: Final = 0.4
_REPEATED: Final = 0.65
_BOTH: Final = (0.1, 0.45)
"""Spam: share of its most frequent word, share of its runs of four words that occur four times or more, or
both at once; in a list the first alone, from `_STUFFED_LIST` on. Set so that none of the 1,497 main texts of
WCXB's development set is spam: rows of products have repeated runs up to .85 and a word up to .25."""
_LISTED: Final = 40
"""Words for each full stop, from which on a text is a list: rows of products repeat each other rightly."""
_RUN: Final = 4
_OFTEN: Final = 4
_SHORTEST_KEYWORD: Final = 3

_PROTECTED: Final = 0.6
"""What is left of the score of a page that says it is not free: it may go on behind a wall."""

_LABEL = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_TARGET = re.compile(r"(?<=\])\([^()\s]*\)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*)$", re.MULTILINE)
_SENTENCE_END = re.compile(
    "[.!?\u2026\u061f\u06d4\u0964\u17d4\u104b](?=\\s|$)|[\u3002\uff01\uff1f]"
)
_UNPUNCTUATED = re.compile("[\u0e00-\u0eff]")
"""Thai and Lao, whose sentences have no marks."""
_UNKNOWN_PROSE: Final = 0.7
_JOINED: Final = "\u0600"
"""From here on, scripts in which a term may stand inside a longer run of letters."""


@dataclass(frozen=True, slots=True)
class Quality:
    """What a page is worth.

    Attributes:
        score: 0 to 1.
        poor: why nothing of it is worth giving, or `None`.
    """

    score: float
    poor: Poor | None = None


def assess(
    markdown: str,
    *,
    query: str = "",
    title: str = "",
    kind: PageKind | None = None,
    is_protected: bool = False,
) -> Quality:
    """Judge a page.

    Args:
        markdown: its main content, or the beginning of it.
        query: what the reader wants to know; may be empty.
        title: of the page.
        kind: what it is, if that is known.
        is_protected: whether it says that it is not free to read.
    """
    asked = tuple(dict.fromkeys(terms(query))) if query else ()
    beginning = _TARGET.sub("", markdown[:_LOOKED_AT])
    found = tokens(beginning)
    poor = _wall(beginning, title, found, asked)
    if poor is None and is_protected and len(found) < _SHORT:
        poor = Poor.PAYWALL
    if poor is None and _is_spam(beginning, found):
        poor = Poor.SPAM
    if poor is not None:
        return Quality(0.0, poor)
    score = _DENSITY * _density(markdown, beginning, found) + _KIND * _kind(kind)
    if asked:
        score += _RELEVANCE * _relevance(markdown, title, asked)
    else:
        score /= _DENSITY + _KIND
    return Quality(round(score * (_PROTECTED if is_protected else 1.0), 4))


def _kind(kind: PageKind | None) -> float:
    return _UNKNOWN_KIND if kind is None else _KINDS[kind]


def _relevance(markdown: str, title: str, asked: Sequence[str]) -> float:
    """How much of the question the page covers."""
    text = markdown[:_SEARCHED]
    in_title = set(terms(title))
    in_headings = set(terms(" ".join(_HEADING.findall(text))))
    counts = _counts(text, [term for term in asked if term not in in_title])
    return sum(
        _IN_TITLE
        if term in in_title
        else max(_IN_HEADING * (term in in_headings), counts[term] / (counts[term] + _HALF))
        for term in asked
    ) / len(asked)


def _counts(text: str, wanted: Sequence[str]) -> dict[str, int]:
    """How often terms stand in a text, words by their beginnings: faster than taking all words apart."""
    lower = folded(text)
    return {
        term: lower.count(term)
        if term >= _JOINED
        # The literal first, so that the search for it is fast; then that no letter is before it.
        else len(re.findall(rf"{re.escape(term)}(?<!\w{re.escape(term)})", lower))
        for term in wanted
    }


def _density(markdown: str, beginning: str, found: Sequence[str]) -> float:
    size = len(found) * max(1.0, len(markdown) / max(1, _LOOKED_AT))
    amount = min(1.0, math.log1p(size) / math.log1p(_FULL))
    linked = sum(map(len, _LABEL.findall(markdown[:_LOOKED_AT]))) / max(1, len(beginning))
    if _UNPUNCTUATED.search(beginning):
        prose = _UNKNOWN_PROSE
    else:
        prose = min(1.0, _SENTENCE * len(_SENTENCE_END.findall(beginning)) / max(1, len(found)))
    first = found[:_VARIETY_OF]
    variety = min(1.0, len(set(first)) / max(1, len(first)) / _VARIED)
    return 0.4 * amount + 0.3 * prose + 0.2 * (1 - min(1.0, linked)) + 0.1 * variety


def _wall(beginning: str, title: str, found: Sequence[str], asked: Sequence[str]) -> Poor | None:
    """What a short page shows instead of what was looked for."""
    if len(found) >= _SHORT:
        return None
    screen = f"{title}\n{beginning[:_FIRST_SCREEN]}".lower()
    for poor, phrases in PHRASES.items():
        shown = screen[: len(title) + _ERROR_SCREEN] if poor is Poor.ERROR else screen
        hits = [phrase for phrase in phrases if phrase in shown]
        enough = _CONSENTS if poor is Poor.CONSENT else 1
        # Who asks about logging in or about an error may well be answered by such a page.
        if len(hits) >= enough and not set(asked) & set(stems(tokens(" ".join(hits)))):
            return poor
    return Poor.EMPTY if len(found) < _EMPTY else None


def _is_spam(beginning: str, found: list[str]) -> bool:
    """Whether a text repeats itself as no person would."""
    if len(found) < _JUDGED:
        return False
    keywords = Counter(
        stem for stem in stems(found) if len(stem) >= _SHORTEST_KEYWORD or stem >= _JOINED
    )
    top = max(keywords.values(), default=0) / len(found)
    is_list = len(_SENTENCE_END.findall(beginning)) * _LISTED < len(found)
    if is_list or top >= _STUFFED:
        return top >= (_STUFFED_LIST if is_list else _STUFFED)
    runs = Counter(zip(*(found[at:] for at in range(_RUN)), strict=False))
    repeated = sum(count for count in runs.values() if count >= _OFTEN) / len(found)
    return repeated >= _REPEATED or (top >= _BOTH[0] and repeated >= _BOTH[1])
