"""How good an instance looks: from a catalog's figures at first, from our own requests later.

Formulas and weights: `docs/decisions/pool.md`. Their result only orders instances of one tier.
"""

import math

from searx_mcp.models.instance import CatalogEntry, Uptime

_GRADES = {
    "A+": 1.0, "A": 0.95, "A-": 0.9, "B+": 0.8, "B": 0.75, "B-": 0.7, "C+": 0.6, "C": 0.55,
    "C-": 0.5, "D+": 0.35, "D": 0.3, "D-": 0.25, "E": 0.15, "F": 0.0,
}  # fmt: skip
_UNKNOWN_GRADE = 0.5
_UPTIME_WEIGHTS = {"day": 0.1, "week": 0.3, "month": 0.35, "year": 0.25}
_BEST_LATENCY = 0.4
_WORST_LATENCY = 8.0
CONFIDENCE = 4.0
"""After this many own requests, observation and prior weigh the same."""


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
        return 0.5
    total = sum(_UPTIME_WEIGHTS[name] for name in known)
    mean = sum(_UPTIME_WEIGHTS[name] * value for name, value in known.items()) / total
    return float(((min(100.0, max(90.0, mean)) - 90.0) / 10.0) ** 2)


def grade_quality(grade: str | None) -> float:
    """1 for A+, 0 for F, 0.5 when unknown."""
    return _GRADES.get(grade or "", _UNKNOWN_GRADE)


def prior(entry: CatalogEntry) -> float:
    """What a catalog's figures promise, 0 to 1.

    (.35 success + .35 latency + .15 uptime + .07 TLS grade + .03 HTTP grade) / .95. Success and
    latency predict whether an instance works a quarter later; grades hardly do, but a better one
    is what users were promised first.
    """
    success = 0.35 if entry.search_success is None else max(0.15, entry.search_success / 100)
    total = (
        0.35 * success
        + 0.35 * latency_quality(entry.search_latency)
        + 0.15 * uptime_quality(entry.uptime)
        + 0.07 * grade_quality(entry.tls_grade)
        + 0.03 * grade_quality(entry.http_grade)
    )
    return total / 0.95


def live_score(
    *, prior: float, observed: float | None, count: float, latency: float | None
) -> float:
    """Own observations taking over from the prior: .75 R + .25 latency quality.

    R = (1 - c) prior + c observed with c = n / (n + 4).

    Args:
        prior: 0 to 1.
        observed: mean worth of our own requests, 0 to 1, or `None` before the first.
        count: how many requests stand behind `observed`, older ones counting less.
        latency: moving average of our own requests in seconds, or `None`.
    """
    confidence = count / (count + CONFIDENCE) if observed is not None else 0.0
    reliability = (1 - confidence) * prior + confidence * (observed or 0.0)
    quality = latency_quality(latency) if latency is not None else prior
    return 0.75 * reliability + 0.25 * quality
