"""Write what a person reads of settings, arguments, commands, errors and clients from their declarations.

python scripts/write_config.py          write config/searx-mcp.toml, tables in docs, tests/server/published
python scripts/write_config.py --check  change nothing; exit 1 if a file is not up to date
"""

import ast
import asyncio
import inspect
import itertools
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TypeVar, get_args

import click

from searx_mcp.cli.main import cli
from searx_mcp.cli.running import ExitCode
from searx_mcp.errors import (
    DeadlineError,
    ErrorCode,
    SearxMcpError,
    UnavailableReason,
)
from searx_mcp.models.argument import arguments_of
from searx_mcp.models.base import Frozen
from searx_mcp.render.errors import seconds_until_retry
from searx_mcp.server import metrics
from searx_mcp.server.app import build_server
from searx_mcp.server.calls import known_clients
from searx_mcp.settings.sources import SettingRow, effective
from searx_mcp.settings.values import Settings
from searx_mcp.verbs.table import TOOLS

ROOT = Path(__file__).resolve().parents[1]
BEGIN = "<!-- {}: begin, written by scripts/write_config.py -->"
END = "<!-- {}: end -->"
MOST_SHOWN = 4
"""Items of a list that a table shows; all are in `config/searx-mcp.toml`."""
MOST_NAMES = 9
"""Names of values that a table shows in full; an error about a wrong value lists all."""
COMMON = frozenset({"timeout", "max_tokens"})
"""Arguments that a page explains once where they are not in the schemas of its tools."""
REQUESTS: Mapping[str, type[Frozen]] = {
    verb.tool: verb.request for verb in TOOLS.values() if verb.command
}
"""The request of each tool that a person can use, too."""
_E = TypeVar("_E", bound=Enum)

TOML_HEAD = """\
# Every setting of searx-mcp with its default. All are commented out, so a copy of this file
# changes nothing: take away the "# " in front of a line and change its value.
# Written by scripts/write_config.py; docs/reference/settings.md explains where settings come from.
"""
TOML_TAIL = """
# Search arguments by name of profile; `profile` above or `--profile` chooses one.
# [profiles.news]
# category = "news"
# time_range = "week"
"""


def toml() -> str:
    """The configuration file."""
    lines = [TOML_HEAD]
    for table, rows in _tables():
        lines += [f"\n[{table}]"] if table else []
        for row in rows:
            lines += [f"# {row.description}", f"# {_key(row)} = {json.dumps(row.default)}"]
    return "\n".join(lines) + "\n" + TOML_TAIL


def markdown() -> str:
    """The tables of settings."""
    lines = []
    for table, rows in _tables():
        lines += [f"### `[{table}]`" if table else "### Top level", ""]
        lines += ["| | Default | Values | |", "| --- | --- | --- | --- |"]
        for row in rows:
            lines.append(_row(f"`{_key(row)}`", _default(row), _values(row), row.description))
        lines.append("")
    return "\n".join(lines)


def _default(row: SettingRow) -> str:
    if isinstance(row.default, tuple | list) and len(row.default) > MOST_SHOWN:
        few = ", ".join(json.dumps(each) for each in row.default[:MOST_SHOWN])
        return f"`[{few}, …]`, {len(row.default)} in all"
    return f"`{json.dumps(row.default)}`"


def _values(row: SettingRow) -> str:
    """The bounds or the names alone: the default shows of what kind a value is."""
    if bounds := re.search(r"number from (\S+) to ([\d,]+\d|\d+)", row.allowed):
        return (" to " if bounds[1].startswith("-") else "-").join(bounds.groups())
    _, is_choice, names = row.allowed.partition("one of ")
    if not is_choice and ", " in row.allowed and "table" not in row.allowed:
        _, is_choice, names = row.allowed.partition("a list of ")
    several = names.split(", ") if is_choice else []
    few = several[:MOST_SHOWN] if len(several) > MOST_NAMES else several
    return ", ".join(few) + (f", … ({len(several)} in all)" if few != several else "")


