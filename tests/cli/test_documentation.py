"""Every command that the docs show exists, with the options and values it is shown with."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from searx_mcp.cli.main import cli
from searx_mcp.settings.sources import load

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "decisions"),
]
_BLOCK = re.compile(r"^ *```(?:sh|console)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"(?:^|[\s`])searx-mcp( [^`\n#|>&)]*)?", re.MULTILINE)
_PLACEHOLDER = re.compile(r"[\[<{…]|\.\.\.")

OF_SERVE = {"transport": "server.transport", "host": "http.host", "port": "http.port"}
"""Options that are settings: their values are judged when the command runs."""


def commands(text: str) -> Iterator[str]:
    """The arguments of every command in blocks for a shell and in code between backticks."""
    shown = [*_BLOCK.findall(text), *re.findall(r"(?<!`)`(searx-mcp [^`\n]+)`(?!`)", text)]
    for block in shown:
        for match in _COMMAND.finditer(block.replace("\\\n", " ")):
            arguments = (match[1] or "").strip()
            if not _PLACEHOLDER.search(arguments):
                yield arguments


def parse(command: click.Command, arguments: list[str], parent: click.Context | None) -> None:
    """Parse as the command line does, down to the last subcommand; nothing is run."""
    context = command.make_context(command.name, list(arguments), parent)
    command = context.command
    if command.name == "serve":
        load(environ={}, overrides={key: context.params[each] for each, key in OF_SERVE.items()})
    if isinstance(command, click.Group):
        _, rest, _ = command.make_parser(context).parse_args(list(arguments))
        if rest:
            _, found, after = command.resolve_command(context, rest)
            assert found is not None
            parse(found, after, context)


SHOWN = sorted(
    {
        (page.relative_to(ROOT).as_posix(), arguments)
        for page in PAGES
        for arguments in commands(page.read_text(encoding="utf-8"))
    }
)


def test_commands_are_found():
    assert len(SHOWN) > 50
    assert ("docs/guides/own-instance.md", "instances own up") in SHOWN


@pytest.mark.parametrize(("page", "arguments"), SHOWN)
def test_a_command_of_the_docs_is_understood(page: str, arguments: str):
    try:
        parse(cli, shlex.split(arguments), None)
    except click.exceptions.Exit:  # --help, --version
        return
    except (click.MissingParameter, click.exceptions.NoArgsIsHelpError):
        assert f"`searx-mcp {arguments}`" in (ROOT / page).read_text(encoding="utf-8")  # its name
    except click.ClickException as exc:
        if isinstance(exc, click.BadParameter) and exc.param is not None:
            name = exc.param.human_readable_name
            if name.isupper() and name in arguments.split():  # what stands for a value
                return
        pytest.fail(f"{page}: searx-mcp {arguments}: {exc.format_message()}")
