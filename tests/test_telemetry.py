"""Events reach the log at their level, and those who listen at every level."""

import asyncio
import logging

import pytest

from searx_mcp.telemetry import EventLog, heard_by


@pytest.fixture
def heard():
    return []


@pytest.fixture
def listener(heard):
    def hear(event, fields, /):
        heard.append((event, dict(fields)))

    return hear


def test_a_listener_hears_what_the_log_does_not_show(heard, listener, caplog):
    log = EventLog("searx_mcp.a_test")
    caplog.set_level(logging.INFO)
    with heard_by((listener,)):
        log.debug("a.hit age_s=%d kind=%s", 3.7, "fresh")
        log.info("a.line")
    assert heard == [("a.hit", {"age_s": 3.7, "kind": "fresh"}), ("a.line", {})]
    assert caplog.messages == ["a.line"]
    assert caplog.records[0].filename == "test_telemetry.py"


async def test_tasks_that_a_block_starts_are_heard_and_others_are_not(heard, listener):
    log, may_go = EventLog("searx_mcp.a_test"), asyncio.Event()

    async def work(name: str) -> None:
        await may_go.wait()
        log.debug("a.task name=%s", name)

    async with asyncio.TaskGroup() as group:
        group.create_task(work("outside"))
        with heard_by((listener,)):
            group.create_task(work("inside"))
        may_go.set()
    assert heard == [("a.task", {"name": "inside"})]
