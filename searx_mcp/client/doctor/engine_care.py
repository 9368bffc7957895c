"""What searches at an own instance learned of its engines."""

from collections.abc import Sequence
from typing import Final

from searx_mcp.client.doctor.course import Finding, doubtful, fine
from searx_mcp.models.instance import EngineReport
from searx_mcp.pool.engine_care import LEAST

_SHOWN: Final = 6


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


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more if names else "no engine yet"
