"""The command line, run in a thread beside the loop that serves the instances."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from searx_mcp.cli.main import main


@dataclass
class Ran:
    """What a run of the command came to."""

    code: int
    out: str
    err: str


@pytest.fixture
def run_cli(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path
) -> Callable[..., Awaitable[Ran]]:
    """Give what runs the command: `await run_cli(*arguments, **environment)`."""
    config = tmp_path / "empty.toml"
    config.touch()

    def invoke(arguments: tuple[str, ...]) -> int:
        try:
            main(arguments)
        except SystemExit as exc:
            return int(exc.code or 0)
        return 0

    async def run(*arguments: str, **environment: str) -> Ran:
        with monkeypatch.context() as patch:
            patch.setenv("SEARX_MCP_CONFIG", str(config))
            for name, value in environment.items():
                patch.setenv(name, value)
            code = await asyncio.to_thread(invoke, arguments)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run
