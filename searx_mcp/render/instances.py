"""The state of the pool for a model and for an operator's program: what may be asked now, and why not more."""

import json
from collections import Counter
from typing import Any, Final

from searx_mcp.models.instance import EngineState, InstanceReport, InstanceState, PoolReport
from searx_mcp.render.fence import one_line, one_url
from searx_mcp.render.public import without_absent
from searx_mcp.render.tokens import estimate

_TEXT_TOKENS: Final = 60
"""Of a reason or a note. Chosen: two sentences."""
_ENGINES: Final = 5
_ROW_FIELDS: Final = frozenset({"url", "tier", "state", "usable"})


def instances_text(report: PoolReport, *, budget: int, boundary: str) -> str:
    """Write the pool as JSON, with a line for each instance.

    Args:
        report: the pool, in the order in which it is asked.
        budget: tokens at most; `left_out` counts the instances that have no room.
        boundary: of the fences around what strangers wrote; no text here can hold one.

    Returns:
        An object with `usable_now`, `states` (how many instances are in each), `public_budget`,
        `catalog_source`, `catalog_age_days`, `notes`, `instances` and `left_out`; what is empty is left
        out, but for `usable_now` and `instances`. Field names are those of `instances list --json`.
    """
    head = _head(report, boundary)
    room = budget - estimate(json.dumps(head, ensure_ascii=False))
    rows: list[str] = []
    for row in report.instances:
        line = json.dumps(_row(row, boundary), ensure_ascii=False)
        room -= estimate(f",\n{line}")
        if room < 0:
            break
        rows.append(line)
    if left_out := len(report.instances) - len(rows):
        head["left_out"] = left_out
    fields = [
        f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
        for name, value in head.items()
    ]
    listed = ",\n".join(rows)
    return (
        "{"
        + ",\n".join([*fields, f'"instances": [\n{listed}\n]' if rows else '"instances": []'])
        + "}"
    )


def _head(report: PoolReport, boundary: str) -> dict[str, Any]:
    states = Counter(row.state.value for row in report.instances)
    data = {
        "usable_now": sum(map(_is_usable, report.instances)),
        "states": dict(states.most_common()),
        "public_budget": None if report.month is None else report.month.model_dump(mode="json"),
        "catalog_source": _line(report.catalog_source, boundary),
        "catalog_age_days": report.catalog_age_days,
        "notes": [_line(note, boundary) for note in report.notes],
    }
    return without_absent(data, frozenset({"usable_now"}))


def _row(row: InstanceReport, boundary: str) -> dict[str, Any]:
    failed = [each for each in row.engines if each.state is not EngineState.WELL]
    data = {
        "url": one_url(row.url),
        "tier": row.tier.value,
        "state": row.state.value,
        "usable": _is_usable(row),
        "retry_after": round(row.retry_after) or None,
        "reason": _line(row.reason, boundary),
        "success": None if row.success is None else round(row.success, 2),
        "p50": None if row.p50 is None else round(row.p50, 2),
        "budget_left": row.budget_left,
        "source": row.source,
        "failed_engines": [
            without_absent(
                {
                    "name": _line(each.name, boundary),
                    "reason": _line(each.reason, boundary),
                    "retry_after": round(each.retry_after) or None,
                }
            )
            for each in failed[:_ENGINES]
        ],
    }
    return without_absent(data, _ROW_FIELDS)


def _is_usable(row: InstanceReport) -> bool:
    """Tell whether it may be asked now."""
    return row.state is not InstanceState.BLACKLISTED and not row.retry_after


def _line(text: str, boundary: str) -> str:
    return one_line(text, boundary, max_tokens=_TEXT_TOKENS)
