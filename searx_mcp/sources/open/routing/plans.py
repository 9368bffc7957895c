"""What speaks for which engine: by category, and by what a question is about."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from searx_mcp.models.request import Category
from searx_mcp.sources.open.routing.subjects import Signal

_C = Category
_S = Signal


class Plan(NamedTuple):
    """What a category of SearXNG means here.

    Attributes:
        category: the one of the nine that covers it.
        engines: those that it is confined to, best first; empty means all of the category.
    """

    category: Category
    engines: tuple[str, ...] = ()


FURTHER: Final[Mapping[str, Plan]] = {
    "books": Plan(_C.FILES, ("internetarchive",)),
    "cargo": Plan(_C.IT, ("crates", "github")),
    "code": Plan(_C.IT, ("github", "stackexchange")),
    "gallery": Plan(_C.IMAGES),
    "icons": Plan(_C.IMAGES),
    "lyrics": Plan(_C.MUSIC, ("musicbrainz",)),
    "movies": Plan(_C.VIDEOS),
    "other": Plan(_C.GENERAL),
    "packages": Plan(_C.IT, ("npm", "crates", "huggingface", "github")),
    "q&a": Plan(_C.IT, ("stackexchange",)),
    "radio": Plan(_C.MUSIC, ("internetarchive",)),
    "repos": Plan(_C.IT, ("github", "huggingface")),
    "scientific publications": Plan(_C.SCIENCE),
    "software wikis": Plan(_C.IT, ("stackexchange", "wikipedia")),
    "tv": Plan(_C.VIDEOS),
    "web": Plan(_C.GENERAL),
    "wikimedia": Plan(_C.GENERAL, ("wikipedia", "commons")),
}
"""The further categories that an open collection covers; to all others there is no answer."""

HOME: Final = 2.0
"""Points from one signal that make an engine's route its home."""

SCORES: Final[Mapping[Signal, Mapping[str, float]]] = {
    _S.CODE: {"stackexchange": 3, "github": 2, "hackernews": 1},
    _S.ERROR: {"stackexchange": 2, "github": 2},
    _S.TECHNOLOGY: {"wikipedia": 2, "hackernews": 2},
    _S.PACKAGE: {"github": 2},
    _S.REPOSITORY: {"github": 4, "hackernews": 1},
    _S.MODEL: {"huggingface": 4, "github": 2, "hackernews": 1},
    _S.DATASET: {"huggingface": 3, "github": 1.5},
    _S.VULNERABILITY: {"github": 3, "hackernews": 2.5, "stackexchange": 0.5},
    _S.OPINION: {"hackernews": 2.5},
    _S.DEFINITION: {"wikipedia": 2.5},
    _S.SCHOLARLY: {"crossref": 3, "europepmc": 1.5, "arxiv": 1},
    _S.BIOMEDICAL: {"europepmc": 3, "wikipedia": 2},
    _S.FORMAL: {"arxiv": 2, "wikipedia": 2},
    _S.PLACE: {"photon": 4, "wikipedia": 2},
    _S.ENTITY: {"wikipedia": 3},
    _S.NEWS: {"gdelt": 4, "hackernews": 1, "keenable": 2},
    _S.IMAGE: {"openverse": 4, "commons": 3.8},
    _S.VIDEO: {"sepiasearch": 4, "internetarchive": 3.6, "commons": 2.5},
    _S.MUSIC: {"musicbrainz": 4, "wikipedia": 1},
    _S.SOUND: {"openverse": 4, "commons": 3.5, "internetarchive": 3},
    _S.FILE: {"internetarchive": 4},
}
"""Points that a signal gives an engine, for a question of no category."""

BOTH: Final[Mapping[frozenset[Signal], Mapping[str, float]]] = {
    frozenset({_S.SCHOLARLY, _S.FORMAL}): {"arxiv": 3, "europepmc": -1.5, "wikipedia": -2},
    frozenset({_S.SCHOLARLY, _S.BIOMEDICAL}): {"europepmc": 2, "arxiv": -1, "wikipedia": -1},
    frozenset({_S.NEWS, _S.TECHNOLOGY}): {"hackernews": 1.5},
    frozenset({_S.DATASET, _S.SCHOLARLY}): {"huggingface": -1},
}
"""Points for two signals at once."""

