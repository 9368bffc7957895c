"""Commands whose standard streams are closed, full, or that nobody reads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX closes streams"),
]

CLOSED = (
    "searx-mcp: standard output is closed\nRedirect it to /dev/null if the output is not wanted.\n"
)
FULL = "searx-mcp: standard output cannot be written: No space left on device\n"
UNREAD = "searx-mcp: nobody reads standard output any more\n"
NO_INPUT = "searx-mcp: standard input is closed\nAn MCP host starts this program with pipes.\n"
NO_FILE = "searx-mcp: file: is not JSON: EOF while parsing a value at line 1 column 0\n"

UNREAD_BY_ALL = ""

full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")


def run(tmp_path: Path, command: str, streams: str) -> tuple[int, str]:
    """Run a command in a shell; gives its exit code and what it wrote on standard error."""
    config = tmp_path / "empty.toml"
    config.touch()
    program = f"'{sys.executable}' -m searx_mcp {command}"
    reader = "true" if streams == UNREAD_BY_ALL else "cat"
    shell = f"({program} {streams}; echo $? > '{tmp_path}/code') | {reader}"
    ran = subprocess.run(
        ["/bin/sh", "-c", shell],
        env={**os.environ, "SEARX_MCP_CONFIG": str(config), "SEARX_MCP_OPEN_SOURCES__MODE": "off"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
        text=True,
    )
    return int((tmp_path / "code").read_text()), ran.stderr


@pytest.mark.parametrize(
    ("command", "streams", "code", "told"),
    [
        ("--help", ">&-", 1, CLOSED),
        ("stdio", ">&-", 1, CLOSED),
        ("stdio", "<&-", 1, NO_INPUT),
        ("", "<&-", 1, NO_INPUT),
        ("config", "<&- >&- 2>&-", 1, ""),
        ("config", "<&-", 0, ""),
        ("config", "2>&-", 0, ""),
        ("instances import -", "<&-", 2, NO_FILE),
        ("purge", "<&-", 2, "searx-mcp: --yes: is needed where nobody can be asked\n"),
        pytest.param("--help", ">/dev/full", 1, FULL, marks=full),
        pytest.param("config --json", ">/dev/full", 1, FULL, marks=full),
        pytest.param("demo", ">/dev/full", 1, FULL, marks=full),
        pytest.param("config", "2>/dev/full", 0, "", marks=full),
        pytest.param("nothing", "2>/dev/full", 2, "", marks=full),
        ("config", UNREAD_BY_ALL, 1, UNREAD),
        ("instances list --json", UNREAD_BY_ALL, 1, UNREAD),
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
