"""Whether any passage supports a question: what decides between evidence and "not found"."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from searx_mcp.content.passages import Words, weigh
from searx_mcp.content.words import stems, terms, tokens

_UNLIKE: Final = 8
"""Passages without a word of the question that are imagined beside those given: see `passages`."""
_FLOOR: Final = 0.5
_MOST_MISSING: Final = 5


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


def support(
    question: str,
    passages: Sequence[Words],
    *,
    weights: Mapping[str, float] | None = None,
    nearness: Sequence[float] | None = None,
) -> Support:
    """Tell how far the best of some passages supports a question.

    Args:
        question: in words.
        passages: by their words; linear in their length.
        weights: of the question's terms (`words.terms`), as `passages.weigh` gives them for a collection;
            among the passages unless given.
        nearness: cosine of each passage's vector and the question's, where there are vectors.
    """
    asked = frozenset(terms(question))
    found = [asked.intersection((*each.body, *each.titles)) for each in passages]
    known = {term: sum(term in each for each in found) for term in asked}
    weighed = {**weigh(known, len(passages) + _UNLIKE), **(weights or {})}
    whole = math.fsum(weighed[term] for term in asked) or 1.0
    shares = [math.fsum(weighed[term] for term in each) / whole for each in found]
    best = max(range(len(shares)), key=shares.__getitem__, default=None)
    score = 0.0 if best is None else min(1.0, shares[best])
    lacking = asked if best is None else asked - found[best]
    missing = [
        (max(weighed[term] for term in own), word)
        for word in dict.fromkeys(question.split())
        if (own := lacking.intersection(stems(tokens(word))))
    ]
    missing.sort(key=lambda pair: -pair[0])
    words = tuple(word.strip("?!.,:;\"'()") for _, word in missing[:_MOST_MISSING])
    return Support(score, score >= _FLOOR, words, best)