ANYWAY: Final[Mapping[str, float]] = {"wikipedia": 1.0, "keenable": 2.0}
"""What every question gives: an encyclopaedia may know, a web index will."""

SUBJECT: Final = 2.5
ASIDE: Final = 0.9
"""Points for Stack Exchange where a site of it fits: for a question how to do something, and for another."""
NAMED: Final = 4.0
"""Points for being asked for by name."""
ECOSYSTEM: Final = 5.0
"""Points for having the sort of package that is asked for."""
REGISTRIES: Final = frozenset({"npm", "crates"})
"""They are asked for a package that does not say of which sort it is, if packages are all that is wanted."""

WITHIN: Final[Mapping[Category, Mapping[Signal, Mapping[str, float]]]] = {
    _C.IT: {
        _S.ERROR: {"stackexchange": 3, "github": 2},
        _S.CODE: {"stackexchange": 2},
        _S.HOW_TO: {"stackexchange": 1},
        _S.PACKAGE: {"npm": 5, "crates": 5, "huggingface": 5, "github": 2},
        _S.REPOSITORY: {"github": 4},
        _S.MODEL: {"huggingface": 5, "github": 2},
        _S.DATASET: {"huggingface": 5, "github": 1},
        _S.VULNERABILITY: {"github": 3, "hackernews": 2},
        _S.OPINION: {"hackernews": 3},
        _S.NEWS: {"hackernews": 3},
    },
    _C.SCIENCE: {
        _S.BIOMEDICAL: {"europepmc": 5, "crossref": 1},
        _S.FORMAL: {"arxiv": 4},
        _S.MODEL: {"huggingface": 1},
        _S.DATASET: {"huggingface": 2},
    },
    _C.NEWS: {_S.TECHNOLOGY: {"hackernews": 1}},
    _C.MUSIC: {_S.SOUND: {"openverse": 4, "commons": 3, "internetarchive": 2}},
    _C.FILES: {
        _S.MODEL: {"huggingface": 5},
        _S.DATASET: {"huggingface": 4},
        _S.IMAGE: {"commons": 3},
    },
}
"""Points within a category; `BASE` has those without any signal."""

BASE: Final[Mapping[Category, Mapping[str, float]]] = {
    _C.GENERAL: {},
    _C.IT: {"stackexchange": 4, "github": 3.5, "hackernews": 2, "wikipedia": 1, "keenable": 1},
    _C.SCIENCE: {"crossref": 3, "europepmc": 2.5, "arxiv": 2, "keenable": 1},
    _C.NEWS: {"gdelt": 3, "keenable": 2.8, "hackernews": 2.5},
    _C.MAP: {"photon": 3, "wikipedia": 1},
    _C.IMAGES: {"openverse": 3, "commons": 2.8, "internetarchive": 1},
    _C.VIDEOS: {"sepiasearch": 3, "internetarchive": 2.5, "commons": 2},
    _C.MUSIC: {"musicbrainz": 4, "internetarchive": 2.5, "openverse": 2, "commons": 1.8},
    _C.FILES: {"internetarchive": 3, "commons": 2},
}

LESSER: Final[Mapping[Category, Mapping[str, frozenset[Signal]]]] = {
    _C.IT: {"keenable": frozenset(), "wikipedia": frozenset()},
    _C.SCIENCE: {
        "keenable": frozenset(),
        "arxiv": frozenset({_S.FORMAL}),
        "europepmc": frozenset({_S.BIOMEDICAL}),
    },
    _C.NEWS: {"hackernews": frozenset({_S.TECHNOLOGY})},
    _C.MAP: {"wikipedia": frozenset()},
    _C.IMAGES: {"internetarchive": frozenset()},
    _C.MUSIC: {
        "openverse": frozenset({_S.SOUND}),
        "commons": frozenset({_S.SOUND}),
    },
}
"""Engines that are at home in a category only with one of some signals; elsewhere their votes count half."""
