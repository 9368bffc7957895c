"""Whether any passage supports a question: the decision between evidence and "not found".

The score is the share of the question's words in a few sentences of one passage. How rare a word is in the page matters
little, since the page may answer in other words. A number or a name weighs more than any other word, and a number that
is missing from the page rules it out: a page about another model, version or year has all the other words. How the rule
was chosen, and how reliable it is: `docs/decisions/passages.md`.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from searx_mcp.content.passages import Words
from searx_mcp.content.words import ASKING_PARTS, ASKING_WORDS, stems, tokens

_WINDOW: Final = 150
"""Code points within which words support each other, one or two sentences."""
_FEWEST: Final = 8
"""Fewest words of a window."""
_FLOOR: Final = 0.58
"""Least score of a passage that answers a one-word question."""
_SINKING: Final = 0.6
"""The floor falls with this power of the question's weight: few passages contain all of a long question."""
_NOWHERE: Final = 0.1
"""Increase of the floor for a one-word question if that word is nowhere in the page. For more words it is multiplied by
the share of them that is missing, and by the square root of their number."""
_LETTERS: Final = 5
"""Letters of a word with weight 1; a shorter one weighs less, as it is in more texts by chance."""
_TELLING: Final = 2.0
"""Weight of a number or a name."""
_LOST: Final = 0.3
"""Deduction for a name that is nowhere in the page; it may be translated or misspelt."""
_FEW: Final = 3
"""Most words of a question that one word alone may support; for a longer one, a single word such as the name of a town
is not enough."""
_ALIKE: Final = 4
"""Letters that two forms of a word must share: `lock`, `locked`."""
_LONGER: Final = 2
"""Letters by which one form may be longer, of the six letters of a term."""
_MOST_MISSING: Final = 5

_ASKING = re.compile("|".join(ASKING_PARTS))
_EDGES: Final = "?!.,:;\"'()[]{}\u00ab\u00bb\u201e\u201c\u201d\u00bf\u00a1\uff1f\u061f\u3002"
_SUFFIX = re.compile(r"(?<=\w\w)['\u2019]\w{1,4}$")
"""Endings after an apostrophe: `UMC's`, `Tesla'dan`."""
_CODE = re.compile(r"[a-z][A-Z]|\w(?:_|\.|::)\w|^--\w|\w\(|[^\W\d]/\d")
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
"""In German every noun is capitalised."""
_DIGIT = re.compile(r"\d")
_DECADE = re.compile(r"(\d{2,})[^\W\d]+")
"""A number with an ending, such as `1970er`."""
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_GRAMS: Final = {2: 1.5, 3: 0.2}
"""Weights of terms in scripts without spaces, by length: pairs of Han or kana, and South-East Asian triples."""


@dataclass(frozen=True, slots=True)
class Support:
    """How well passages support a question.

    Attributes:
        score: 0 to 1, of the best passage.
        answered: whether the score is high enough for an answer.
        missing: words of the question, as asked, that the best passage lacks; the heaviest first, five at most.
        best: index of the best passage; `None` if there is none.
    """

    score: float
    answered: bool
    missing: tuple[str, ...] = ()
    best: int | None = None


UNSUPPORTED: Final = Support(0.0, answered=False)


@dataclass(frozen=True, slots=True)
class _Question:
    """A question as unique terms.

    Attributes:
        words: the words as asked, by term.
        telling: terms of names, and terms with a digit.
        exact: terms of code, and terms with a digit.
        rigid: terms without other forms: the exact ones, and acronyms.
        joined: neighbours within one name in code, such as `parcel.returned`.
        sizes: weight of each term when nothing is known about a page.
    """

    words: dict[str, str]
    telling: frozenset[str]
    exact: frozenset[str]
    rigid: frozenset[str]
    joined: frozenset[tuple[str, str]]
    sizes: dict[str, float]


@dataclass(frozen=True, slots=True)
class _Located:
    """The positions of a question's terms: in the titles, and in a passage."""

    titles: frozenset[str]
    places: list[tuple[int, str]]
    window: int

    def terms(self) -> frozenset[str]:
        return self.titles.union(term for _, term in self.places)

    def densest(self, weights: Mapping[str, float]) -> frozenset[str]:
        """The terms in the titles and in the window of the passage with most of the question."""
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


