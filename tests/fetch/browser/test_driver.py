"""The driver may end or hang at any time, and says nothing of it to a user."""

import asyncio
import gc
import os
import signal

import pytest
from playwright._impl import transport

from searx_mcp.fetch.browser.chromium import Driver

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


async def test_drivers_of_others_keep_their_standard_error():
    before = transport._get_stderr_fileno
    async with asyncio.timeout(60):
        driver = await Driver.start()
        await driver.stop()
    assert transport._get_stderr_fileno is before