def arguments(request: type[Frozen]) -> str:
    """The table of the arguments of a tool."""
    lines = ["| Argument | Default | Meaning |", "| --- | --- | --- |"]
    for name, declared in arguments_of(request).items():
        if name in COMMON and declared.argument.schema is None:
            continue
        default = declared.field.default
        is_said = default is not None and default != () and not declared.field.is_required()
        mark = "" if declared.argument.schema is not None else " †"
        limits = ""
        if declared.argument.by_person:
            mark, limits = "", " Only on the command line."
        shown = f"`{json.dumps(default)}`" if is_said and default != "" else ""
        lines.append(_row(f"`{name}`{mark}", shown, f"{declared.help}{limits}"))
    return "\n".join([*lines, ""])


def clients() -> str:
    """The table of known clients."""
    heads = ("Client", "Names itself", "Shows", "Tokens", "Characters", "Gives up after")
    lines = [_row(*heads), _row(*["---"] * len(heads))]
    for client in known_clients():
        names = ", ".join(f"`{name}`" for name in client.names)
        sizes = (
            f"{size:,}" if size else "" for size in (client.result_tokens, client.result_chars)
        )
        deadline = f"{client.deadline:g} s" if client.deadline else ""
        lines.append(_row(client.title, names, client.structured or "", *sizes, deadline))
    return "\n".join([*lines, ""])


def sources() -> str:
    """The table of what is known of clients, each fact with its source, below the client's name."""
    lines = [_row("Client", "Fact", "Value", "Source"), _row(*["---"] * 4)]
    for client in known_clients():
        title = client.title
        for fact, source in client.source.items():
            value = getattr(client, fact)
            shown = f"{value:,}" if isinstance(value, int) else value
            lines.append(_row(title, f"`{fact}`", shown, source))
            title = ""
    return "\n".join([*lines, ""])


def commands() -> str:
    """Every command with its usage, its help and its options."""
    lines = []
    for context in _contexts(cli, "searx-mcp", None):
        if context.parent is None:
            continue
        command = context.command
        path = context.command_path.removeprefix("searx-mcp ")
        is_group = isinstance(command, click.Group)
        pieces = [] if is_group else command.collect_usage_pieces(context)[1:]
        lines += [f"### `{' '.join([path, *pieces])}`", ""]
        lines += [_paragraphs(inspect.cleandoc(command.help or "")), ""]
        options = [option for option in command.params if isinstance(option, click.Option)]
        shared = ", ".join(f"`{_bare(each)}`" for each in options if _is_shared(each))
        if shared:
            lines += [f"Arguments of the tool: {shared}.", ""]
        lines += [
            f"- `{_names(each, context)}`: {each.help}"
            for each in options
            if not _is_shared(each) and each.name != "as_json"
        ]
        lines += [""] if lines[-1] else []
    return "\n".join(lines)


def exit_codes() -> str:
    """The table of exit codes."""
    rows = (_row(str(code.value), said) for code, said in _said(ExitCode))
    return "\n".join([_row("Code", "Meaning"), _row("---", "---"), *rows, ""])


def errors() -> str:
    """The table of error codes."""
    lines = [_row("Code", "Meaning", "Retry after"), _row(*["---"] * 3)]
    for code, said in _said(ErrorCode):
        is_late = code is ErrorCode.DEADLINE_EXCEEDED
        seconds = seconds_until_retry(
            DeadlineError("") if is_late else SearxMcpError("", code=code)
        )
        lines.append(_row(f"`{code}`", said, f"{seconds} s" if seconds else ""))
    return "\n".join([*lines, ""])


def reasons() -> str:
    """The table of the reasons why no instance could serve."""
    rows = (_row(f"`{reason}`", said) for reason, said in _said(UnavailableReason))
    return "\n".join([_row("Reason", "Meaning"), _row("---", "---"), *rows, ""])


