"""The sentences that go with an answer: what a caller should know about it."""

import math
from collections.abc import Sequence
from urllib.parse import urlsplit

from searx_mcp.errors import DeadlineError, NoInstancesError
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import Coverage, SearchResult
from searx_mcp.search.answers.serving import Served
from searx_mcp.search.merge import keep_domains
from searx_mcp.search.providers.interface import Found
from searx_mcp.search.providers.remarks import COVERAGE

_LANGUAGES = {
    "all": "Language all: results of any language.",
    "auto": "Language auto: the instance chose it, as a rule English, which our headers ask for.",
}
_REFUSALS_OF_JSON = {
    Verdict.JSON_OFF: ("off", "add json to search.formats"),
    Verdict.RATE_LIMITED: ("limited", "set server.limiter to false"),
}
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def notes(
    request: SearchRequest,
    served: Served,
    *,
    found: Sequence[SearchResult],
    kept: Sequence[SearchResult],
    page: int = 1,
    skipped: int = 0,
) -> tuple[str, ...]:
    """What is to be said of an answer, its staleness first.

    Args:
        request: what was asked for.
        served: the answer.
        found: its results after merging.
        kept: of them, those that the domains asked for leave.
        page: where they begin.
        skipped: how many of them the caller passes over.
    """
    answer, total = served.found, max(0, len(kept) - skipped)
    said = [_staleness(served.age or 0.0, served.error)] if served.is_stale else []
    if answer.coverage in COVERAGE:
        said.append(COVERAGE[answer.coverage])
    said += answer.remarks
    if request.language in _LANGUAGES and answer.coverage is not Coverage.COLLECTIONS:
        said.append(_LANGUAGES[request.language])
    filters = _filters(request, found) if len(kept) < len(found) else ""
    if 0 < total < request.results_count:
        reason = "the older answer has no more" if served.is_stale else _reason(answer, page)
        if filters:
            reason = f"{len(found) - len(kept)} left out, being {filters}"
        said.append(f"{total} of {request.results_count} results asked for: {reason}.")
    elif found and not kept:
        said.append(f"All {len(found)} results were left out, being {filters}.")
    elif not total and (page > 1 or skipped):
        where = f"offset {request.offset}" if request.offset else f"page {page}"
        said.append(f"The list ends before {where}: nothing more was found.")
    if served.age is None and answer.own:
        said += _without_json(answer)
    return tuple(said)


def _filters(request: SearchRequest, found: Sequence[SearchResult]) -> str:
    """Which arguments have left out results."""
    at_home = keep_domains(found, allowed=request.allowed_domains, blocked=())
    reasons = []
    if len(at_home) < len(found):
        reasons.append("outside allowed_domains")
    if len(keep_domains(at_home, allowed=(), blocked=request.blocked_domains)) < len(at_home):
        reasons.append("in blocked_domains")
    return " or ".join(reasons)


def _reason(found: Found, page: int) -> str:
    if found.coverage is Coverage.COLLECTIONS:
        return "the collections asked gave no more, of three pages at most"
    if found.own:
        return "your instance has no more"
    return f"public instances are asked for one page a call; page {page + 1} may have more"


def _without_json(found: Found) -> list[str]:
    """How to get JSON where an own instance refused it; it is asked for again after a week or an hour.

    Of others, an own instance among the attempts stays silent: who they are is not known here.
    """
    said = []
    for verdict, (state, remedy) in _REFUSALS_OF_JSON.items():
        refusals = [a for a in found.attempts if a.verdict is verdict and a.format is Format.JSON]
        if refusals:
            hosts = ", ".join(dict.fromkeys(urlsplit(each.instance).netloc for each in refusals))
            said.append(
                f"JSON is {state} at {hosts}, so its pages are read instead: {remedy} in its"
                " settings.yml (searx-mcp doctor shows the lines)."
            )
    return said


def _staleness(age: float, error: NoInstancesError | DeadlineError | None) -> str:
    """Why an answer of `age` seconds is given: a newer one is on its way, or `error` forbids it."""
    answer = f"Answer of {_ago(age)} ago"
    match error:
        case None:
            return f"{answer}; a newer one is being fetched."
        case DeadlineError():
            return f"{answer}: there was no time for a newer one ({error.code})."
        case NoInstancesError():
            wait = error.retry_after
            then = "" if wait is None else f", the next may in {max(1, math.ceil(wait))} s"
            return f"{answer}: no instance could serve now ({error.reason}){then}."


def _ago(age: float) -> str:
    """Whole units, as many as have passed."""
    size, unit = next((u for u in _UNITS if age >= u[0]), _UNITS[-1])
    count = int(age // size)
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
