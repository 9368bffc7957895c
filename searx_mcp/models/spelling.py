"""Spellings of names and values, and how messages show invalid ones or durations."""

import math
import re
import reprlib
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

SHOWN_LENGTH: Final = 60


def folded(text: str) -> str:
    """Fold a spelling to compare it; longer ones than we know are not changed."""
    return re.sub(r"[ _-]", "", text).lower() if len(text) <= SHOWN_LENGTH else text


def is_blank(value: object) -> bool:
    """Return whether it is a text without a visible character."""
    return isinstance(value, str) and not value.strip()


def shown(value: object) -> str:
    """Show a value in an error message: at most 60 characters, escaped, whatever its size."""
    if isinstance(value, int) and abs(value) >= 10**SHOWN_LENGTH:
        return "a huge number"
    # The quotes alone make the start of a longer text too long, so that it ends in dots.
    text = repr(value[:SHOWN_LENGTH]) if isinstance(value, str) else reprlib.repr(value)
    return text if len(text) <= SHOWN_LENGTH else f"{text[: SHOWN_LENGTH - 3]}..."


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint at the known name nearest to an unknown one; empty if none is near.

    A name with the opposite meaning is never near, however few letters differ.
    """
    found = near(name, known)
    return f" (did you mean {found}?)" if found else ""


def near(name: str, known: Iterable[str], *, least: float = 0.6) -> str:
    """Return the known name nearest to an unknown one, as `did_you_mean` tells it; empty if none is near.

    Args:
        name: the unknown name.
        known: the known names.
        least: minimum similarity, from 0 to 1.
    """
    name = name[:SHOWN_LENGTH]
    others = [each for each in known if not _contradict(name, each)]
    return next(iter(get_close_matches(name, others, n=1, cutoff=least)), "")


_OPPOSITES: Final = (
    ("includ|allow|whitelist|permit|enabl|follow", "exclud|block|deny|deni|blacklist|ban|disabl"),
    ("after|since|start|from|begin", "before|until|end|to"),
    ("min|least", "max|most"),
    ("new|asc", "old|desc"),
)
_ENDING: Final = r"(?:n?ed|d?es|s|ing|e|est|er|imum)?"
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_NEGATION: Final = re.compile(r"not?|non|dont|never|without|skip|ignore")
_NEGATED: Final = re.compile(r"(?:dis|un|no|non|dont)(?=allow|block|follow|include|fetch)")


def _contradict(first: str, second: str) -> bool:
    """Return whether one name means the opposite of the other, as `exclude_x` and `allowed_x` do."""
    ours, ours_negates = _senses(first)
    theirs, theirs_negates = _senses(second)
    opposite = {(pair, 1 - place) for pair, place in ours}
    return ours_negates is not theirs_negates or not opposite.isdisjoint(theirs)


def _senses(name: str) -> tuple[set[tuple[int, int]], bool]:
    """Return a name's side of each pair of opposites; if none, whether it negates."""
    sides = set()
    is_negated = False
    for written in _WORD.findall(name):
        word, prefixes = _NEGATED.subn("", written.lower())
        is_negated ^= bool(prefixes) or _NEGATION.fullmatch(word) is not None
        sides |= {
            (number, place)
            for number, pair in enumerate(_OPPOSITES)
            for place, stems in enumerate(pair)
            if re.fullmatch(f"(?:{stems}){_ENDING}", word)
        }
    if sides and is_negated:
        return {(number, 1 - place) for number, place in sides}, False
    return sides, is_negated


_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def counted(number: int, noun: str) -> str:
    """Return a number of things, in words."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def in_words(seconds: float, *, least: int = 2, rounded_up: bool = False) -> str:
    """Return a duration in whole units, small enough that there are `least` of them or just one.

    Args:
        seconds: the duration.
        least: units below which a smaller one is used; with 1, everything after the first unit is dropped.
        rounded_up: whether to round up, where too little would be wrong.
    """
    whole = math.ceil(seconds) if rounded_up else int(seconds)
    size, unit = next((u for u in _UNITS if whole >= least * u[0] or whole == u[0]), _UNITS[-1])
    count = math.ceil(whole / size) if rounded_up else whole // size
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
