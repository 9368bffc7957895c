"""What searches believe of an instance and learned of its engines, beside what was measured."""

from collections.abc import Sequence
from typing import Final

from searx_mcp.models.attempt import Verdict
from searx_mcp.models.diagnosis import Check, CheckName, CheckStatus
from searx_mcp.models.instance import EngineReport, InstanceReport
from searx_mcp.ops.doctor.course import Finding, broken, doubtful, fine
from searx_mcp.pool.engine_care import LEAST

_MEASURED: Final = frozenset({CheckName.HEALTHZ, CheckName.JSON})
"""What a search needs, as far as it is tried without one: the way, the program, the limiter."""
_MINUTE: Final = 60
_ENGINES_SHOWN: Final = 6
_SHOWN_BY_JSON: Final = frozenset(
    {
        Verdict.JSON_OFF,
        Verdict.RATE_LIMITED,
        Verdict.BLOCKED,
        Verdict.CHALLENGE,
        Verdict.REFUSED,
        Verdict.NOT_SEARXNG,
        Verdict.FOREIGN_REDIRECT,
        Verdict.TLS,
        Verdict.DNS,
        Verdict.CONNECTION,
    }
)
"""What the check of JSON would have met as well: it asks the same address."""


def is_well(checks: Sequence[Check]) -> bool:
    """Whether the instance was seen to take searches."""
    done = {check.name for check in checks if check.status is CheckStatus.OK}
    return done >= _MEASURED


def check_belief(row: InstanceReport, checks: Sequence[Check]) -> Finding:
    """Hold what the pool believes against what was measured.

    Args:
        row: what the pool knows of the instance.
        checks: those made of it.
    """
    well = is_well(checks)
    if row.retry_after > 0:
        waits = f"Searches leave it alone for {_wait(row.retry_after)}: {row.reason}"
        if well:
            return fine(f"{waits} What was measured is fine: from now on they ask it again.")
        return broken(waits, "Mend what failed above; the doctor ends the wait when all is well.")
    return _last_search(row, row.last_verdict, well=well)


def check_searches(engines: Sequence[EngineReport]) -> Finding:
    """Tell which engines bring results, and which are left alone and why.

    Args:
        engines: those that bring most first.
    """
    bringing = [each for each in engines if each.results]
    resting = [each for each in engines if each.retry_after]
    said = [f"Results come from {_listed([f'{each.name} {each.results}' for each in bringing])}."]
    if resting:
        named = [f"{each.name} ({each.reason})" for each in resting]
        said.append(f"Left alone for now: {_listed(named)}.")
    if any(each.spared for each in engines):
        said.append("Searches are spread over the others.")
    well = [each for each in bringing if not each.retry_after]
    if resting and len(well) < LEAST:
        return doubtful(
            " ".join(said),
            f"Switch on more engines: with fewer than {LEAST} that are well, nothing can be spread.",
        )
    return fine(" ".join(said))


def _last_search(row: InstanceReport, verdict: Verdict | None, *, well: bool) -> Finding:
    if verdict is None:
        return fine("No search has asked it yet.")
    if verdict.ends_search:
        return fine(f"It is {row.state.replace('_', ' ')}: the last search there was answered.")
    said = f"The last search there came to nothing: {row.last_detail or verdict}"
    fix = f"See what a search comes to.\nsearx-mcp instances test {row.url} tea"
    if well and verdict in _SHOWN_BY_JSON:
        return fine(f"{said} What was measured now is fine.")
    if verdict is Verdict.OVERTAKEN:
        return doubtful("It was too slow: for the last search another one answered first.", fix)
    return broken(said, fix)


def _wait(seconds: float) -> str:
    """Whole units, rounded up."""
    if seconds <= 2 * _MINUTE:
        return f"{max(1, round(seconds))} s"
    return f"{-(-seconds // _MINUTE):.0f} min"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _ENGINES_SHOWN} more" if len(names) > _ENGINES_SHOWN else ""
    return ", ".join(names[:_ENGINES_SHOWN]) + more if names else "no engine yet"
