"""The loopback address of this machine: free ports, and requests to instances there."""

import os
import socket
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from searx_mcp.errors import SearxMcpError
from searx_mcp.http.http import Request
from searx_mcp.http.sessions import Sessions
from searx_mcp.http.user_agents import desktop_user_agent
from searx_mcp.models.attempt import Format
from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.pool.config_facts import MAX_TEXT
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.sources.searxng.answers import failing_engines
from searx_mcp.sources.searxng.request import Personas, honest
from searx_mcp.sources.searxng.upstream import Upstream

LOOPBACK: Final = "127.0.0.1"
FIRST_PORT: Final = 8888
"""SearXNG's own default outside a container."""
_TRIED: Final = 20
_ALIVE_TIMEOUT: Final = 2.0
_ASKED_TIMEOUT: Final = 5.0
_SEARCH_TIMEOUT: Final = 15.0
"""Seconds; with our settings, SearXNG's engines have 12 at most."""
_QUERY: Final = InstanceQuery(text="searxng metasearch")


def free_port(wanted: int | None) -> int:
    """Return a free port: the wanted one, else the first free one from 8888.

    Another program may take it before it is used.

    Args:
        wanted: the only acceptable port, or `None` for any.

    Raises:
        OwnInstanceError: the wanted port is taken, or all that were tried.
    """
    last = FIRST_PORT + _TRIED - 1
    for port in (wanted,) if wanted else range(FIRST_PORT, last + 1):
        if _is_free(port):
            return port
    raise OwnInstanceError(
        f"Port {wanted} is taken." if wanted else f"Ports {FIRST_PORT} to {last} are taken.",
        reason=NativeFailure.PORT_TAKEN,
        advice="Choose another with --port.",
    )


@dataclass(frozen=True, slots=True)
class Tried:
    """The result of one search at an instance.

    Attributes:
        works: whether it answered like SearXNG, with results or without.
        results: number of results.
        detail: what was wrong, a sentence; empty if nothing was.
    """

    works: bool
    results: int = 0
    detail: str = ""


class Probe:
    """Makes requests to instances of this machine; it can reach nothing else.

    Args:
        sessions: for the requests.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._upstream = Upstream(
            own=lambda: sessions.own,
            public=lambda: sessions.public,
            personas=Personas(rotate=False, seed=0, user_agent_source=desktop_user_agent),
        )
        self._known: set[str] = set()

    async def is_alive(self, url: str) -> bool:
        """Return whether the instance at a base URL answers quickly."""
        self._admit(url)
        return await self._upstream.is_alive(url, own=True, timeout=_ALIVE_TIMEOUT)

    async def search(self, url: str) -> Tried:
        """Make one search for something unrelated to the user."""
        self._admit(url)
        outcome = await self._upstream.search(
            url, _QUERY, own=True, format=Format.JSON, timeout=_SEARCH_TIMEOUT
        )
        page = outcome.page
        if page is None:
            return Tried(works=False, detail=outcome.detail or f"it is {outcome.verdict}")
        if page.hits:
            return Tried(works=True, results=len(page.hits))
        engines = ", ".join(f"{each.engine} ({each.reason})" for each in page.unresponsive_engines)
        detail = f"The first search found nothing: {engines or 'no engine answered'}."
        return Tried(works=True, detail=detail)

    async def engines(self, url: str) -> tuple[str, ...]:
        """Return the names of its engines; empty if it does not say."""
        self._admit(url)
        facts = await self._upstream.config(url, own=True, timeout=_ASKED_TIMEOUT)
        return (facts.engines or ()) if facts else ()

    async def failing(self, url: str) -> dict[str, str]:
        """Return the engines most of whose requests fail, with the reason."""
        self._admit(url)
        request = Request(
            url=f"{url}stats/errors",
            headers=honest(),
            timeout=_ASKED_TIMEOUT,
            max_bytes=MAX_TEXT,
        )
        try:
            answer = await self._sessions.own.send(request)
        except SearxMcpError:
            return {}
        if answer.status != HTTPStatus.OK:
            return {}
        found = failing_engines(answer.body.decode("utf-8", "replace"))
        return {each.name: each.reason for each in found or ()}

    def _admit(self, url: str) -> None:
        if url not in self._known:
            self._known.add(url)
            self._sessions.admit_own(self._known)


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if os.name == "posix":  # elsewhere it lets two programs listen on one port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True