def support(question: str, passages: Sequence[Words]) -> Support:
    """Score how well the best of some passages supports a question.

    Args:
        question: in words.
        passages: of one page, as words; linear in their length.

    Returns:
        For a question without content words, such as "Summarize the main points", that any passage answers it.
    """
    asked = _asked(question)
    if not asked.words:
        return Support(0.0, answered=bool(passages), best=0 if passages else None)
    alike = _Alike(asked.words, asked.rigid)
    located = [_locate(each, alike) for each in passages]
    times = Counter(term for each in located for term in each.terms())
    # A word that occurs all over a page is its topic, and says little about a passage.
    weights = {
        term: size * (1 - times[term] / (2 * max(1, len(passages))))
        for term, size in asked.sizes.items()
    }
    near = [each.densest(weights) for each in located]
    shares = [sum(weights[term] for term in sorted(each)) for each in near]
    best = max(range(len(shares)), key=shares.__getitem__, default=None)
    found = frozenset[str]() if best is None else near[best]
    share = max(shares, default=0.0) / sum(weights.values())
    score = max(0.0, share - _lost(asked, frozenset(times), passages))
    is_one = len(found) == 1 and len(asked.words) > _FEW
    is_supported = score >= _floor(asked, times) and not is_one
    return Support(score, is_supported, _missing(asked, found, weights), best)


def _floor(asked: _Question, times: Mapping[str, int]) -> float:
    """The least score of a passage that answers: higher if words of the question are nowhere in the page."""
    nowhere = len(asked.words) - len(times)
    least = _FLOOR + _NOWHERE * nowhere / math.sqrt(len(asked.words))
    return least / math.pow(max(1.0, sum(asked.sizes.values())), _SINKING)


def _asked(question: str) -> _Question:
    """Split a question into terms; question words are left out."""
    plain = _ASKING.sub(" ", question)
    is_german = not _GERMAN.isdisjoint(tokens(plain))
    words: dict[str, str] = {}
    telling, exact, acronyms = set[str](), set[str](), set[str]()
    joined = set[tuple[str, str]]()
    for place, written in enumerate(plain.split()):
        word = _SUFFIX.sub("", written.strip(_EDGES))
        is_code = bool(_CODE.search(word))
        own = stems([each for each in tokens(word) if is_code or each not in ASKING_WORDS])
        if is_code:
            joined.update(pairwise(own))
            exact.update(own)
        acronyms.update(own if word.isupper() else ())
        is_name = is_code or (place > 0 and not is_german and word[:1].isupper())
        for term in own:
            words.setdefault(term, word)
            if _DIGIT.search(term):
                exact.add(term)
                telling.add(term)
            elif is_name and not _SPACELESS.search(term):
                telling.add(term)
    sizes = {term: _TELLING if term in telling else _size(term) for term in words}
    rigid = frozenset(exact | acronyms)
    return _Question(words, frozenset(telling), frozenset(exact), rigid, frozenset(joined), sizes)


def _size(term: str) -> float:
    """The weight of a term by its length, relative to an average word."""
    if _SPACELESS.match(term):
        return _GRAMS.get(len(term), 1.0)
    return min(1.0, len(term) / _LETTERS)


class _Alike:
    """Finds the term of a question that a word equals, or is another form of."""

    def __init__(self, asked: Iterable[str], rigid: frozenset[str]) -> None:
        self._known = {term: term for term in asked}
        self._begun: dict[str, list[str]] = {}
        for term in asked:
            if decade := _DECADE.fullmatch(term):
                self._known.setdefault(decade[1], term)
            elif term not in rigid and len(term) >= _ALIKE and not _SPACELESS.match(term):
                self._begun.setdefault(term[:_ALIKE], []).append(term)

    def term(self, word: str) -> str | None:
        if (known := self._known.get(word)) is not None:
            return known
        for term in self._begun.get(word[:_ALIKE], ()):
            least = max(_ALIKE, min(len(term), len(word)) - 1)
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


def _lost(asked: _Question, present: frozenset[str], passages: Sequence[Words]) -> float:
    """Deduction from a score for missing terms: all of it for a number or a name in code, a part for another name."""
    side_by_side = (
        pair for each in passages for text in (each.titles, each.body) for pair in pairwise(text)
    )
    if not asked.exact <= present or asked.joined.difference(side_by_side):
        return 1.0
    return 0.0 if asked.telling <= present else _LOST


def _missing(
    asked: _Question, found: frozenset[str], weights: Mapping[str, float]
) -> tuple[str, ...]:
    """The words that a passage lacks, the heaviest first; for a word without spaces, the missing letters."""
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
