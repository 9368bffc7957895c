"""What all commands print with."""

import io
import re

import click
import pytest
from rich.console import Console
from rich.text import Text
from typing_extensions import override

from searx_mcp.cli.output import duration, noted_table, show_steps
from searx_mcp.cli.running import Session, wrapped
from searx_mcp.cli.spinner import Spinner


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (60, "1.0 min"),
        (3_599, "60.0 min"),
        (3_600, "1.0 h"),
        (86_399, "24.0 h"),
        (86_400, "1.0 d"),
        (216_000, "2.5 d"),
    ],
)
def test_a_length_of_time_is_told_in_the_largest_unit_that_fits(seconds, shown):
    assert duration(seconds) == shown


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    @override
    def isatty(self) -> bool:
        return True


SENTENCE = "Searches read https://a-rather-long-host.example/with/a/long/path well-known and short."


@pytest.mark.parametrize("columns", [30, 60, 80])
def test_a_terminal_breaks_no_word_and_no_address(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = wrapped(SENTENCE, Terminal(), indent="  ").splitlines()
    assert " ".join(line.strip() for line in lines) == SENTENCE
    assert all(len(line) <= columns or len(line.split()) == 1 for line in lines)
    assert all(line.startswith("  ") for line in lines)


def test_a_pipe_gets_whole_lines(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    assert wrapped(SENTENCE, io.StringIO()) == SENTENCE


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (
            120,
            [
                "instance       ms  detail",
                "a-long.example  5  No complete answer arrived in time.",
            ],
        ),
        (
            30,
            [
                "instance        ms",
                "a-long.example  5",
                "  No complete answer arrived",
                "  in time.",
            ],
        ),
    ],
)
def test_a_note_has_a_column_or_lines_of_its_own(width, shown):
    rows = [((Text("a-long.example"), Text("5")), "No complete answer arrived in time.")]
    out = Console(width=width, color_system=None, soft_wrap=True)
    with out.capture() as capture:
        out.print(noted_table(("instance", "ms", "detail"), rows, width=width))
    lines = [" ".join(line.split()) for line in capture.get().splitlines()]
    assert lines == [" ".join(line.split()) for line in shown]


@pytest.mark.parametrize("spinner", [None, Spinner(io.StringIO())], ids=["pipe", "terminal"])
def test_steps_are_lines_on_standard_error(capsys, spinner):
    context = click.Context(click.Command("own"), obj=Session(spinner=spinner))
    with context, show_steps("looking") as progress:
        for said in ("fetching", "installing", "installing: a 1", "installing: b 2", "starting"):
            progress(said)
    shown = [re.sub(r"  [\d.]+ s", "", text) for text in capsys.readouterr()]
    assert shown == ["", "fetching\ninstalling\nstarting\n"]
