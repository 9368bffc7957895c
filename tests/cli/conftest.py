"""Runs commands against a client with canned results."""

import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from searx_mcp.client.facade import SearxClient


@pytest.fixture
def printed(
    run_cli: Callable[..., Awaitable[Any]], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Awaitable[Any]]:
    """Return a function that runs a command against a client with canned results.

    Each keyword is a method of the client and what it returns or raises; `admin` maps methods of the client's admin
    to the same, and `now` is the admin's time. With `columns`, standard output is a terminal of that width, whose
    styles are removed.
    """

    def method(value: object) -> Callable[..., Awaitable[object]]:
        async def give(*_: object, **__: object) -> object:
            if isinstance(value, Exception):
                raise value
            return value

        return give

    async def run(
        command: str,
        *,
        columns: int = 0,
        admin: Mapping[str, object] | None = None,
        now: object = None,
        **returned: object,
    ) -> SimpleNamespace:
        with monkeypatch.context() as patch:
            for name, value in returned.items():
                patch.setattr(SearxClient, name, method(value))
            if admin is not None:
                methods = {name: method(value) for name, value in admin.items()}
                patch.setattr(SearxClient, "admin", SimpleNamespace(now=lambda: now, **methods))
            if columns:
                patch.setenv("COLUMNS", str(columns))
                patch.setenv("TERM", "xterm")
                patch.setattr(sys.stdout, "isatty", lambda: True)
            ran = await run_cli(*command.split())
        out = re.sub(r"\x1b\[[0-9;]*m", "", ran.out)
        return SimpleNamespace(code=ran.code, out=out, err=ran.err, lines=out.splitlines())

    return run
