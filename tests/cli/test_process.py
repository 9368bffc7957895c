"""The command as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def start(tmp_path: Path, *arguments: str, stdin: int | None = None) -> subprocess.Popen[bytes]:
    config = tmp_path / "empty.toml"
    config.touch()
    return subprocess.Popen(
        [sys.executable, "-m", "searx_mcp", *arguments],
        env={**os.environ, "SEARX_MCP_CONFIG": str(config)},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_reader_that_goes_away_is_no_error_worth_a_traceback(tmp_path):
    with start(tmp_path, "demo") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read().decode()
        process.wait(60)
    assert process.returncode == 1
    assert "Traceback" not in errors
    assert "never retrieved" not in errors


def test_without_a_terminal_no_command_serves_and_ends_with_its_input(tmp_path):
    with start(tmp_path, stdin=subprocess.PIPE) as process:
        out, errors = process.communicate(b"", timeout=60)
    assert (process.returncode, out) == (0, b"")
    assert b"Traceback" not in errors


def test_an_output_that_knows_no_unicode_is_no_crash(tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    config = tmp_path / "empty.toml"
    config.touch()
    ran = subprocess.run(
        [sys.executable, "-m", "searx_mcp", "demo"],
        env={**environment, "SEARX_MCP_CONFIG": str(config)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0
    assert "«nothing found»" in ran.stdout.decode()
