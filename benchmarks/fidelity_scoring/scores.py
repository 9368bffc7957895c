"""How much of what was expected a converter has written."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from benchmarks.fidelity_scoring.constructs import Constructs, read

KINDS: Final = ("code", "code_with_language", "math", "rows", "references", "callouts")
"""Constructs that are counted, by their names in `Constructs`."""


@dataclass(frozen=True, slots=True)
class Score:
    """What one converter has written.

    Attributes:
        f1: of the words, the mean over the pages.
        found: constructs that agree, by kind.
        expected: constructs there are, by kind.
    """

    f1: float
    found: Mapping[str, int]
    expected: Mapping[str, int]


def score(expected: Mapping[str, str], written: Mapping[str, str]) -> Score:
    """Compare texts, page by page; a page that was not written counts as empty."""
    found: Counter[str] = Counter()
    there: Counter[str] = Counter()
    f1 = 0.0
    for name, text in expected.items():
        want, have = read(text), read(written.get(name, ""))
        f1 += _f1(want.words, have.words)
        for kind in KINDS:
            wanted = _counted(want, kind)
            there[kind] += wanted.total()
            found[kind] += (wanted & _counted(have, kind)).total()
    kinds = {kind: found[kind] for kind in KINDS}
    return Score(
        f1 / len(expected) if expected else 0.0, kinds, {kind: there[kind] for kind in KINDS}
    )


def missing(expected: str, written: str) -> dict[str, list[str]]:
    """The constructs of a page that are not found, by kind."""
    want, have = read(expected), read(written)
    lost = {kind: list((_counted(want, kind) - _counted(have, kind)).elements()) for kind in KINDS}
    return {kind: each for kind, each in lost.items() if each}


def _counted(constructs: Constructs, kind: str) -> Counter[str]:
    counted: Counter[str] = getattr(constructs, kind)
    return counted


def _f1(want: Counter[str], have: Counter[str]) -> float:
    if not want and not have:
        return 1.0
    common = (want & have).total()
    return 2 * common / (want.total() + have.total())
