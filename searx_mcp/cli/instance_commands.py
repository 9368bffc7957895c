"""The commands under `instances`; what they do is imported when they are called."""

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import click

from searx_mcp.models.instance import InstanceState, SortKey, Tier
from searx_mcp.settings.sources import Loaded

Load = Callable[[click.Context], Loaded]
Run = Callable[[Coroutine[Any, Any, None]], None]

_as_json = click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
_form = click.option(
    "--format", "form", type=click.Choice(["json", "html"]), help="What to ask for."
)
_category = click.option("-c", "--category", help="What to search in; general unless given.")


def instances_group(loaded: Load, run: Run) -> click.Group:
    """Make the group.

    Args:
        loaded: gives the settings of this run of the command.
        run: runs a command's work to its end.
    """

    @click.group()
    def instances() -> None:
        """Look after the pool of instances.

        Everything here is safe while servers run, and running servers follow within 15 seconds.
        HOST is a host, with its port if it has one, or an address.
        """

    _add_reports(instances, loaded, run)
    _add_changes(instances, loaded, run)
    _add_searches(instances, loaded, run)
    _add_files(instances, loaded, run)
    return instances


def _add_reports(group: click.Group, loaded: Load, run: Run) -> None:
    @group.command("list")
    @click.option(
        "-s", "--sort", type=click.Choice([key.value for key in SortKey]), help="The best first."
    )
    @click.option("-r", "--reverse", is_flag=True, help="The other way round.")
    @click.option(
        "--state",
        "states",
        multiple=True,
        type=click.Choice([state.replace("_", "-") for state in InstanceState]),
        help="Only in this state; repeatable.",
    )
    @click.option(
        "--tier",
        "tiers",
        multiple=True,
        type=click.Choice([tier.value for tier in Tier], case_sensitive=False),
        help="Only of this tier; repeatable.",
    )
    @click.option("--host", default="", metavar="TEXT", help="Only addresses that contain this.")
    @click.option("--usable", is_flag=True, help="Only those that may be asked now.")
    @click.option(
        "-w", "--watch", is_flag=True, help="Draw it again every 2 seconds, until Ctrl-C."
    )
    @_as_json
    @click.pass_context
    def show_list(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - texts and flags by name
        """Show the instances in the pool; asks none of them."""
        from searx_mcp.cli import instances as work  # noqa: PLC0415 - imports what the pool needs

        run(work.show_list(loaded(context), **options))

    @click.command("show")
    @click.argument("host")
    @_as_json
    @click.pass_context
    def show_one(context: click.Context, /, host: str, **options: bool) -> None:
        """Explain one instance: its score, last requests, times, budget and /config; asks nobody."""
        from searx_mcp.cli import instances as work  # noqa: PLC0415 - imports what the pool needs

        run(work.show_one(loaded(context), host, **options))

    group.add_command(show_one)
    group.add_command(show_one, "explain")

    @group.command("budget")
    @click.option("--all", "everything", is_flag=True, help="Also instances that were not asked.")
    @_as_json
    @click.pass_context
    def budget(context: click.Context, /, **options: bool) -> None:
        """Show what public instances allow, and when that is spent at this pace; asks nobody."""
        from searx_mcp.cli import instances as work  # noqa: PLC0415 - imports what the pool needs

        run(work.budget(loaded(context), **options))


def _add_changes(group: click.Group, loaded: Load, run: Run) -> None:
    for verb, argument, sentence in (
        ("add", "URL", "Add an instance of your own."),
        ("remove", "HOST", "Take out an instance of your own that was added."),
        ("block", "HOST", "Never ask a public instance."),
        ("unblock", "HOST", "Let a blocked public instance be asked again."),
        ("reset", "HOST", "Make an instance new again; its budget stays as it is."),
    ):
        group.add_command(_change(verb, argument, sentence, loaded, run))


def _change(verb: str, argument: str, sentence: str, loaded: Load, run: Run) -> click.Command:
    @click.command(verb, help=sentence)
    @click.argument("subject", metavar=argument)
    @_as_json
    @click.pass_context
    def change(context: click.Context, /, subject: str, **options: bool) -> None:
        from searx_mcp.cli import instances as work  # noqa: PLC0415 - imports what the pool needs

        run(work.change(loaded(context), verb, subject, **options))

    return change


def _add_searches(group: click.Group, loaded: Load, run: Run) -> None:
    @group.command("check")
    @click.argument("hosts", nargs=-1, metavar="[HOST]...")
    @_as_json
    @click.pass_context
    def check(context: click.Context, /, hosts: tuple[str, ...], **options: bool) -> None:
        """Ask instances whether they are there, without a search; all of them unless named.

        Each is asked for /healthz, /config and robots.txt, which counts nowhere.
        """
        from searx_mcp.cli import instances as work  # noqa: PLC0415 - imports what asking needs

        run(work.check(loaded(context), hosts, **options))

    @group.command("refresh")
    @_as_json
    @click.pass_context
    def refresh(context: click.Context, /, **options: bool) -> None:
        """Fetch the list of public instances now, whether it is due or not."""
        from searx_mcp.cli import instances as work  # noqa: PLC0415 - imports what asking needs

        run(work.refresh(loaded(context), **options))

    @group.command("test")
    @click.argument("host")
    @click.argument("query")
    @_form
    @_category
    @_as_json
    @click.pass_context
    def test(context: click.Context, /, host: str, query: str, **options: Any) -> None:  # noqa: ANN401 - texts and flags by name
        """Search once at one instance.

        This is a real search: it costs the instance's budget.
        """
        from searx_mcp.cli import instances as work  # noqa: PLC0415 - imports what searching needs

        shown = {name: options.pop(name) for name in ("form", "as_json")}
        run(work.test(loaded(context), host, query, **shown, **options))

    @group.command("capture")
    @click.argument("host")
    @click.argument("query")
    @_form
    @_category
    @click.option(
        "-o",
        "--output",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("searx-mcp-capture"),
        show_default=True,
        help="Folder to write to.",
    )
    @click.pass_context
    def capture(context: click.Context, /, host: str, query: str, **options: Any) -> None:  # noqa: ANN401 - texts and a path by name
        """Save one answer of an instance for a bug report, without the query and the address.

        HOST is an instance of the pool. This is a real search: it costs the instance's budget.
        """
        from searx_mcp.cli import capture as work  # noqa: PLC0415 - imports what searching needs

        named = {name: options.pop(name) for name in ("form", "output")}
        run(work.capture(loaded(context), host, query, **named, **options))


def _add_files(group: click.Group, loaded: Load, run: Run) -> None:
    @group.command("export")
    @click.option(
        "-o",
        "--output",
        "file",
        type=click.Path(dir_okay=False, path_type=Path),
        help="File to write; standard output unless given.",
    )
    @click.option("--json", is_flag=True, expose_value=False, help="It always is JSON.")
    @click.pass_context
    def export(context: click.Context, /, file: Path | None) -> None:
        """Write what you chose by command and what was learned, to take it to another machine.

        It holds no query and no charge.
        """
        from searx_mcp.cli import instances as work  # noqa: PLC0415 - imports what the pool needs

        run(work.export(loaded(context), file=file))

    @group.command("import")
    @click.argument("file")
    @_as_json
    @click.pass_context
    def import_(context: click.Context, /, file: str, **options: bool) -> None:
        """Add what an export holds; nothing is lost, and no budget grows.

        FILE is what `export` wrote, or - for standard input.
        """
        from searx_mcp.cli import instances as work  # noqa: PLC0415 - imports what the pool needs

        run(work.import_(loaded(context), file, **options))
