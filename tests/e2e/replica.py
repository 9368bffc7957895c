"""The program in two versions that run together; started, and killed, by `test_replicas.py`.

    python replica.py VERSION ARGUMENT...

`this` is the program as it is. `next` is one that a later release may be: each of its files and schemas has a minor
version more, and what it writes for other processes has a field more.
"""

import json
import sqlite3
import sys
from dataclasses import dataclass, field, replace
from typing import Any

from searx_mcp.__main__ import main
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.search import cache
from searx_mcp.storage import opening, packing, state

ADDED = "of the next version"
"""What only the next version writes."""
PATIENCE = 10.0
"""Seconds for what is shared: nothing is measured, and the machine may be busy."""

_MINOR = ("CREATE TABLE later (value TEXT NOT NULL)",)


def become_next() -> None:
    """Be a later release, before anything is imported that knows of this one."""
    from searx_mcp.evidence.storage import postgres_tables as schema  # noqa: PLC0415 - most replicas need none of it

    written, upgrade, text = state.written_record, opening._upgrade, packing._text

    def with_field(record: InstanceRecord, *, over: str | bytes) -> str:
        return json.dumps({**json.loads(written(record, over=over)), "added": ADDED})

    def with_minor(connection: sqlite3.Connection, schema: opening.Schema) -> None:
        upgrade(connection, replace(schema, minors=(*schema.minors, _MINOR)))

    def page_with_field(value: Any) -> bytes:
        return text({**value, "added": ADDED} if isinstance(value, dict) else value)

    @dataclass(frozen=True, slots=True)
    class Answer(cache.SharedAnswer):
        added: str = field(default_factory=lambda: ADDED)

    vars(state)["written_record"] = with_field
    vars(opening)["_upgrade"] = with_minor
    vars(packing)["_text"] = page_with_field
    vars(schema)["MINORS"] = (*schema.MINORS, _MINOR)
    vars(cache)["SharedAnswer"] = Answer


if __name__ == "__main__":
    if sys.argv.pop(1) == "next":
        become_next()
    from searx_mcp.search import redis_answers
    from searx_mcp.storage import redis_pages

    redis_answers.PATIENCE = PATIENCE
    vars(redis_pages)["PATIENCE"] = PATIENCE
    main()
