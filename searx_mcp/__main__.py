"""`python -m searx_mcp` and the `searx-mcp` command."""

import os

from searx_mcp.cli.process import complete_streams, end_at_once, loading


def main() -> None:
    """Run the command; keep what a library prints while loading off the output."""
    end_at_once()
    # Looking for plugins of models reads the metadata of all installed packages: 5 % of a short command.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    output = complete_streams()
    with loading():
        from searx_mcp.cli.main import main as run  # noqa: PLC0415 - loads libraries

    run(output=output)


if __name__ == "__main__":
    main()
