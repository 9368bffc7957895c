"""The commands under `instances own`; what they do is imported when they are called."""

from collections.abc import Callable, Coroutine
from typing import Any

import click

from searx_mcp.settings.sources import Loaded


def own_group(
    loaded: Callable[[click.Context], Loaded],
    run: Callable[[Coroutine[Any, Any, None]], None],
) -> click.Group:
    """Make the group.

    Args:
        loaded: gives the settings of this run of the command.
        run: runs a command's work to its end.
    """
    engine = click.option(
        "--engine",
        type=click.Choice(["native", "container", "docker", "podman"]),
        help="A process (native), or a container of this engine; else what there is, or native.",
    )
    version = click.option(
        "--version",
        metavar="VERSION",
        help="latest, a commit, or the path of a source archive or folder.",
    )
    timeout = click.option(
        "--timeout",
        type=click.FloatRange(1, 3_600),
        metavar="SECONDS",
        help="Until it must answer, fetching included; 300, or 120 of a container.",
    )
    as_json = click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")

    @click.group()
    def own() -> None:
        """Run SearXNG on this machine, as a process of yours or in a container."""

    @own.command()
    @engine
    @click.option(
        "--port", type=click.IntRange(1, 65_535), help="Port of 127.0.0.1; else 8888 or the next."
    )
    @version
    @click.option("--image", help="Image of a container; else the official one.")
    @click.option(
        "--pull",
        type=click.Choice(["missing", "always", "never"]),
        help="When the image is fetched; with always, a container that is there is made anew.",
    )
    @timeout
    @as_json
    @click.pass_context
    def up(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - texts and numbers by name
        """Run it, wait until it answers, and let searches use it."""
        from searx_mcp.cli import own as work  # noqa: PLC0415 - imports what running it needs

        run(work.up(loaded(context), **options))

    @own.command()
    @version
    @timeout
    @as_json
    @click.pass_context
    def update(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - texts and numbers by name
        """Try the newest version beside the one in use, and switch to it if it serves as well."""
        from searx_mcp.cli import own as work  # noqa: PLC0415 - imports what running it needs

        run(work.update(loaded(context), **options))

    @own.command()
    @click.option(
        "-n",
        "--lines",
        type=click.IntRange(1, 10_000),
        default=50,
        show_default=True,
        help="How many.",
    )
    @click.pass_context
    def log(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - a number by name
        """Show the last lines that it wrote."""
        from searx_mcp.cli import own as work  # noqa: PLC0415 - imports what running it needs

        run(work.log(loaded(context), **options))

    @own.command()
    @engine
    @as_json
    @click.pass_context
    def status(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - a text and a flag by name
        """Show its version, its address, whether it answers, and which engines fail."""
        from searx_mcp.cli import own as work  # noqa: PLC0415 - imports what running it needs

        run(work.status(loaded(context), **options))

    @own.command()
    @engine
    @click.option("--keep-settings", is_flag=True, help="Leave its settings file for the next up.")
    @as_json
    @click.pass_context
    def down(context: click.Context, /, **options: Any) -> None:  # noqa: ANN401 - a text and flags by name
        """Stop and remove it, and let searches use it no longer."""
        from searx_mcp.cli import own as work  # noqa: PLC0415 - imports what running it needs

        run(work.down(loaded(context), **options))

    return own
