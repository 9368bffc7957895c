"""Answers and failures to be kept."""

from typing import Any

from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.hits import Hit, ResultPage
from searx_mcp.search.providers.context import Found

ATTEMPT = Attempt(
    instance="https://i.example/", verdict=Verdict.RATE_LIMITED, format=Format.HTML, status_code=429
)


def failure(
    reason: UnavailableReason = UnavailableReason.EXHAUSTED,
    *,
    attempts: tuple[Attempt, ...] = (ATTEMPT,),
    retry_after: float | None = 600.0,
) -> NoInstancesError:
    return NoInstancesError(
        "No.", reason=reason, attempts=attempts, advice="Wait.", retry_after=retry_after
    )


def found(title: str = "T", count: int = 10, *, complete: bool = True, **told: Any) -> Found:
    hits = tuple(Hit(url=f"https://e.org/{n}", title=title, position=n + 1) for n in range(count))
    page = ResultPage(hits=hits, **told)
    return Found((page,), "https://i.example/", (), complete, own=True)


EXHAUSTED = failure()
