"""Own instances wired as the settings say."""

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

from searx_mcp.errors import SettingsError
from searx_mcp.http.sessions import Sessions
from searx_mcp.http.user_agents import desktop_user_agent
from searx_mcp.models.service import Progress
from searx_mcp.ops.own.container import ContainerRunner
from searx_mcp.ops.own.installation import (
    CONTAINER_FOLDER,
    ContainerFolder,
    NativeFolder,
)
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

NATIVE = "native"
"""The word for an instance that runs as a process of this machine."""
CONTAINER = "container"
"""The word for one in a container of whichever engine works."""


def chosen_engine(settings: Settings, wanted: str | None) -> str:
    """The engine that is meant: the one that is wanted, the one that has an instance, or `native`.

    Raises:
        SettingsError: nothing is kept on disk.
    """
    if wanted is not None:
        return wanted
    folder = _folder(settings)
    has_native = NativeFolder(folder / NATIVE_FOLDER).recorded is not None
    has_container = ContainerFolder(folder / CONTAINER_FOLDER).url is not None
    return CONTAINER if has_container and not has_native else NATIVE


@asynccontextmanager
async def open_container(
    settings: Settings,
    state: StateStore,
    *,
    engine: str | None,
    progress: Progress,
    clock: Callable[[], float] = time.time,  # noqa: TID251 - of the records other processes keep
) -> AsyncIterator[ContainerRunner]:
    """Wire a `ContainerRunner` to the state all processes of the user share.

    Args:
        settings: how instances are reached, and where their files are.
        state: the store that all processes share; closed at the end.
        engine: the container engine to use; the first that works if it is `None`.
        progress: called with each step.
        clock: Unix seconds.

    Raises:
        SettingsError: nothing is kept on disk, so that no server would learn of the instance.
    """
    folder = _folder(settings)
    async with Sessions(settings.network) as sessions, aclosing(state):
        yield ContainerRunner(
            folder=ContainerFolder(folder / CONTAINER_FOLDER),
            state=state,
            is_alive=_probe(sessions).is_alive,
            configured=settings.instances.own,
            engine=engine,
            progress=progress,
            clock=clock,
        )


@asynccontextmanager
async def open_native(
    settings: Settings,
    state: StateStore,
    *,
    progress: Progress,
    clock: Callable[[], float] = time.time,  # noqa: TID251 - of the age of a release
) -> AsyncIterator[NativeRunner]:
    """Wire a `NativeRunner` to the state all processes of the user share.

    Args:
        settings: how the source and packages are reached, and where their files are.
        state: the store that all processes share; closed at the end.
        progress: called with each step.
        clock: Unix seconds.

    Raises:
        SettingsError: as `open_container`.
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
