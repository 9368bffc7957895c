"""The command as a process of its own: its imports, and streams that are closed, full or unread."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

CLOSED = "searx-mcp: standard output is closed\nRedirect it to /dev/null to discard the output.\n"
FULL = "searx-mcp: standard output cannot be written: No space left on device\n"
UNREAD = "searx-mcp: standard output was closed by its reader\n"
NO_INPUT = "searx-mcp: standard input is closed\nAn MCP client starts this program with pipes.\n"
NO_FILE = "searx-mcp: FILE: is not JSON: EOF while parsing a value at line 1 column 0\n"

UNREAD_BY_ALL = ""

full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")

ROOT = Path(__file__).parents[2]


def run(tmp_path: Path, command: str, streams: str) -> tuple[int, str]:
    """Run a command in a shell; gives its exit code and what it wrote on standard error."""
    config = tmp_path / "empty.toml"
    config.touch()
    program = f"'{sys.executable}' -m searx_mcp {command}"
    reader = "true" if streams == UNREAD_BY_ALL else "cat"
    shell = f"({program} {streams}; echo $? > '{tmp_path}/code') | {reader}"
    ran = subprocess.run(
        ["/bin/sh", "-c", shell],
        env={
            **os.environ,
            "SEARX_MCP_CONFIG": str(config),
            "SEARX_MCP_OPEN_SOURCES__MODE": "off",
            "SEARX_MCP_LOG_LEVEL": "CRITICAL",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
        text=True,
    )
    return int((tmp_path / "code").read_text()), ran.stderr


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX closes streams")
@pytest.mark.parametrize(
    ("command", "streams", "code", "told"),
    [
        ("--help", ">&-", 1, CLOSED),
        ("stdio", "<&-", 1, NO_INPUT),
        ("", "<&-", 1, NO_INPUT),
        ("config", "<&- >&- 2>&-", 1, ""),
        ("config", "2>&-", 0, ""),
        ("instances import -", "<&-", 2, NO_FILE),
        ("purge", "<&-", 2, "searx-mcp: --yes: is required without a terminal\n"),
        pytest.param("--help", ">/dev/full", 1, FULL, marks=full),
        pytest.param("demo", ">/dev/full", 1, FULL, marks=full),
        pytest.param("config", "2>/dev/full", 0, "", marks=full),
        ("config", UNREAD_BY_ALL, 1, UNREAD),
    ],
)
def test_a_command_says_in_a_sentence_what_is_wrong_with_its_streams(
    tmp_path, command, streams, code, told
):
    found, errors = run(tmp_path, command, streams)
    assert found == code
    assert errors.startswith(told)
    assert bool(errors) is bool(told)
    assert "Traceback" not in errors
    assert "ignored" not in errors


@pytest.fixture
def start(start_program, tmp_path):
    """Starts the command with arguments, and with variables besides our own."""
    config = tmp_path / "empty.toml"
    config.touch()

    def started(*arguments, **environment):
        environment = {**os.environ, "SEARX_MCP_CONFIG": str(config), **environment}
        return start_program(sys.executable, "-m", "searx_mcp", *arguments, env=environment)

    return started


async def test_a_reader_that_goes_away_is_no_error_worth_a_traceback(start):
    process = await start("demo")
    await process.stdout.readline()
    process._transport.get_pipe_transport(1).close()
    errors = (await process.stderr.read()).decode()
    assert await process.wait() == 1
    assert "Traceback" not in errors
    assert "never retrieved" not in errors


async def test_without_a_terminal_no_command_serves_and_ends_with_its_input(start):
    process = await start()
    out, errors = await process.communicate(b"")
    assert (process.returncode, out) == (0, b"")
    assert b"Traceback" not in errors


async def test_an_output_that_knows_no_unicode_is_no_crash(start):
    process = await start("demo", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    out, _ = await process.communicate(b"")
    assert process.returncode == 0
    assert "“nothing found”" in out.decode()


COMPLETED = {
    "searx-mcp inst": "instances",
    "searx-mcp instances li": "list",
    "searx-mcp search --fe": "--fetch-content",
    "searx-mcp instances list --sort sco": "score",
}


@pytest.mark.parametrize("line", COMPLETED)
async def test_a_shell_completes_commands_options_and_values(line, start):
    process = await start(
        _SEARX_MCP_COMPLETE="bash_complete",
        COMP_WORDS=line,
        COMP_CWORD=str(len(line.split()) - 1),
    )
    out, _ = await process.communicate(b"")
    assert (process.returncode, out.decode().split()) == (0, [f"plain,{COMPLETED[line]}"])


async def test_the_line_for_a_shell_prints_its_completion(start):
    process = await start(_SEARX_MCP_COMPLETE="fish_source")
    out, _ = await process.communicate(b"")
    assert b"COMP_CWORD" in out
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert {*re.findall(r"(\w+)_source", page)} == {"bash", "zsh", "fish"}


WITHOUT = """
import sys
from searx_mcp.cli.main import main
main(sys.argv[1:])
heavy = {"aiohttp", "asyncio", "json", "logging", "mcp", "pydantic", "rich"} & sys.modules.keys()
sys.exit(" ".join(sorted(heavy)) or 0)
"""


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_import_nothing_that_they_do_not_use(option):
    command = [sys.executable, "-c", WITHOUT, option]
    ran = subprocess.run(command, capture_output=True, timeout=60, check=False, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


TWICE = """
import asyncio, os, signal, sys
from searx_mcp.cli import process
from searx_mcp.cli.running import run

process._REPEATED = 1_000

async def work():
    os.kill(os.getpid(), signal.SIGTERM)
    try:
        await asyncio.Event().wait()
    finally:
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
        print("still here")

run(work(), within=1_000)
"""


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has signals that end")
@pytest.mark.parametrize(
    ("second", "said"),
    [("SIGINT", ""), ("SIGTERM", "still here\n")],
    ids=["another", "the same, as timeout sends it"],
)
def test_a_second_signal_ends_at_once_what_the_first_has_told_to_end(second, said):
    command = [sys.executable, "-c", TWICE, second]
    ran = subprocess.run(command, capture_output=True, timeout=60, check=False, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (143, said, "")
