"""How good an instance looks: from a catalog's figures at first, from our own requests later.

Formulas and weights: `docs/decisions/pool.md`. A score orders the instances of one tier, and each
of its parts can be shown. Older observations count less.
"""

import math
from typing import NamedTuple

from searx_mcp.models.instance import CatalogEntry, Uptime

_GRADES = {
    "A+": 1.0, "A": 0.95, "A-": 0.9, "B+": 0.8, "B": 0.75, "B-": 0.7, "C+": 0.6, "C": 0.55,
    "C-": 0.5, "D+": 0.35, "D": 0.3, "D-": 0.25, "E": 0.15, "F": 0.0, "G": 0.0,
}  # fmt: skip
_HTML_GRADES = {"V": 1.0, "F": 0.95, "C": 0.85, "Cjs": 0.6, "E": 0.3, "👁️": 0.0}
_HTML_INCOMPLETE = ("js?", "?")
"""Marks of searx.space for a page of which some files could not be fetched."""
_INCOMPLETE_SHARE = 0.8
_UNKNOWN = 0.5
_UNKNOWN_SUCCESS = 0.35
_LEAST_SUCCESS = 0.15
_UPTIME_WEIGHTS = {"day": 0.1, "week": 0.3, "month": 0.35, "year": 0.25}
_BEST_LATENCY = 0.4
_WORST_LATENCY = 8.0
CONFIDENCE = 4.0
"""After this many own requests, observation and prior weigh the same."""


class Prior(NamedTuple):
    """What a catalog's figures promise, part by part, each 0 to 1.

    Success and latency predict whether an instance works a quarter later; grades hardly do, but a
    better one is what users were promised first.
    """

    success: float
    latency: float
    uptime: float
    grade: float
    engines: float

    @property
    def total(self) -> float:
        """.35 success + .35 latency + .15 uptime + .10 grade + .05 engines."""
        return (
            0.35 * self.success
            + 0.35 * self.latency
            + 0.15 * self.uptime
            + 0.10 * self.grade
            + 0.05 * self.engines
        )


class Score(NamedTuple):
    """How good an instance is now, part by part, each 0 to 1.

    Attributes:
        prior: what was promised before we asked it.
        observed: the mean worth of our own requests; the prior before the first.
        confidence: how much the observation weighs against the prior.
        latency: quality of its speed.
        access: how likely a program gets in, from its `/config`.
        format: how good the format is that it answers in.
    """

    prior: float
    observed: float
    confidence: float
    latency: float
    access: float
    format: float

    @property
    def reliability(self) -> float:
        """(1 - confidence) prior + confidence observed."""
        return (1 - self.confidence) * self.prior + self.confidence * self.observed

    @property
    def total(self) -> float:
        """Access · format · (.75 reliability + .25 latency)."""
        return self.access * self.format * (0.75 * self.reliability + 0.25 * self.latency)


OWN_PRIOR = Prior(1.0, 1.0, 1.0, 1.0, 1.0)
"""Somebody's own instance is taken to be good until it shows otherwise."""


def confidence(count: float) -> float:
    """Give n / (n + 4) for n requests of our own, older ones counting less."""
    return count / (count + CONFIDENCE)


def latency_quality(seconds: float | None) -> float:
    """1 at 0.4 s and below, 0 at 8 s and above, logarithmic between; 0.4 when unknown."""
    if seconds is None:
        return 0.4
    ratio = math.log(max(seconds, _BEST_LATENCY) / _BEST_LATENCY)
    return max(0.0, 1.0 - ratio / math.log(_WORST_LATENCY / _BEST_LATENCY))


def uptime_quality(uptime: Uptime) -> float:
    """((u - 90) / 10)^2 of the weighted uptime, clipped to 90..100 percent; 0.5 when unknown."""
    known = {
        name: value for name in _UPTIME_WEIGHTS if (value := getattr(uptime, name)) is not None
    }
    if not known:
        return _UNKNOWN
    total = sum(_UPTIME_WEIGHTS[name] for name in known)
    mean = sum(_UPTIME_WEIGHTS[name] * value for name, value in known.items()) / total
    return float(((min(100.0, max(90.0, mean)) - 90.0) / 10.0) ** 2)


def grade_quality(grades: str | None) -> float:
    """1 for A+, 0 for F, 0.5 when unknown; the worst known one of several such as `E, ?`."""
    parts = [part.strip() for part in (grades or "").split(",")]
    return min((_GRADES[part] for part in parts if part in _GRADES), default=_UNKNOWN)


def html_quality(grade: str | None) -> float:
    """1 for pages as upstream has them, less for changed ones; a fifth less where files are unknown."""
    parts = [part.strip() for part in (grade or "").split(",")]
    quality = min((_HTML_GRADES[part] for part in parts if part in _HTML_GRADES), default=_UNKNOWN)
    incomplete = any(part in _HTML_INCOMPLETE for part in parts)
    return quality * _INCOMPLETE_SHARE if incomplete else quality


def prior(entry: CatalogEntry) -> Prior:
    """Read the prior off a catalog's figures.

    The grade is .6 TLS + .25 HTTP + .15 HTML: only TLS concerns what we do.
    """
    success = entry.search_success
    engines = entry.engines_working
    return Prior(
        success=_UNKNOWN_SUCCESS if success is None else max(_LEAST_SUCCESS, success / 100),
        latency=latency_quality(entry.search_latency),
        uptime=uptime_quality(entry.uptime),
        grade=(
            0.60 * grade_quality(entry.tls_grade)
            + 0.25 * grade_quality(entry.http_grade)
            + 0.15 * html_quality(entry.html_grade)
        ),
        engines=_UNKNOWN if engines is None else engines,
    )
