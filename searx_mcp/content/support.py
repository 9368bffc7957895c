"""Whether any passage supports a question: what decides between evidence and "not found".

The score is the share of the question that stands in a few sentences of one passage, by the weight of its words. A
number or a name of the question that is not there tells more than any other word: a page about another model,
version, year or town has all the rest. How the rule was chosen, and how far it can be trusted:
`docs/decisions/passages.md`.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from searx_mcp.content.passages import UNLIKE, Words, weigh
from searx_mcp.content.words import ASKING_PARTS, ASKING_WORDS, stems, tokens

_WINDOW: Final = 250
"""Code points within which words support each other, two or three sentences."""
_FEWEST: Final = 8
"""Words of a window at least."""
_FLOOR: Final = 0.8
"""Least score of a passage that answers a question of one word."""
_LENIENCE: Final = 0.3
"""By how much the floor sinks with the logarithm of the question's words: few share all of a long question."""
_LOWEST: Final = 0.2
"""The floor of the longest question."""
_LOST: Final = 0.6
"""What is taken off for a number that does not stand there, and for a name that stands nowhere."""
_ALIKE: Final = 4
"""Letters that two forms of a word have in common at least: `lock`, `locked`."""
_LONGER: Final = 2
"""Letters that one of them may have more, of the six that a term has."""
_MOST_MISSING: Final = 5

_ASKING = re.compile("|".join(ASKING_PARTS))
_EDGES: Final = "?!.,:;\"'()[]{}\u00ab\u00bb\u201e\u201c\u201d\u00bf\u00a1\uff1f\u061f\u3002"
_SUFFIX = re.compile(r"(?<=\w\w)['\u2019]\w{1,4}$")
"""Endings that are written behind an apostrophe: `UMC's`, `Tesla'dan`."""
_CODE = re.compile(r"[a-z][A-Z]|\w(?:_|\.|::)\w|^--\w|\w\(")
_GERMAN: Final = frozenset(
    (
        "der",
        "das",
        "dem",
        "den",
        "ein",
        "eine",
        "ist",
        "wird",
        "wie",
        "wer",
        "wann",
        "wo",
        "zu",
        "mit",
        "fur",
        "und",
        "im",
    )
)
"""In German every noun has a capital."""
_DIGIT = re.compile(r"\d")
_DECADE = re.compile(r"(\d{2,})[^\W\d]+")
"""A number with an ending, such as `1970er`."""
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_LETTERS_OF_A_WORD: Final = {2: 2, 3: 4}
"""Letters of a usual word in scripts without spaces, by those of its terms."""


@dataclass(frozen=True, slots=True)
class Support:
    """How far passages support a question.

    Attributes:
        score: 0 to 1, of the best passage.
        answered: whether that is enough to take it for an answer.
        missing: words of the question, as asked, that the best passage lacks; the rarest first, five at most.
        best: index of the best passage; `None` if there is none.
    """

    score: float
    answered: bool
    missing: tuple[str, ...] = ()
    best: int | None = None


UNSUPPORTED: Final = Support(0.0, answered=False)


@dataclass(frozen=True, slots=True)
class _Question:
    """A question by its terms, each once.

    Attributes:
        words: the words as asked, by term.
        numbers: terms with a digit.
        names: terms of names.
        code: those of names in code.
        joined: neighbours within one name of code, such as `parcel.returned`.
        length: how many words it has.
    """

    words: dict[str, str]
    numbers: frozenset[str]
    names: frozenset[str]
    code: frozenset[str]
    joined: frozenset[tuple[str, str]]
    length: float


@dataclass(frozen=True, slots=True)
class _Located:
    """Where terms of a question stand: in the titles, and at which places of a passage."""

    titles: frozenset[str]
    places: list[tuple[int, str]]
    window: int

    def terms(self) -> frozenset[str]:
        return self.titles.union(term for _, term in self.places)

    def densest(self, weights: Mapping[str, float]) -> frozenset[str]:
        """The terms of the titles and of the place where most of the question stands close together."""
        count = Counter[str]()
        weight = most = 0.0
        first, best = 0, (0, 0)
        for last, (place, term) in enumerate(self.places):
            count[term] += 1
            weight += weights[term] if count[term] == 1 and term not in self.titles else 0.0
            while place - self.places[first][0] >= self.window:
                gone = self.places[first][1]
                count[gone] -= 1
                weight -= weights[gone] if not count[gone] and gone not in self.titles else 0.0
                first += 1
            if weight > most:
                most, best = weight, (first, last + 1)
        return self.titles.union(term for _, term in self.places[slice(*best)])


