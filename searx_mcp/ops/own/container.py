"""An instance of one's own in a container: up, status, down."""

import asyncio
import contextlib
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from searx_mcp.content.clean import clean_line
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.instance import Choice
from searx_mcp.models.own_instance import (
    ContainerFailure,
    ContainerState,
    Done,
    OwnInstance,
    OwnInstanceDown,
    OwnInstanceUp,
)
from searx_mcp.models.service import Progress
from searx_mcp.ops.own.container_engine import Container, Engine, find_engines
from searx_mcp.ops.own.failures import OwnInstanceError, name_taken
from searx_mcp.ops.own.installation import ContainerFolder
from searx_mcp.ops.own.loopback import LOOPBACK, free_port
from searx_mcp.ops.own.settings_file import without_secrets
from searx_mcp.pool.engine_care import engine_reports
from searx_mcp.storage.state import StateStore

NAME: Final = "searx-mcp-own"
"""Name of the container."""
LABEL: Final = "searx-mcp.own-instance"
"""Label by which a container is known to be ours; its value is the base URL."""
IMAGE: Final = "docker.io/searxng/searxng:latest"
"""The official image. SearXNG is released by the commit, and an old one loses its engines."""
_IMAGE_NAME: Final = re.compile(r"[A-Za-z0-9][\w.:/@-]{0,254}")
"""Nothing that the engine would take for an option."""
_PORT_INSIDE: Final = 8080
_SETTINGS_INSIDE: Final = "/etc/searxng/settings.yml"
_ENVIRONMENT: Final[Mapping[str, str]] = {"GRANIAN_HOST": "0.0.0.0"}  # noqa: S104 - inside the container, whose port is published on loopback alone
"""The image listens on `::`, which fails on hosts without IPv6."""
TIMEOUT: Final = 120.0
"""Seconds until an instance must answer, unless told otherwise."""
_POLL: Final = 0.25
"""Seconds between two looks at an instance that is starting."""
_LOG_LINES: Final = 20
_LONGEST_LINE: Final = 300
_UNDO: Final = 45.0
"""Seconds to take back what was begun."""