def tools(profile: str) -> str:
    """What `tools/list` gives in a profile, as it stands on the wire."""
    settings = Settings.model_validate({"server": {"profile": profile}})
    listed = asyncio.run(build_server(settings).list_tools())
    rows = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed]
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"


def expected(root: Path) -> Mapping[Path, str]:
    """What the files under a root should hold."""
    files = {root / "config" / "searx-mcp.toml": toml()}
    published = root / "tests" / "server" / "published"
    for profile in get_args(type(Settings().server).model_fields["profile"].annotation):
        files[published / f"{profile}.json"] = tools(profile)
    for name, (place, text) in {
        "settings": ("reference/settings.md", markdown()),
        **{tool: ("reference/tools.md", arguments(each)) for tool, each in REQUESTS.items()},
        "commands": ("reference/cli.md", commands()),
        "exit_codes": ("reference/cli.md", exit_codes()),
        "errors": ("reference/errors.md", errors()),
        "reasons": ("reference/errors.md", reasons()),
        "clients": ("decisions/channels.md", clients()),
        "sources": ("decisions/channels.md", sources()),
        "metrics": ("reference/metrics.md", metrics.reference()),
    }.items():
        page = root / "docs" / place
        opening, closing = BEGIN.format(name), END.format(name)
        known = files.get(page) or page.read_text(encoding="utf-8")
        before, begin, rest = known.partition(opening)
        _, end, after = rest.partition(closing)
        if not (begin and end):
            raise SystemExit(f"{page}: the lines {opening} and {closing} are missing")
        files[page] = f"{before}{opening}\n\n{text}\n{closing}{after}"
    return files


def _contexts(
    command: click.Command, name: str, parent: click.Context | None
) -> Iterator[click.Context]:
    """A command and all below it, each in the context of its parent; nothing is run."""
    context = command.make_context(name, [], parent, resilient_parsing=True)
    yield context
    if isinstance(context.command, click.Group):
        for each in context.command.list_commands(context):
            if (found := context.command.get_command(context, each)) is not None:
                yield from _contexts(found, each, context)


def _names(option: click.Option, context: click.Context) -> str:
    names, _ = option.get_help_record(context) or ("", "")
    return names


def _bare(option: click.Option) -> str:
    """The names of an option without what stands for its value."""
    return " / ".join(filter(None, (", ".join(option.opts), ", ".join(option.secondary_opts))))


def _is_shared(option: click.Option) -> bool:
    """Tell whether it is an argument of a tool, which has its own table."""
    declared = (arguments_of(each).get(str(option.name)) for each in REQUESTS.values())
    return any(each is not None and str(option.help).startswith(each.help) for each in declared)


def _paragraphs(text: str) -> str:
    return "\n\n".join(" ".join(each.split()) for each in text.split("\n\n"))


def _said(members: type[_E]) -> Iterator[tuple[_E, str]]:
    """The members of an enumeration with the sentence that stands below each."""
    nodes = ast.walk(ast.parse(inspect.getsource(members)))
    (body,) = (node.body for node in nodes if isinstance(node, ast.ClassDef))
    for before, after in itertools.pairwise(body):
        if isinstance(before, ast.Assign) and isinstance(after, ast.Expr):
            yield members[ast.unparse(before.targets[0])], str(ast.literal_eval(after.value))


def _row(*cells: str) -> str:
    escaped = (cell.replace("<", "&lt;").replace("|", "&#124;") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def main(arguments: Sequence[str], *, root: Path = ROOT) -> int:
    """Write the files, or say which are not up to date."""
    stale = [
        (path, text)
        for path, text in expected(root).items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale:
        if "--check" in arguments:
            print(f"{path} is not up to date: run python scripts/write_config.py")
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
    return int("--check" in arguments and bool(stale))


def _tables() -> Iterator[tuple[str, Iterator[SettingRow]]]:
    rows = effective(Settings(), {})
    return itertools.groupby(rows, key=lambda row: row.key.rpartition(".")[0])


def _key(row: SettingRow) -> str:
    return row.key.rpartition(".")[2]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
