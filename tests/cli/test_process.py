"""The command as a process of its own."""

import os
import sys

import pytest

pytestmark = pytest.mark.slow


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
    assert "«nothing found»" in out.decode()
