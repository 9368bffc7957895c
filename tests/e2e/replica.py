"""The program in two versions that run together; started, and killed, by `test_replicas.py`.

    python replica.py VERSION ARGUMENT...

`this` is the program as it is. `next` is one that a later release may be: each of its files has a minor version
more, and what it writes for other processes has a field more.
"""

import json
import sqlite3
import sys
from dataclasses import dataclass, field, replace

from searx_mcp.__main__ import main
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.search import cache
from searx_mcp.storage import opening, state

ADDED = "of the next version"
"""What only the next version writes."""
PATIENCE = 10.0
"""Seconds for what is shared: nothing is measured, and the machine may be busy."""

_MINOR = ("CREATE TABLE later (value TEXT NOT NULL)",)


def become_next() -> None:
    """Be a later release, before anything is imported that knows of this one."""
    written, upgrade = state.written_record, opening._upgrade

    def with_field(record: InstanceRecord, *, over: str | bytes) -> str:
        return json.dumps({**json.loads(written(record, over=over)), "added": ADDED})

    def with_minor(connection: sqlite3.Connection, schema: opening.Schema) -> None:
        upgrade(connection, replace(schema, minors=(*schema.minors, _MINOR)))

    @dataclass(frozen=True, slots=True)
    class Answer(cache.SharedAnswer):
        added: str = field(default_factory=lambda: ADDED)

    vars(state)["written_record"] = with_field
    vars(opening)["_upgrade"] = with_minor
    vars(cache)["SharedAnswer"] = Answer


if __name__ == "__main__":
    if sys.argv.pop(1) == "next":
        become_next()
    from searx_mcp.search import redis_answers

    redis_answers.PATIENCE = PATIENCE
    main()