class Pull(StrEnum):
    """When the image is fetched."""

    MISSING = "missing"
    ALWAYS = "always"
    """Also when it is there: the container is made anew of the newest image."""
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class UpOptions:
    """Wishes of the user for `up`.

    Attributes:
        port: to publish on; a free one unless given.
        image: to run; the official one unless given.
        pull: when to fetch it.
        timeout: seconds until the instance must answer, fetching included.
    """

    port: int | None = None
    image: str | None = None
    pull: Pull = Pull.MISSING
    timeout: float = TIMEOUT


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerRunner:
    """Runs SearXNG in a container of this machine, and lets searches use it.

    There is one such container. Every method raises `OwnInstanceError` where it cannot be looked
    after, with what to do about it.

    Attributes:
        folder: for its files.
        state: where it is registered as an own instance.
        is_alive: whether the instance at a base URL answers, soon.
        configured: base URLs of the own instances in the settings.
        engine: the container engine to use; the first that works if it is `None`.
        progress: called with each step.
        clock: Unix seconds.
    """

    folder: ContainerFolder
    state: StateStore
    is_alive: Callable[[str], Awaitable[bool]]
    configured: tuple[str, ...]
    engine: str | None
    progress: Progress
    clock: Callable[[], float]

    async def up(self, options: UpOptions) -> OwnInstanceUp:
        """Run the instance, wait until it answers, and register it; harmless when it runs.

        What was begun is taken back when it fails or is cancelled.

        Raises:
            OwnInstanceError: as for every method.
            InvalidArgumentError: the image has no name, or the container exists and was made with
                another image or port.
            StorageError: it runs, and cannot be registered now.
        """
        if options.image is not None and not _IMAGE_NAME.fullmatch(options.image):
            raise InvalidArgumentError("image", f"is not an image name such as {IMAGE}")
        deadline = asyncio.get_running_loop().time() + options.timeout
        engine, container = await self._look()
        if container is None:
            url = _url(
                await asyncio.to_thread(free_port, options.port, ContainerFailure.PORT_TAKEN)
            )
            image, done = options.image or IMAGE, Done.CREATED
        else:
            url, image = container.labels[LABEL], container.image
            _check_unchanged(options, url, image)
            done = Done.UNCHANGED if container.state is not ContainerState.STOPPED else Done.STARTED
            if options.pull is Pull.ALWAYS:
                done = Done.UPDATED
        settings = await asyncio.to_thread(self.folder.prepare, url)
        async with AsyncExitStack() as undo:
            match done:
                case Done.CREATED | Done.UPDATED:
                    await self._fetch(engine, image, options.pull, deadline)
                    undo.push_async_callback(_undo, engine.remove)
                    await self._make(engine, image, url, settings)
                case Done.STARTED:
                    undo.push_async_callback(_undo, engine.stop)
                    await engine.start(NAME)
                case Done.UNCHANGED:
                    pass
            await self._wait(engine, url, deadline)
            undo.pop_all()
        await self.state.choose(Choice.OWN, url, chosen=True)
        now = await self._report(engine, await engine.find(NAME))
        return OwnInstanceUp.model_validate({**now.model_dump(), "done": done})

    async def status(self) -> OwnInstance:
        """Tell how the instance is."""
        engine, container = await self._look()
        report = await self._report(engine, container)
        now = self.clock()
        record = (await self.state.load(now)).get(report.url or "")
        engines = engine_reports(record.engines, now) if record else ()
        return report.model_copy(update={"engines": engines})

    async def down(self, *, keep_settings: bool = False) -> OwnInstanceDown:
        """Stop and remove the container, and let searches use it no longer.

        Args:
            keep_settings: whether its settings file stays, for the next `up`.

        Raises:
            OwnInstanceError: as for every method.
            StorageError: it is gone, and its address cannot be taken back now.
        """
        engine, container = await self._look()
        url = container.labels[LABEL] if container else self.folder.url
        if container is not None:
            self.progress("stopping")
            await engine.stop(NAME)
            await engine.remove(NAME)
        changed = url is not None and await self.state.choose(Choice.OWN, url, chosen=False)
        await asyncio.to_thread(self.folder.forget, keep_settings=keep_settings)
        return OwnInstanceDown(
            engine=engine.name,
            container=NAME,
            removed=container is not None,
            unregistered=url if changed else None,
            settings=_text(self.folder.settings),
        )

    async def log(self, lines: int) -> tuple[str, ...]:
        """The last lines the container wrote, oldest first."""
        engine, _ = await self._look()
        return _shown(await engine.logs(NAME, lines=lines))

    async def _look(self) -> tuple[Engine, Container | None]:
        """The engine that has our container, else the best one that works."""
        self.progress("looking for a container engine")
        engines = await find_engines(self.engine)
        for engine in engines:
            container = await engine.find(NAME)
            if container is not None:
                if LABEL not in container.labels:
                    raise name_taken(engine.name, NAME)
                return engine, container
        return engines[0], None

    async def _fetch(self, engine: Engine, image: str, pull: Pull, deadline: float) -> None:
        if pull is Pull.ALWAYS or not await engine.has_image(image):
            if pull is Pull.NEVER:
                raise OwnInstanceError(
                    f"This machine does not have the image {image}.",
                    reason=ContainerFailure.PULL_FAILED,
                    advice="Leave out --pull never to fetch it.",
                )
            self.progress(f"fetching {image}")
            left = max(0.0, deadline - asyncio.get_running_loop().time())
            await engine.pull(image, timeout=left, progress=self.progress)

    async def _make(self, engine: Engine, image: str, url: str, settings: Path) -> None:
        self.progress("starting")
        await engine.remove(NAME)
        await engine.run(
            NAME,
            image,
            publish=f"{LOOPBACK}:{urlsplit(url).port}:{_PORT_INSIDE}",
            labels={LABEL: url},
            mounts={_SETTINGS_INSIDE: settings},
            environment=_ENVIRONMENT,
        )

    async def _wait(self, engine: Engine, url: str, deadline: float) -> None:
        """Return when the instance answers; an engine may start one for ever that ends at once."""
        loop = asyncio.get_running_loop()
        self.progress(f"waiting for {url}healthz")
        restarts: int | None = None
        while not await self.is_alive(url):
            container = await engine.find(NAME)
            if container is None or container.state is not ContainerState.RUNNING:
                raise await self._not_up(engine, ContainerFailure.EXITED)
            restarts = container.restarts if restarts is None else restarts
            if container.restarts != restarts:
                raise await self._not_up(engine, ContainerFailure.EXITED)
            if loop.time() >= deadline:
                raise await self._not_up(engine, ContainerFailure.NOT_READY)
            await asyncio.sleep(_POLL)

    async def _not_up(self, engine: Engine, reason: ContainerFailure) -> OwnInstanceError:
        log = await engine.logs(NAME, lines=_LOG_LINES)
        exited = reason is ContainerFailure.EXITED
        return OwnInstanceError(
            "The container exited."
            if exited
            else "The container is running, but SearXNG did not answer in time.",
            reason=reason,
            advice=(
                f"Correct {self.folder.settings} or delete it, then try again."
                if exited
                else "Allow more time with --timeout, or another port with --port."
            ),
            log=_shown(log),
        )

    async def _report(self, engine: Engine, container: Container | None) -> OwnInstance:
        url = container.labels[LABEL] if container else self.folder.url
        chosen = (await self.state.choices())[Choice.OWN]
        return OwnInstance(
            engine=engine.name,
            container=NAME,
            state=container.state if container else ContainerState.ABSENT,
            image=container.image if container else None,
            url=url,
            healthy=container is not None and url is not None and await self.is_alive(url),
            registered=url in self.configured or (url in chosen and not self.state.problem),
            settings=_text(self.folder.settings),
            notes=tuple(filter(None, [self.state.problem])),
        )


async def _undo(step: Callable[[str], Awaitable[None]]) -> None:
    """Take a step back, however it goes: what went wrong before is what counts."""
    with contextlib.suppress(OwnInstanceError, TimeoutError):
        async with asyncio.timeout(_UNDO):
            await step(NAME)


def _shown(log: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(clean_line(without_secrets(line), _LONGEST_LINE) for line in log)


def _url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}/"


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _check_unchanged(options: UpOptions, url: str, image: str) -> None:
    advice = "Run `searx-mcp instances own down --keep-settings` first."
    if options.port not in {None, urlsplit(url).port}:
        raise InvalidArgumentError("port", f"the container is published at {url}", advice=advice)
    if options.image not in {None, image}:
        raise InvalidArgumentError("image", f"the container runs {image}", advice=advice)
