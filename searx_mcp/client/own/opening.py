"""What an instance in a container needs from the settings."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from searx_mcp.client.own.folder import FOLDER_NAME, OwnFolder
from searx_mcp.client.own.runner import Runner
from searx_mcp.client.stores import open_state
from searx_mcp.errors import SettingsError
from searx_mcp.models.service import Progress
from searx_mcp.net.sessions import Sessions
from searx_mcp.net.user_agents import desktop_user_agent
from searx_mcp.searxng.persona import Personas
from searx_mcp.searxng.upstream import Upstream
from searx_mcp.settings.values import Settings

_ALIVE_TIMEOUT = 2.0


@asynccontextmanager
async def open_runner(
    settings: Settings, *, engine: str | None, progress: Progress
) -> AsyncIterator[Runner]:
    """Wire a `Runner` to the state all processes of the user share.

    Args:
        settings: where state is kept, and how instances are reached.
        engine: the container engine to use; the first that works unless given.
        progress: told each step.

    Raises:
        SettingsError: nothing is kept on disk, so that no server would learn of the instance, or the
            store cannot be used.
    """
    folder = settings.state_folder()
    if folder is None:
        raise SettingsError(
            "storage.state",
            "an own instance is remembered in the state, which is off",
            advice="Switch it on, or run SearXNG by hand and name it in SEARXNG_URL.",
        )

    async def is_alive(url: str) -> bool:
        async with Sessions(settings.network, own_origins=(url,)) as sessions:
            upstream = Upstream(
                own=lambda: sessions.own,
                public=lambda: sessions.public,
                personas=Personas(
                    rotate=False,
                    seed=0,
                    user_agent_source=desktop_user_agent,
                ),
            )
            return await upstream.is_alive(url, own=True, timeout=_ALIVE_TIMEOUT)

    async with aclosing(open_state(settings)) as state:
        yield Runner(
            folder=OwnFolder(folder / FOLDER_NAME),
            state=state,
            is_alive=is_alive,
            configured=settings.instances.own,
            engine=engine,
            progress=progress,
        )
