"""The line that moves on a terminal while a command works."""

import asyncio
import contextlib
import io
import os
import pty
import sys
import threading

import pytest
from typing_extensions import override

from searx_mcp.cli.spinner import FRAMES, Spinner


class Terminal(io.StringIO):
    """A stream that is a terminal, and tells when a text has been written."""

    def __init__(self, awaited: str = "") -> None:
        super().__init__()
        self._awaited = awaited
        self.written = threading.Event()

    @override
    def isatty(self) -> bool:
        return True

    @override
    def write(self, text: str, /) -> int:
        count = super().write(text)
        if self._awaited and self._awaited in text:
            self.written.set()
        return count

    def screen(self) -> list[str]:
        """The lines that one sees in the end."""
        return screen(self.getvalue())


def screen(text: str) -> list[str]:
    """What stays of a text on a terminal, where a return begins the line again."""
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        shown = ""
        for part in line.split("\r"):
            shown = part + shown[len(part) :]
        lines.append(shown.rstrip())
    return lines


@contextlib.contextmanager
def spinning(terminal):
    """Begin with a spinner on a terminal that takes both streams."""
    with (
        contextlib.redirect_stdout(terminal),
        contextlib.redirect_stderr(terminal),
        Spinner(terminal) as spinner,
    ):
        yield spinner


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_spinner_makes_way_for_what_is_printed(name):
    terminal = Terminal("working")
    with spinning(terminal) as spinner:
        spinner.update("working")
        assert terminal.written.wait(60)
        getattr(sys, name).write("a result\n")
    assert terminal.getvalue()[1] in FRAMES
    assert terminal.screen() == ["a result", ""]


def test_a_spinner_makes_way_for_a_line_of_the_log_and_goes_on():
    terminal = Terminal("working")
    with spinning(terminal) as spinner:
        spinner.update("working")
        assert terminal.written.wait(60)
        with spinner.aside():
            terminal.write("a line\n")
            terminal.written.clear()
        assert terminal.written.wait(60)
    assert terminal.screen() == ["a line", ""]


def test_a_spinner_is_shown_again_by_the_next_update():
    terminal = Terminal("working")
    with spinning(terminal) as spinner:
        sys.stdout.write("a result\n")
        spinner.update("working")
        assert terminal.written.wait(60)
    assert terminal.screen() == ["a result", ""]


def test_a_command_has_its_streams_back_after_the_spinner():
    terminal = Terminal()
    with contextlib.redirect_stdout(terminal), contextlib.redirect_stderr(terminal):
        with Spinner(terminal):
            assert sys.stdout is not terminal
            assert sys.stdout.isatty()
        assert sys.stdout is terminal
        assert sys.stderr is terminal


class Gone(Terminal):
    """A terminal that was closed."""

    @override
    def write(self, text: str, /) -> int:
        self.written.set()
        raise OSError


def test_a_terminal_that_is_gone_stops_the_spinner_alone():
    terminal = Gone()
    with spinning(terminal) as spinner:
        spinner.update("working")
        assert terminal.written.wait(60)


HELD = """
import os, sys

held, waiting = sys.argv.pop(), int(sys.argv.pop())

class Holding:
    def find_spec(self, name, path=None, target=None):
        if name == held:
            sys.meta_path.remove(self)
            os.read(waiting, 1)

sys.meta_path.insert(0, Holding())
from searx_mcp.__main__ import main
main()
"""
"""Runs the command; the import of one module waits for a byte."""


@pytest.fixture
def run_held(start_program, tmp_path):
    """Runs a command on a terminal where one import ends only after the spinner was seen."""
    config = tmp_path / "empty.toml"
    config.write_text(f'[storage]\nfolder = "{tmp_path / "state"}"\n')

    async def run(held: str, *arguments: str) -> list[str]:
        terminal, inside = pty.openpty()
        waiting, seen = os.pipe()
        process = await start_program(
            *(sys.executable, "-c", HELD, *arguments, str(waiting), held),
            env={**os.environ, "TERM": "xterm", "NO_COLOR": "1", "SEARX_MCP_CONFIG": str(config)},
            stdin=inside,
            stdout=inside,
            stderr=inside,
            pass_fds=[waiting],
        )
        os.close(inside)
        shown = b""
        with contextlib.suppress(OSError):  # Linux says so when the other end is closed
            while more := await asyncio.to_thread(os.read, terminal, 65_536):
                shown += more
                if FRAMES[0].encode() in shown:
                    os.write(seen, b".")
        for number in (terminal, waiting, seen):
            os.close(number)
        assert await process.wait() == 0, shown
        return screen(shown.decode())

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "module"),
    [("fetch", "searx_mcp.cli.calls"), ("instances", "searx_mcp.cli.instances")],
)
async def test_a_spinner_is_there_before_a_command_is_imported(command, module, run_held):
    shown = await run_held(module, command, "--help")
    assert shown[0].startswith(f"Usage: searx-mcp {command} ")
    assert not set(FRAMES) & set("".join(shown))


@pytest.mark.slow
async def test_a_spinner_is_there_while_a_command_works(run_held):
    shown = await run_held("searx_mcp.client.facade", "instances", "list", "--tier", "own")
    assert shown[0] == "No instances match."
    assert not set(FRAMES) & set("".join(shown))


@pytest.mark.parametrize(
    ("variables", "is_shown"), [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False)]
)
async def test_a_spinner_is_for_terminals_that_can_go_back(
    run_cli, monkeypatch, variables, is_shown
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    shown = []
    monkeypatch.setattr(Spinner, "update", lambda self, text, limit=None: shown.append(text))
    ran = await run_cli("demo", **variables)
    assert ran.code == 0
    assert ("loading" in shown) is is_shown
    assert ("waiting" in shown) is is_shown, "between two lines of the demo"
