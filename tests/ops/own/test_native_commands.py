"""`searx-mcp instances own` of a process, from the first command to the last, for real."""

import asyncio
import json
import os
import signal
import sys

import pytest

from searx_mcp.cli.running import ExitCode
from searx_mcp.ops.own.native_process import NativeProcess

pytestmark = pytest.mark.slow


@pytest.fixture
def run(stand_in, run_cli):
    stand_in.install_uv()
    environment = {
        "SEARX_MCP_STORAGE__FOLDER": str(stand_in.state),
        "SEARX_MCP_INSTANCES__PUBLIC": "off",
    }

    async def run(*arguments):
        return await run_cli(*arguments, **environment)

    return run


async def test_from_nothing_to_a_search_and_back(run, stand_in):
    archive = str(stand_in.archive())
    up = await run("instances", "own", "up", "--version", archive, "--port", str(stand_in.port))
    assert up.code == ExitCode.DONE, up.err
    assert up.out.startswith("Installed and running.\n")
    assert up.out.endswith("running servers notice within 15 seconds.\n")

    found = json.loads((await run("search", "bees", "--no-fetch-content", "--json")).out)
    assert found["instance_used"] == f"http://127.0.0.1:{stand_in.port}/"

    status = json.loads((await run("instances", "own", "status", "--json")).out)
    assert (status["state"], status["registered"]) == ("running", True)
    assert (await run("instances", "own", "up")).out.startswith("Already running.\n")

    newer = str(stand_in.archive(commit="d" * 40, more="newer"))
    update = await run("instances", "own", "update", "--version", newer)
    assert update.out.startswith("Running the new version.\n")

    checks = await doctor(run)
    assert checks["process"] == "ok"
    assert checks["healthz"] == "ok"
    assert checks["version"] == "warning"

    down = await run("instances", "own", "down")
    assert down.out == (
        f"Removed the instance.\nSearches no longer use http://127.0.0.1:{stand_in.port}/.\n"
    )
    assert (await run("instances", "own", "status")).out.endswith(
        "Start it with `searx-mcp instances own up`.\n"
    )
    searched = await run("search", "bees", "--no-fetch-content")
    assert searched.code == ExitCode.UNAVAILABLE
    assert "searx-mcp instances own up" in searched.err


async def test_of_several_processes_at_once_one_installs(start_program, stand_in):
    stand_in.install_uv()
    port, archive = str(stand_in.port), str(stand_in.archive())
    config = stand_in.folder / "empty.toml"
    config.touch()
    environment = {
        **os.environ,
        "SEARX_MCP_CONFIG": str(config),
        "SEARX_MCP_STORAGE__FOLDER": str(stand_in.state),
    }
    command = (sys.executable, "-m", "searx_mcp", "instances", "own", "up")
    options = ("--version", archive, "--port", port, "--timeout", "100", "--json")
    started = [await start_program(*command, *options, env=environment) for _ in range(3)]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(process.communicate()) for process in started]
    said = [json.loads(task.result()[0]) for task in tasks]
    assert [process.returncode for process in started] == [ExitCode.DONE] * 3
    assert sorted(each["done"] for each in said) == ["created", *["unchanged"] * 2]
    assert all(each["healthy"] for each in said)
    (version,) = (stand_in.state / "own-native" / "versions").iterdir()
    assert version.is_dir()


async def doctor(run):
    examined = json.loads((await run("doctor", "--json")).out)["examinations"][1]
    return {check["name"]: check["status"] for check in examined["checks"]}


async def test_the_doctor_says_that_it_is_down(run, stand_in, until):
    archive = str(stand_in.archive())
    await run("instances", "own", "up", "--version", archive, "--port", str(stand_in.port))
    process = NativeProcess(stand_in.state / "own-native" / "run")
    running = process.find()
    assert running is not None
    os.kill(running.pid, signal.SIGKILL)
    await until(lambda: not process.is_held)
    assert await doctor(run) == {"process": "warning"}


async def test_a_failure_has_its_reason_and_its_log(run, stand_in):
    archive = str(stand_in.archive("ends"))
    ran = await run("instances", "own", "up", "--version", archive, "--json")
    assert ran.code == ExitCode.FAILED
    data = json.loads(ran.out)
    assert (data["error_type"], data["reason"]) == ("native_failed", "exited")
    assert data["log"] == ["settings are wrong, secret_key …"]
    shown = await run("instances", "own", "up", "--version", archive)
    assert shown.err.startswith("fetching SearXNG ")
    assert "\nstarting SearXNG\nLast lines of its log:\n| settings are wrong" in shown.err
