"""The words by which a question tells what it is about, as `words.toml` has them."""

import tomllib
from collections.abc import Collection, Mapping
from importlib.resources import files
from typing import Any, Final

from searx_mcp.sources.open.engine import word_set

_TABLES: Final[dict[str, Any]] = tomllib.loads(
    files(__package__).joinpath("words.toml").read_text(encoding="utf-8")
)


def _lists(table: Mapping[str, str]) -> dict[str, frozenset[str]]:
    return {name: word_set(text) for name, text in table.items()}


def _frames(text: str) -> frozenset[str]:
    return frozenset(" ".join(frame.split()) for frame in text.split(","))


WORDS: Final = _lists(_TABLES["words"])
"""Words and expressions, as `tokens.grams` gives them, by what they tell; `words.toml` says what that is."""

FRAMES: Final = {name: _frames(text) for name, text in _TABLES["frames"].items()}
"""What stands around that which is asked for, by what it tells."""

ENDINGS: Final = {name: tuple(text.split()) for name, text in _TABLES["endings"].items()}
"""Ends of words, by what they tell."""

MEDIATYPES: Final = _lists(_TABLES["files"])
"""Words by the Internet Archive's mediatype; the first that fits counts."""

DEFAULT_TOPIC: Final = "stackoverflow"
"""Where code goes that fits no other site."""

COMPUTERS: Final = _lists(_TABLES["topics"]["computers"])
"""Words by the site of Stack Exchange that they belong to, for sites about computers."""

SUBJECTS: Final = _lists(_TABLES["topics"]["subjects"])
"""The same for sites about all else."""


def topic_of(grams: Collection[str], *, is_code: bool) -> str:
    """The site whose words a question has most of; an expression counts as its number of words.

    Args:
        grams: words and expressions of the question, see `tokens.grams`.
        is_code: whether it is about programs; then only sites about computers fit.

    Returns:
        A name of Stack Exchange's API, or empty if no site fits better than another of its kind.
    """
    found = set(grams)
    sites = COMPUTERS if is_code else COMPUTERS | SUBJECTS
    best, most = "", 0
    for site, told in sites.items():
        weight = sum(1 + word.count(" ") for word in told & found)
        if weight > most:
            best, most = site, weight
    return best
