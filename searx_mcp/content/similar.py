"""Which pages say the same: copies of one text at several addresses.

A page is reduced to a sketch, the smallest hashes of its runs of words (bottom-k sketch: Broder, "On the
resemblance and containment of documents", 1997). The share of equal hashes among the smallest of both is
an estimate of the share of equal runs.
"""

import heapq
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

from searx_mcp.content.words import tokens

_RUN: Final = 3
"""Words of a run. Two pages on one subject share words, but few runs of three."""
_HASHES: Final = 128
"""Hashes of a sketch: the estimate is off by .04 (one standard deviation) at the threshold."""
_MAX_CHARS: Final = 8_000
"""Of the text that is sketched; 2 to 3 ms. Copies are alike from the beginning on."""
_FEWEST: Final = 150
"""Runs below which a text is not sketched: a copy of it costs little, and short pages of one template are alike
without saying the same."""

SAME: Final = 0.6
"""Share of equal runs from which on two pages count as one. Measured on the texts under
`benchmarks/summaries_data`: copies with every fortieth word changed have .87, with every twentieth .74,
with a fifth of foreign text around them .83; two different texts .01 at most, two pages of one template with
other values .16. Run `tests/content/test_similar.py` after a change."""

Sketch = tuple[int, ...]


def sketch(text: str) -> Sketch:
    """Reduce a text to what it is recognised by.

    Args:
        text: Markdown or plain text; addresses, marks and letter case do not count.

    Returns:
        Hashes in order; empty for a text of too few words.
    """
    found = tokens(text[:_MAX_CHARS])
    runs = {" ".join(found[at : at + _RUN]) for at in range(len(found) - _RUN + 1)}
    if len(runs) < _FEWEST:
        return ()
    hashes = (
        int.from_bytes(blake2b(run.encode("utf-8", "replace"), digest_size=8).digest())
        for run in runs
    )
    return tuple(heapq.nsmallest(_HASHES, hashes))


def resemblance(left: Sketch, right: Sketch) -> float:
    """Estimate the share of runs that two texts have in common, 0 to 1."""
    if not (left and right):
        return 0.0
    smallest = heapq.nsmallest(_HASHES, {*left, *right})
    both = {*left} & {*right}
    return sum(each in both for each in smallest) / len(smallest)


def groups(sketches: Sequence[Sketch]) -> dict[int, int]:
    """Find the texts that repeat an earlier one.

    Args:
        sketches: in order of rank.

    Returns:
        For the place of each repetition, the place of the first text like it. A text is compared with
        first ones only, so that a chain of small changes does not join its ends.
    """
    firsts: list[int] = []
    repeats: dict[int, int] = {}
    for place, found in enumerate(sketches):
        first = next((each for each in firsts if resemblance(sketches[each], found) >= SAME), None)
        if first is not None:
            repeats[place] = first
        elif found:
            firsts.append(place)
    return repeats