def support(
    question: str, passages: Sequence[Words], *, weights: Mapping[str, float] | None = None
) -> Support:
    """Tell how far the best of some passages supports a question.

    Args:
        question: in words.
        passages: of one page, by their words; linear in their length.
        weights: of the question's terms (`words.terms`), as `passages.weigh` gives them for a collection;
            among the passages unless given.

    Returns:
        Of a question that only asks, such as "Summarize the main points", that any passage answers it.
    """
    asked = _asked(question)
    if not asked.words:
        return Support(0.0, answered=bool(passages), best=0 if passages else None)
    alike = _Alike(asked.words, asked.numbers | asked.code)
    located = [_locate(each, alike) for each in passages]
    known = [each.terms() for each in located]
    times = {term: sum(term in each for each in known) for term in asked.words}
    weighed = {**weigh(times, len(passages) + UNLIKE), **(weights or {})}
    best, score, found = None, -1.0, frozenset[str]()
    for index, each in enumerate(located):
        near = each.densest(weighed)
        share = _share(near, asked.words, weighed)
        if share > score:
            best, score, found = index, share, near
    present = frozenset(term for term, count in times.items() if count)
    score = max(0.0, score - _lost(asked, present, found, passages))
    floor = max(_LOWEST, _FLOOR - _LENIENCE * math.log(asked.length))
    return Support(
        score, best is not None and score >= floor, _missing(asked, found, weighed), best
    )


def _asked(question: str) -> _Question:
    """Take a question apart; words that only ask are left out."""
    plain = _ASKING.sub(" ", question)
    is_german = not _GERMAN.isdisjoint(tokens(plain))
    words: dict[str, str] = {}
    numbers, names, code = set[str](), set[str](), set[str]()
    joined = set[tuple[str, str]]()
    for place, written in enumerate(plain.split()):
        word = _SUFFIX.sub("", written.strip(_EDGES))
        own = stems([token for token in tokens(word) if token not in ASKING_WORDS])
        is_code = bool(_CODE.search(word))
        if is_code:
            joined.update(pairwise(own))
            code.update(own)
        is_name = is_code or (place > 0 and not is_german and word[:1].isupper())
        for term in own:
            words.setdefault(term, word)
            if _DIGIT.search(term):
                numbers.add(term)
            elif is_name and not _SPACELESS.search(term):
                names.add(term)
    length = sum(
        1 / _LETTERS_OF_A_WORD.get(len(each), 1) if _SPACELESS.match(each) else 1 for each in words
    )
    return _Question(
        words,
        frozenset(numbers),
        frozenset(names),
        frozenset(code),
        frozenset(joined),
        max(1.0, length),
    )


class _Alike:
    """Finds the term of a question that a word is, or is another form of."""

    def __init__(self, asked: Iterable[str], exact: frozenset[str]) -> None:
        self._known = {term: term for term in asked}
        self._begun: dict[str, list[str]] = {}
        for term in asked:
            if decade := _DECADE.fullmatch(term):
                self._known.setdefault(decade[1], term)
            elif term not in exact and len(term) >= _ALIKE and not _SPACELESS.match(term):
                self._begun.setdefault(term[:_ALIKE], []).append(term)

    def term(self, word: str) -> str | None:
        if (known := self._known.get(word)) is not None:
            return known
        for term in self._begun.get(word[:_ALIKE], ()):
            short = min(len(term), len(word))
            least = max(_ALIKE, short - 1)
            if abs(len(term) - len(word)) <= _LONGER and term[:least] == word[:least]:
                return term
        return None


def _locate(passage: Words, alike: _Alike) -> _Located:
    titles = frozenset(term for word in passage.titles if (term := alike.term(word)))
    places = [
        (place, term) for place, word in enumerate(passage.body) if (term := alike.term(word))
    ]
    window = len(passage.body) * _WINDOW // max(1, passage.length)
    return _Located(titles, places, max(_FEWEST, window))


def _share(near: frozenset[str], words: Mapping[str, str], weights: Mapping[str, float]) -> float:
    """The share of a question that stands together, by weight.

    Pairs and triples of letters overlap: one that is missing between two that are found is where two words of the
    question meet, and does not count; beside one, it counts half.
    """
    whole = kept = 0.0
    order = list(words)
    for place, term in enumerate(order):
        if term in near:
            kept += weights[term]
        elif _SPACELESS.match(term):
            reach = len(term) - 1
            sides = order[max(0, place - reach) : place], order[place + 1 : place + 1 + reach]
            whole -= weights[term] * sum(not near.isdisjoint(side) for side in sides) / 2
        whole += weights[term]
    return kept / whole if whole else 0.0


def _lost(
    asked: _Question, present: frozenset[str], found: frozenset[str], passages: Sequence[Words]
) -> float:
    """What a score loses for numbers and names of the question that are not there."""
    lost = _LOST if asked.numbers - found else 0.0
    side_by_side = (
        pair for each in passages for text in (each.titles, each.body) for pair in pairwise(text)
    )
    if asked.names - present or (asked.joined and asked.joined.difference(side_by_side)):
        lost += _LOST
    return lost


def _missing(
    asked: _Question, found: frozenset[str], weights: Mapping[str, float]
) -> tuple[str, ...]:
    """The words that a passage lacks, the rarest first; of one without spaces, the letters."""
    lacking: dict[str, float] = {}
    before = last = ""
    for term, word in asked.words.items():
        if term in found:
            continue
        shown, weight = word, weights[term]
        if _SPACELESS.match(term):
            is_next = before.endswith(term[:-1]) and bool(before)
            shown = last + term[-1] if is_next else term
            weight = max(weight, lacking.pop(last, 0.0) if is_next else 0.0)
            before, last = term, shown
        lacking[shown] = max(weight, lacking.get(shown, 0.0))
    return tuple(sorted(lacking, key=lambda word: -lacking[word])[:_MOST_MISSING])
