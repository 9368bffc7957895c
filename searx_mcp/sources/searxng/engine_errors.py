"""The engines of an instance that fail, as its `/stats/errors` tells."""

import json
from dataclasses import dataclass
from typing import Final

from searx_mcp.content.clean import clean_line
from searx_mcp.pool.engine_care import Trouble, trouble_of

MOSTLY: Final = 50.0
"""Percent of its requests at which an engine counts as failing; SearXNG counts in steps of 5."""

_MAX_NAME: Final = 60
_MAX_ENGINES: Final = 1_000


@dataclass(frozen=True, slots=True)
class FailingEngine:
    """An engine that fails mostly, as `/stats/errors` tells since the instance was started."""

    name: str
    reason: str
    trouble: Trouble


def failing_engines(text: str) -> tuple[FailingEngine, ...] | None:
    """Read `/stats/errors`: `{engine: [{exception_classname, log_message, percentage, secondary}]}`.

    Args:
        text: its JSON.

    Returns:
        The engines most of whose requests fail, by name; `None` if it is no such document.
    """
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    found = []
    for engine, errors in sorted(document.items())[:_MAX_ENGINES]:
        worst = max(_primary(errors), key=_percentage, default=None)
        if worst is not None and _percentage(worst) >= MOSTLY:
            reason, trouble = _reason(worst)
            found.append(FailingEngine(clean_line(engine, _MAX_NAME), reason, trouble))
    return tuple(found)


def _primary(errors: object) -> list[dict[str, object]]:
    """The errors that ended a request; secondary ones are about single rows."""
    listed = errors if isinstance(errors, list) else []
    return [each for each in listed if isinstance(each, dict) and each.get("secondary") is not True]


def _percentage(error: dict[str, object]) -> float:
    value = error.get("percentage")
    return float(value) if isinstance(value, int | float) else 0.0


def _reason(error: dict[str, object]) -> tuple[str, Trouble]:
    name, message = (str(error.get(key) or "") for key in ("exception_classname", "log_message"))
    reason, trouble = trouble_of(f"{name} {message}")
    shown = reason or clean_line(message or name.rpartition(".")[2], _MAX_NAME)
    return shown or "unknown", trouble
