"""What `searx-mcp instances own` prints; `tests/ops/own` runs it for real."""

import json
from contextlib import nullcontext

import pytest

from searx_mcp.cli import own
from searx_mcp.cli.main import exit_code
from searx_mcp.cli.running import ExitCode
from searx_mcp.errors import InvalidArgumentError, SettingsError
from searx_mcp.models.own_instance import (
    Done,
    NativeFailure,
    NativeInstanceDown,
    NativeInstanceUp,
    NativeState,
)
from searx_mcp.ops.own.failures import OwnInstanceError


class Runner:
    """Has done already what it is asked for."""

    def __init__(self, report) -> None:
        self._report = report

    async def up(self, options):
        return self._report

    async def down(self, *, keep_settings):
        return self._report


@pytest.fixture
def reporting(monkeypatch):
    """Makes every command of the instance end with a report."""

    def end_with(report):
        monkeypatch.setattr(own, "open_native", lambda *_, **__: nullcontext(Runner(report)))

    return end_with


@pytest.mark.parametrize(
    ("down", "lines"),
    [
        (NativeInstanceDown(removed=True), ["Removed the instance."]),
        (NativeInstanceDown(removed=False), ["No instance is installed."]),
        (
            NativeInstanceDown(
                removed=True, unregistered="http://127.0.0.1:8888/", settings="/s/x.yml"
            ),
            [
                "Removed the instance.",
                "Searches no longer use http://127.0.0.1:8888/.",
                "Kept /s/x.yml",
            ],
        ),
    ],
)
async def test_what_was_removed_and_what_stays_is_listed(run_cli, reporting, down, lines):
    reporting(down)
    ran = await run_cli("instances", "own", "down")
    assert ran.out.splitlines() == lines


async def test_an_instance_as_a_process_reads_like_this(run_cli, reporting):
    reporting(
        NativeInstanceUp(
            state=NativeState.RUNNING,
            version="2026.8.22+9fea41204",
            age_days=92,
            url="http://127.0.0.1:8888/",
            healthy=True,
            registered=True,
            pid=12,
            memory=60_000_000,
            failing={"brave": "CAPTCHA", "bing": "timeout"},
            missing=("mojeek",),
            settings="/s/settings.yml",
            log=("one", "two"),
            notes=("One.",),
            done=Done.CREATED,
            seconds={"source": 0.9, "start": 1.25},
        )
    )
    ran = await run_cli("instances", "own", "up")
    assert (ran.out, ran.err) == (
        (
            "Installed and running.\n"
            "url               http://127.0.0.1:8888/\n"
            "process           running (12)\n"
            "version           2026.8.22+9fea41204, 92 days old\n"
            "answers           yes\n"
            "used by searches  yes\n"
            "settings          /s/settings.yml\n"
            "memory            60 MB\n"
            "failing engines   brave (CAPTCHA), bing (timeout)\n"
            "missing engines   mojeek\n"
            "took              source 0.9 s, start 1.2 s\n"
            "log\n"
            "| one\n"
            "| two\n"
            "Searches use it from now on; running servers notice within 15 seconds.\n"
        ),
        "Note: One.\n",
    )


ENDED = OwnInstanceError(
    "It ended.", reason=NativeFailure.EXITED, advice="Look.", log=("one", "two")
)


@pytest.mark.parametrize(
    ("error", "data"),
    [
        (ENDED, {"reason": ENDED.reason.value, "log": ["one", "two"]}),
        (InvalidArgumentError("port", "is taken", advice="Look."), {"field": "port"}),
        (SettingsError("a.b", "is wrong", advice="Look."), {"field": "a.b"}),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_an_error_is_told_to_persons_and_to_programs(run_cli, monkeypatch, error, data):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(own, "open_native", fail)
    told = await run_cli("instances", "own", "status")
    ran = await run_cli("instances", "own", "status", "--json")
    assert told.code == ran.code == exit_code(error) > 0
    assert json.loads(ran.out) == {
        "error_type": error.code.value,
        "error_details": f"{error.message.rstrip('.')}. Look.",
        **data,
    }
    last = "Last lines of its log:\n| one\n| two\n"
    assert told.err.startswith(last) is (error is ENDED)
    assert last not in ran.err


async def test_a_log_that_is_empty_is_said_to_be(run_cli, tmp_path):
    ran = await run_cli("instances", "own", "log", SEARX_MCP_STORAGE__FOLDER=str(tmp_path))
    assert (ran.code, ran.out) == (ExitCode.DONE, "")
    assert ran.err == "No log: no instance is installed, or it has not written anything yet.\n"
