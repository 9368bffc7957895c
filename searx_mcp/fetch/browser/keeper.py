"""One browser that is started when it is needed, and ended when it is idle or not to be trusted."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from searx_mcp.tasks.group import Spawn

CLOSE_TIMEOUT: Final = 10.0
"""Seconds for a browser to end with all it started; each step of that has a limit of its own."""


class Running(Protocol):
    """A program that was started."""

    @property
    def is_alive(self) -> bool:
        """Whether it still answers, as far as is known."""
        ...

    async def watch(self) -> None:
        """Return when it must not go on."""
        ...

    async def aclose(self) -> None:
        """End it, within bounds."""
        ...


R = TypeVar("R", bound=Running)


@dataclass(slots=True)
class Lease(Generic[R]):
    """A browser in use.

    Attributes:
        running: the browser.
        is_sound: set by the borrower once its page is closed: whatever ends otherwise leaves a page
            behind that may go on, and the browser is given to nobody else.
    """

    running: R
    is_sound: bool = False


class _Life(Generic[R]):
    """One browser from its start to its end.

    Attributes:
        ready: the browser, or why it did not start.
        over: set when it is to end.
        users: how many have borrowed it.
        is_retired: whether nobody else may borrow it.
    """

    def __init__(self) -> None:
        self.ready: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self.over = asyncio.Event()
        self.users = 0
        self.is_retired = False
        self.timer: asyncio.TimerHandle | None = None

    @property
    def can_serve(self) -> bool:
        """Whether it may be borrowed."""
        if self.is_retired or self.over.is_set():
            return False
        return not self.ready.done() or self.ready.result().is_alive


class Keeper(Generic[R]):
    """Lends a browser, the same to all who ask while it is in use and for a time after.

    Its life is a task of its own: a borrower that is cancelled neither cuts its start short nor has to
    wait for its end.
    """

    def __init__(
        self, start: Callable[[], Awaitable[R]], *, spawn: Spawn, idle_time: float
    ) -> None:
        """Describe a keeper; nothing is started yet.

        Args:
            start: starts a browser; when cancelled it leaves nothing behind.
            spawn: starts a coroutine as a task of the owner's task group.
            idle_time: seconds after which a browser that nobody uses ends.
        """
        self._start = start
        self._spawn = spawn
        self._idle_time = idle_time
        self._newest: _Life[R] | None = None
        self._lives: dict[asyncio.Task[None], _Life[R]] = {}
        self._is_closed = False

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Lease[R]]:
        """Lend a browser for the length of the block.

        Raises:
            SettingsError: it does not start.
        """
        life = self._borrow()
        lease: Lease[R] | None = None
        try:
            lease = Lease(await asyncio.shield(life.ready))
            yield lease
        finally:
            self._return(life, is_sound=lease is None or lease.is_sound)

    async def aclose(self) -> None:
        """End all browsers, within `CLOSE_TIMEOUT`; harmless when repeated."""
        self._is_closed = True
        for life in self._lives.values():
            life.over.set()
        if self._lives:
            _, late = await asyncio.wait(self._lives, timeout=CLOSE_TIMEOUT)
            for task in late:
                task.cancel()

    def _borrow(self) -> _Life[R]:
        if self._is_closed:
            raise _closed()
        life = self._newest
        if life is None or not life.can_serve:
            if life is not None:
                self._retire(life)
            life = self._newest = _Life()
            task = self._spawn(self._live(life))
            self._lives[task] = life
            task.add_done_callback(self._bury)
        life.users += 1
        if life.timer is not None:
            life.timer.cancel()
            life.timer = None
        return life

    def _return(self, life: _Life[R], *, is_sound: bool) -> None:
        life.users -= 1
        if not is_sound:
            self._retire(life)
        elif not life.users and life.is_retired:
            life.over.set()
        elif not life.users:
            loop = asyncio.get_running_loop()
            life.timer = loop.call_later(self._idle_time, life.over.set)

    def _retire(self, life: _Life[R]) -> None:
        life.is_retired = True
        if not life.users:
            life.over.set()

    async def _live(self, life: _Life[R]) -> None:
        try:
            running = await self._start()
        except Exception as exc:  # noqa: BLE001 - handed to every borrower, not swallowed
            life.is_retired = True
            life.ready.set_exception(exc)
            life.ready.exception()  # marks it as retrieved: the last borrower may be gone
            return
        watching = self._spawn(running.watch())
        watching.add_done_callback(lambda _: self._dismiss(life))
        try:
            life.ready.set_result(running)
            await life.over.wait()
        finally:
            watching.cancel()
            await running.aclose()

    def _bury(self, task: asyncio.Task[None]) -> None:
        life = self._lives.pop(task)
        life.is_retired = True
        if not life.ready.done():  # cancelled, perhaps before it began; its borrowers are not
            life.ready.set_exception(_closed())
            life.ready.exception()

    def _dismiss(self, life: _Life[R]) -> None:
        life.is_retired = True
        life.over.set()


def _closed() -> RuntimeError:
    return RuntimeError("the renderer is closed")
