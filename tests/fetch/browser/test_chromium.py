"""The driver may end or hang at any time, and says nothing of it to a user."""

import asyncio
import gc
import os
import signal
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from searx_mcp.errors import SettingsError
from searx_mcp.fetch.browser.chromium import Driver, private_memory

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="such signals exist on POSIX alone"),
]


@pytest.fixture
async def complaints():
    """What asyncio would log."""
    told: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(str(context)))
    return told


# What cannot end by itself is killed; what ends by itself is not asked to.
@pytest.mark.parametrize(
    "number",
    [None, *(getattr(signal, f"SIG{name}", 0) for name in ("KILL", "TERM", "INT", "STOP"))],
)
async def test_a_driver_ends_without_a_word_whatever_became_of_it(capfd, complaints, number):
    async with asyncio.timeout(60):
        driver = await Driver.start()
        process = driver._process
        assert process is not None
        if number is not None:
            process.send_signal(number)
        if number in {signal.SIGKILL, signal.SIGTERM}:
            await process.wait()
        await driver.stop()
        assert process.returncode is not None
    del driver, process
    for _ in range(3):
        await asyncio.sleep(0)
        gc.collect()
    assert complaints == []
    assert capfd.readouterr() == ("", "")


async def test_what_a_driver_says_of_its_own_failure_reaches_nobody(capfd, monkeypatch):
    monkeypatch.setenv("NODE_OPTIONS", "--trace-exit")  # each end of it is told with a stack
    async with asyncio.timeout(60):
        driver = await Driver.start()
        await driver.stop()
    assert capfd.readouterr() == ("", "")


async def test_drivers_of_others_keep_their_standard_error(capfd, monkeypatch):
    async with asyncio.timeout(60):
        driver = await Driver.start()
        await driver.stop()
        monkeypatch.setenv("NODE_OPTIONS", "--trace-exit")
        of_others = await async_playwright().start()
        await of_others.stop()
    assert "exit" in capfd.readouterr().err


def unfinished() -> list[asyncio.subprocess.Process]:
    """Processes of this loop whose end asyncio has not told; it never does so once the loop is closed."""
    loop = asyncio.get_running_loop()
    known = (one for one in gc.get_objects() if type(one) is asyncio.subprocess.Process)
    return [one for one in known if vars(one)["_loop"] is loop and one.returncode is None]


@pytest.fixture
def hanging(leftovers, monkeypatch, tmp_path):
    """A driver that never responds."""
    program = tmp_path / "node"
    program.write_text("#!/bin/sh\nexec sleep 1000\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PLAYWRIGHT_NODEJS_PATH", str(program))
    return leftovers


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_driver_whose_start_is_cancelled_ends(complaints, hanging, times):
    async with asyncio.TaskGroup() as group:
        starting = group.create_task(Driver.start())
        await hanging.until_running()
        for _ in range(times):
            starting.cancel()
            await asyncio.sleep(0)
    assert starting.cancelled()
    assert unfinished() == []
    await hanging.until_gone()
    assert complaints == []


async def test_a_driver_that_is_just_being_started_is_waited_for_too(monkeypatch):
    begun, ended = asyncio.Event(), asyncio.Event()

    async def start(*_arguments, **_options):
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:  # asyncio kills the process and waits for its end
            for _ in range(9):
                await asyncio.sleep(0)
            ended.set()

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    async with asyncio.TaskGroup() as group:
        starting = group.create_task(Driver.start())
        await begun.wait()
        for _ in range(3):
            starting.cancel()
            await asyncio.sleep(0)
        await asyncio.wait({starting})
        assert ended.is_set()
    assert starting.cancelled()


async def test_a_driver_that_does_not_respond_ends(complaints, hanging, monkeypatch):
    monkeypatch.setattr("searx_mcp.fetch.browser.chromium.START_TIMEOUT", 0.1)
    with pytest.raises(SettingsError, match="did not start"):
        await Driver.start()
    assert unfinished() == []
    await hanging.until_gone()
    assert complaints == []


PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4_096


def process(proc: Path, number: int, stat: str, statm: str | None) -> None:
    folder = proc / str(number)
    folder.mkdir()
    (folder / "stat").write_text(stat, "utf-8")
    if statm is not None:
        (folder / "statm").write_text(statm, "utf-8")


def test_what_a_group_takes_for_itself_is_added_up(tmp_path):
    process(tmp_path, 7, "7 (chromium) S 1 7 7 0", "900 500 200 1 0 1 0")
    process(tmp_path, 8, "8 (a) b) R 9 9 9) S 7 7 7 0", "900 50 20 1 0 1 0")
    process(tmp_path, 9, "9 (other) S 1 9 7 0", "900 800 0 1 0 1 0")
    (tmp_path / "meminfo").touch()
    assert private_memory(7, proc=tmp_path) == (300 + 30) * PAGE


def test_a_process_that_ends_meanwhile_does_not_count(tmp_path):
    process(tmp_path, 7, "7 (chromium) S 1 7 7 0", "900 500 200 1 0 1 0")
    process(tmp_path, 8, "8 (chromium) Z 7 7 7 0", None)
    process(tmp_path, 9, "", "900 500 200 1 0 1 0")
    (tmp_path / "10").mkdir()
    assert private_memory(7, proc=tmp_path) == 300 * PAGE


def test_where_nobody_tells_it_is_unknown(tmp_path):
    assert private_memory(7, proc=tmp_path) is None
    assert private_memory(7, proc=tmp_path / "gone") is None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells")
def test_this_process_takes_something():
    taken = private_memory(os.getpgrp())
    assert taken is not None
    assert taken > 1_000_000
