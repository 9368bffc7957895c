"""Wires own instances from the settings."""

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from searx_mcp.errors import SettingsError
from searx_mcp.http.sessions import Sessions
from searx_mcp.http.user_agents import desktop_user_agent
from searx_mcp.models.progress import Progress
from searx_mcp.ops.own.installation import NativeFolder
from searx_mcp.ops.own.loopback import Probe
from searx_mcp.ops.own.native import NativeRunner
from searx_mcp.ops.own.native_process import Starting
from searx_mcp.ops.own.source import Sources
from searx_mcp.pool.config import NATIVE_FOLDER
from searx_mcp.settings.values import Settings
from searx_mcp.sources.searxng.request import Personas
from searx_mcp.sources.searxng.upstream import Upstream
from searx_mcp.storage.state import StateStore
from searx_mcp.urls.address import AllowList


@asynccontextmanager
async def open_native(
    settings: Settings,
    state: StateStore,
    *,
    progress: Progress,
    clock: Callable[[], float] = time.time,  # noqa: TID251 - compared with the date of a release
) -> AsyncIterator[NativeRunner]:
    """Wire a `NativeRunner` to the state shared by all processes of the user.

    Args:
        settings: of downloads, packages and files.
        state: the shared store; closed at the end.
        progress: called with each step.
        clock: Unix seconds.

    Raises:
        SettingsError: nothing is stored on disk, so no server would know of the instance.
    """
    folder = NativeFolder(_folder(settings) / NATIVE_FOLDER)
    allow = AllowList.parse(settings.fetch.allow_private)
    async with (
        Sessions(settings.network, allow=allow) as sessions,
        aclosing(state),
    ):
        probe = _probe(sessions)
        yield NativeRunner(
            folder=folder,
            state=state,
            sources=Sources(lambda: sessions.pages, settings.own.source),
            probe=probe,
            starting=Starting(
                folder, is_alive=probe.is_alive, environ=os.environ, idle=settings.own.idle
            ),
            network=settings.network,
            configured=settings.instances.own,
            environ=os.environ,
            clock=clock,
            progress=progress,
        )


def _folder(settings: Settings) -> Path:
    folder = settings.state_folder()
    if folder is None:
        raise SettingsError(
            "storage.state",
            "your own instance is recorded in the state, which is off",
            advice="Turn it on, or run SearXNG by hand and set SEARXNG_URL to its address.",
        )
    return folder


def _probe(sessions: Sessions) -> Probe:
    upstream = Upstream(
        own=lambda: sessions.own,
        public=lambda: sessions.public,
        personas=Personas(
            rotate=False,
            seed=0,
            user_agent_source=desktop_user_agent,
        ),
    )
    return Probe(sessions, upstream)
