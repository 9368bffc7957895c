"""docker or podman, by the subcommands and options that both have."""

import asyncio
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from searx_mcp.content.clean import clean_line
from searx_mcp.models.own_instance import ContainerFailure, ContainerState
from searx_mcp.models.service import Progress
from searx_mcp.ops.own.failures import OwnInstanceError, complaint, engine_down, no_engine
from searx_mcp.ops.own.programs import Finished, run_program

_STATES: Final = {
    "running": ContainerState.RUNNING,
    "restarting": ContainerState.RESTARTING,
}
ENGINES: Final = ("docker", "podman")
"""Names of the programs, in the order they are tried."""
_QUICK: Final = 20.0
"""Seconds for what only asks the engine or hands something over to it."""
_STOP: Final = 40.0
_STOP_GRACE: Final = 10
"""Whole seconds a container has to end by itself."""
_SHOWN: Final = 60
"""Characters of a line of the engine that are shown as progress."""
_ABSENT: Final = "no such"
_PORT_TAKEN: Final = ("port is already allocated", "address already in use")


@dataclass(frozen=True, slots=True)
class Container:
    """A container that exists.

    Attributes:
        state: what it does; one that is stopped can be started.
        image: name of its image.
        labels: its labels.
        restarts: how often the engine started it again by itself.
    """

    state: ContainerState
    image: str
    labels: Mapping[str, str]
    restarts: int = 0


class Engine:
    """A container engine, spoken to by its command.

    Every method raises `OwnInstanceError` when the engine refuses, is gone, or is too slow.
    """

    def __init__(self, name: str, path: str) -> None:
        """Name the engine; nothing is started yet.

        Args:
            name: `docker` or `podman`.
            path: of the program.
        """
        self.name = name
        self._path = path

    async def check(self) -> None:
        """Make sure that the engine answers and lets this user in."""
        done = await self._call("ps", "--quiet")
        if done.code:
            raise engine_down(self.name, done.err, platform=sys.platform)

    async def find(self, name: str) -> Container | None:
        """Look at a container, whatever it does; `None` if there is none of that name."""
        done = await self._call("container", "inspect", name)
        if done.code and _ABSENT in done.err.lower():
            return None
        try:
            return parse_container(self._succeeded(done).out)
        except ValueError as exc:
            raise self._failed(str(exc)) from exc

    async def has_image(self, image: str) -> bool:
        """Tell whether the image is on this machine."""
        done = await self._call("image", "inspect", "--format", "{{.Id}}", image)
        return done.code == 0

    async def pull(self, image: str, *, timeout: float, progress: Progress) -> None:  # noqa: ASYNC109 - what is left of the caller's time
        """Fetch the newest image of that name, telling how far it is."""
        advice = f"Run `{self.name} pull {image}` to see why, then try again."
        try:
            done = await self._run(
                ("pull", image),
                timeout=timeout,
                progress=lambda line: progress(f"fetching {image}: {clean_line(line, _SHOWN)}"),
            )
        except TimeoutError as exc:
            raise OwnInstanceError(
                f"The image {image} was not fetched in time.",
                reason=ContainerFailure.PULL_FAILED,
                advice=f"Run `{self.name} pull {image}` and wait for it, then try again.",
            ) from exc
        if done.code:
            raise OwnInstanceError(
                f"The image {image} cannot be fetched: {complaint(done.err)}",
                reason=ContainerFailure.PULL_FAILED,
                advice=advice,
            )

    async def run(
        self,
        name: str,
        image: str,
        *,
        publish: str,
        labels: Mapping[str, str],
        mounts: Mapping[str, Path],
        environment: Mapping[str, str],
    ) -> None:
        """Make a container and start it: in the background, again after a restart of the machine.

        Args:
            name: of the container.
            image: of what; it must be on this machine.
            publish: address and port here, and port inside: `127.0.0.1:8888:8080`.
            labels: by which it is known again.
            mounts: files inside by files here; read-only, and relabelled where SELinux wants that.
            environment: variables inside.
        """
        arguments = ["run", "--detach", "--pull", "never", "--name", name]
        arguments += ["--restart", "unless-stopped", "--publish", publish]
        for label, value in labels.items():
            arguments += ["--label", f"{label}={value}"]
        for inside, here in mounts.items():
            arguments += ["--volume", f"{here}:{inside}:ro,Z"]
        for variable, value in environment.items():
            arguments += ["--env", f"{variable}={value}"]
        self._started(await self._call(*arguments, image))

    async def start(self, name: str) -> None:
        """Start a container that is stopped."""
        self._started(await self._call("start", name))

    async def stop(self, name: str) -> None:
        """Stop a container; harmless when it is stopped."""
        self._succeeded(await self._call("stop", "-t", str(_STOP_GRACE), name, timeout=_STOP))

    async def remove(self, name: str) -> None:
        """Remove a container and its volumes that have no name, even while it runs."""
        done = await self._call("rm", "--force", "--volumes", name, timeout=_STOP)
        if _ABSENT not in done.err.lower():
            self._succeeded(done)

    async def logs(self, name: str, *, lines: int) -> tuple[str, ...]:
        """The last lines a container wrote, oldest first; none if it cannot be asked."""
        done = await self._call("logs", "--tail", str(lines), name)
        return () if done.code else tuple(f"{done.out}{done.err}".splitlines()[-lines:])

    async def _call(
        self,
        *arguments: str,
        timeout: float = _QUICK,  # noqa: ASYNC109 - of one call of the program
    ) -> Finished:
        try:
            return await self._run(arguments, timeout=timeout)
        except TimeoutError as exc:
            raise self._failed(f"it did not answer within {timeout:.0f} seconds") from exc

    async def _run(
        self,
        arguments: Sequence[str],
        *,
        timeout: float,  # noqa: ASYNC109 - of one call of the program
        progress: Progress | None = None,
    ) -> Finished:
        try:
            return await run_program((self._path, *arguments), timeout=timeout, on_line=progress)
        except TimeoutError:  # is an OSError
            raise
        except OSError as exc:
            raise self._failed(f"it cannot be started: {exc.strerror}") from exc

    def _started(self, done: Finished) -> None:
        if done.code and any(words in done.err.lower() for words in _PORT_TAKEN):
            raise OwnInstanceError(
                f"{self.name} cannot publish the port: another program has it.",
                reason=ContainerFailure.PORT_TAKEN,
                advice="Choose another with --port.",
            )
        self._succeeded(done)

    def _succeeded(self, done: Finished) -> Finished:
        if done.code:
            raise self._failed(complaint(done.err))
        return done

    def _failed(self, why: str) -> OwnInstanceError:
        return OwnInstanceError(
            f"{self.name} failed: {why}",
            reason=ContainerFailure.ENGINE_FAILED,
            advice=f"Run `{self.name} info` to check that it works.",
        )


