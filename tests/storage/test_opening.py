"""Opening a file beside others who open it."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from searx_mcp.storage import opening
from searx_mcp.storage.errors import is_busy
from searx_mcp.storage.opening import open_database, set_aside_files


@pytest.fixture
def damaged(path):
    path.parent.mkdir()
    path.write_bytes(b"this is not a database\n" * 100)
    return path


def test_companions_that_sqlite_left_go_with_the_file_they_belong_to(damaged):
    log = damaged.with_name(f"{damaged.name}-wal")
    log.write_bytes(b"log")
    aside = opening._set_aside(damaged)
    assert set_aside_files(damaged) == [aside, aside.with_name(f"{aside.name}-wal")]
    assert not damaged.exists()
    assert not log.exists()


def test_a_file_that_another_process_has_just_replaced_is_used_as_it_is(damaged, schema):
    open_database(damaged, schema).close()
    opening._replace(damaged, schema, thorough=False)
    assert len(set_aside_files(damaged)) == 1


def test_a_file_that_is_busy_while_its_damage_is_looked_at_stays(path, schema):
    opened = open_database(path, schema)
    opened.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError) as caught:
            opening._replace(path, schema, thorough=False)
    assert is_busy(caught.value)
    assert set_aside_files(path) == []


@pytest.mark.parametrize(("checked", "thorough"), [(True, False), (False, True), (False, False)])
def test_a_file_is_read_whole_unless_its_damage_may_wait(path, schema, spoil, checked, thorough):
    with closing(open_database(path, schema)) as opened:
        opened.connection.executemany("INSERT INTO words VALUES (?)", [["w" * 1_000]] * 50)
    spoil(path, 20_480)
    schema = replace(schema, checked=checked)
    open_database(path, schema, thorough=thorough).close()
    assert bool(set_aside_files(path)) is (checked or thorough)
