"""The state of the pool for a model and for an operator's program: which instances can be asked, and why not more."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from searx_mcp.models.instance import EngineState, InstanceReport, InstanceState, PoolReport
from searx_mcp.render.fence import one_line, one_url
from searx_mcp.render.structured import without_absent
from searx_mcp.render.tokens import estimate, line_cost

_TEXT_TOKENS: Final = 60
"""Maximum tokens of a reason or a note. Chosen: two sentences."""
_ENGINES: Final = 5
_NOTES: Final = 6
_ROW_FIELDS: Final = frozenset({"url", "tier", "state", "usable"})


def is_usable(row: InstanceReport) -> bool:
    """Return whether an instance can be asked now."""
    return row.state is not InstanceState.BLACKLISTED and not row.retry_after


def instances_text(report: PoolReport, *, budget: int, boundary: str) -> str:
    """Format the pool as JSON, with one line per instance.

    Args:
        report: the pool, in the order in which it is asked.
        budget: maximum tokens; `left_out` counts the instances that do not fit.
        boundary: of the fences around untrusted text; no other text can contain one.

    Returns:
        An object with `usable_now`, `states` (how many instances are in each), `public_budget`,
        `catalog_source`, `catalog_age_days`, `notes`, `instances` and `left_out`; empty fields are omitted,
        except `usable_now` and `instances`. Field names are those of `instances list --json`.
    """
    head = {**_head(report, boundary), "left_out": len(report.instances)}
    room = budget - estimate(_written(head, ()))
    rows: list[str] = []
    for row in report.instances:
        line = json.dumps(_row(row, boundary), ensure_ascii=False)
        room -= line_cost(f"{line},")
        if room < 0:
            break
        rows.append(line)
    head["left_out"] -= len(rows)
    return _written(
        {name: value for name, value in head.items() if name != "left_out" or value}, rows
    )


def _written(head: Mapping[str, Any], rows: Sequence[str]) -> str:
    fields = (
        f'"{name}": {json.dumps(value, ensure_ascii=False)},\n' for name, value in head.items()
    )
    listed = ",\n".join(rows)
    return f'{{{"".join(fields)}"instances": [\n{listed}\n]}}'


def _head(report: PoolReport, boundary: str) -> dict[str, Any]:
    states = Counter(row.state.value for row in report.instances)
    data = {
        "usable_now": sum(map(is_usable, report.instances)),
        "states": dict(states.most_common()),
        "public_budget": None if report.month is None else report.month.model_dump(mode="json"),
        "catalog_source": _line(report.catalog_source, boundary),
        "catalog_age_days": report.catalog_age_days,
        "notes": [_line(note, boundary) for note in report.notes[:_NOTES]],
    }
    return without_absent(data, frozenset({"usable_now"}))


def _row(row: InstanceReport, boundary: str) -> dict[str, Any]:
    failed = [each for each in row.engines if each.state is not EngineState.WELL]
    data = {
        "url": one_url(row.url),
        "tier": row.tier.value,
        "state": row.state.value,
        "usable": is_usable(row),
        "retry_after": math.ceil(row.retry_after) or None,
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
                    "retry_after": math.ceil(each.retry_after) or None,
                }
            )
            for each in failed[:_ENGINES]
        ],
    }
    return without_absent(data, _ROW_FIELDS)


def _line(text: str, boundary: str) -> str:
    return one_line(text, boundary, max_tokens=_TEXT_TOKENS)