async def find_engines(name: str | None = None) -> tuple[Engine, ...]:
    """The engines that are installed and answer, best first.

    Args:
        name: the only engine wanted, or `None` for any.

    Raises:
        OwnInstanceError: there is none; of several that do not answer, why the first does not.
    """
    installed = []
    for wanted in (name,) if name else ENGINES:
        path = await asyncio.to_thread(shutil.which, wanted)
        if path is not None:
            installed.append(Engine(wanted, path))
    working = []
    troubles = []
    for engine in installed:
        try:
            await engine.check()
        except OwnInstanceError as error:
            troubles.append(error)
        else:
            working.append(engine)
    if working:
        return tuple(working)
    raise troubles[0] if troubles else no_engine(name, platform=sys.platform)


class _State(BaseModel):
    status: str = Field(alias="Status")


class _Config(BaseModel):
    image: str = Field(alias="Image")
    labels: dict[str, str] | None = Field(default=None, alias="Labels")


class _Described(BaseModel):
    state: _State = Field(alias="State")
    config: _Config = Field(alias="Config")
    restarts: int = Field(default=0, alias="RestartCount")


_ANSWER: Final = TypeAdapter(tuple[_Described])


def parse_container(text: str) -> Container:
    """Read the answer to `container inspect` of one container: a JSON list of one object.

    Raises:
        ValueError: it is something else.
    """
    try:
        (described,) = _ANSWER.validate_json(text)
    except ValidationError as exc:
        raise ValueError("the engine's description of the container cannot be read") from exc
    return Container(
        state=_STATES.get(described.state.status, ContainerState.STOPPED),
        image=described.config.image,
        labels=described.config.labels or {},
        restarts=described.restarts,
    )
