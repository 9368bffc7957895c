"""The sentences that go with an answer: what a caller should know about it."""

import math
from urllib.parse import urlsplit

from searx_mcp.errors import DeadlineError, NoInstancesError
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.models.request import SearchRequest
from searx_mcp.models.response import Coverage
from searx_mcp.search.answers.serving import Served
from searx_mcp.search.providers.interface import Found
from searx_mcp.search.providers.remarks import COVERAGE

_LANGUAGES = {
    "all": "Language all: results of any language.",
    "auto": "Language auto: the instance chose it, as a rule English, which our headers ask for.",
}
_REASONS = {
    True: "your instance has no more",
    False: "public instances are asked for one page only, of about ten",
}
_REFUSALS_OF_JSON = {
    Verdict.JSON_OFF: ("off", "add json to search.formats"),
    Verdict.RATE_LIMITED: ("limited", "set server.limiter to false"),
}
_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))


def notes(request: SearchRequest, served: Served, total: int) -> tuple[str, ...]:
    """What is to be said of an answer, its staleness first.

    Args:
        request: what was asked for.
        served: the answer.
        total: its results after merging and filters.
    """
    found = served.found
    said = [_staleness(served.age or 0.0, served.error)] if served.is_stale else []
    if found.coverage in COVERAGE:
        said.append(COVERAGE[found.coverage])
    said += found.remarks
    if request.language in _LANGUAGES and found.coverage is not Coverage.COLLECTIONS:
        said.append(_LANGUAGES[request.language])
    if 0 < total < request.results_count:
        reason = "the older answer has no more" if served.is_stale else _reason(found)
        said.append(f"{total} of {request.results_count} results asked for: {reason}.")
    hits = sum(len(page.hits) for page in found.pages)
    if hits and not total:
        said.append(f"All {hits} results were outside the domains asked for.")
    if served.age is None and found.own:
        said += _without_json(found)
    return tuple(said)


def _reason(found: Found) -> str:
    if found.coverage is Coverage.COLLECTIONS:
        return "the collections asked gave no more, of three pages at most"
    return _REASONS[found.own]


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
