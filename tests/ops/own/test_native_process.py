"""The process of an instance: one at a time, found by its lock, ended by its number."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from searx_mcp.ops.own import launcher
from searx_mcp.ops.own.installation import native_settings
from searx_mcp.ops.own.native_process import NativeProcess, StartPlan

PATIENCE = 60.0


@pytest.fixture
def plan(stand_in, tmp_path):
    """A plan whose environment is that of the tests, with the stand-ins of SearXNG and waitress."""
    environment = tmp_path / "environment"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(sys.executable)
    source = tmp_path / "source"
    source.mkdir()
    for name in ("searx", "waitress"):
        (source / name).symlink_to(stand_in.sources / name)
    settings = tmp_path / "settings.yml"
    settings.write_text(native_settings("ab" * 32))

    def make(port=0, idle=0.0):
        return StartPlan(source, environment, settings, port, idle)

    return make


@pytest.fixture
def process(tmp_path):
    made = NativeProcess(tmp_path / "run")
    yield made
    if (running := made.find()) is not None:
        os.kill(running.pid, signal.SIGKILL)


def serving(process):
    return lambda: (found := process.find()) is not None and found.port and found


def ask(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=PATIENCE) as answer:
        return answer.read()


@pytest.mark.slow
async def test_it_serves_apart_from_us_until_it_is_stopped(process, plan, until):
    child = process.start(plan(), os.environ)
    running = await until(serving(process))
    assert process.is_held
    assert await asyncio.to_thread(ask, running.port, "healthz") == b"OK"
    assert os.getsid(running.pid) == running.pid != os.getsid(0)
    assert await process.stop()
    assert await until(lambda: child.returncode is not None)
    assert process.find() is None
    assert await process.stop()


@pytest.mark.slow
async def test_of_many_that_are_started_one_runs(process, plan, until):
    children = [process.start(plan(), os.environ) for _ in range(5)]
    await until(lambda: [each.returncode for each in children].count(launcher.BUSY) == 4)
    assert (await until(serving(process))).port


@pytest.mark.slow
async def test_a_taken_port_ends_it_with_a_code_of_its_own(process, plan, until, stand_in):
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", stand_in.port)
    async with server:
        child = process.start(plan(port=stand_in.port), os.environ)
        await until(lambda: child.returncode is not None)
    assert child.returncode == launcher.PORT_TAKEN
    assert process.log_tail(5)[0].startswith(f"port {stand_in.port}:")


@pytest.mark.slow
async def test_one_that_is_stopped_before_it_holds_the_lock_does_not_start(process, plan, tmp_path):
    slow = tmp_path / "environment" / "bin" / "python"
    slow.unlink()
    slow.write_text("#!/bin/sh\nexec sleep 100\n")
    slow.chmod(0o700)
    child = process.start(plan(), os.environ)
    assert not process.is_held
    assert await process.stop()
    assert child.returncode == -signal.SIGTERM
    assert not process.is_held


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_a_process_that_has_ended_is_not_alive_until_its_number_is_free():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert launcher.birth(child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert launcher.birth(child.pid) == ""
    child.communicate()


def test_a_number_that_is_another_program_now_is_not_taken_for_it(tmp_path, start_lock_holder):
    folder = tmp_path / "run"
    start_lock_holder(folder)
    described = {"pid": os.getpid(), "birth": "1", "source": "", "port": 1}
    (folder / "run.json").write_text(json.dumps(described))
    process = NativeProcess(folder)
    assert process.is_held
    assert process.find() is None


def test_one_that_another_version_started_is_known_by_its_number(tmp_path, start_lock_holder):
    folder = tmp_path / "run"
    start_lock_holder(folder)
    described = {"pid": os.getpid(), "birth": launcher.birth(os.getpid()), "new": [1]}
    (folder / "run.json").write_text(json.dumps(described))
    running = NativeProcess(folder).find()
    assert running is not None
    assert (running.pid, running.port, running.source) == (os.getpid(), 0, "")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"pid": "x"}', '{"pid": 0, "birth": ""}', "\0"])
def test_what_cannot_be_read_is_no_process(tmp_path, start_lock_holder, text):
    folder = tmp_path / "run"
    start_lock_holder(folder)
    (folder / "run.json").write_text(text)
    assert NativeProcess(folder).find() is None


@pytest.fixture
def start_lock_holder():
    import fcntl  # noqa: PLC0415 - POSIX alone

    opened = []

    def hold(folder):
        folder.mkdir(exist_ok=True)
        lock = (folder / "run.lock").open("ab")
        opened.append(lock)
        fcntl.flock(lock, fcntl.LOCK_EX)

    yield hold
    for lock in opened:
        lock.close()


def test_without_a_folder_there_is_no_process_and_no_log(tmp_path):
    process = NativeProcess(tmp_path / "nowhere")
    assert not process.is_held
    assert process.find() is None
    assert process.log_tail(5) == ()


def test_the_log_goes_on_in_the_file_before_and_hides_secrets(tmp_path):
    (tmp_path / "log.old.txt").write_text("one\n")
    (tmp_path / "log.txt").write_text(f"two {'ab' * 32}\nthree\n")
    assert NativeProcess(tmp_path).log_tail(5) == ("one", "two …", "three")
    assert NativeProcess(tmp_path).log_tail(1) == ("three",)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell")
def test_the_memory_of_a_process_is_told(tmp_path):
    memory = NativeProcess(tmp_path).memory(os.getpid())
    assert memory is not None
    assert memory > 1_000_000
