"""A thread of its own for calls that block."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from typing_extensions import override

T = TypeVar("T")


class _Call(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self.future: Future[T] = Future()
        self._work = work

    def run(self) -> None:
        if self.future.running() or self.future.set_running_or_notify_cancel():
            try:
                self.future.set_result(self._work())
            except BaseException as exc:  # noqa: BLE001 - whoever waits gets it
                self.future.set_exception(exc)


class CallThread:
    """Runs calls one after the other on one thread, which starts with the first of them.

    A caller that is cancelled leaves its call to run to its end, or takes it back if it has not
    begun. The thread is a daemon: a disk that hangs cannot keep the process from ending.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()
        self._is_running = False
        self._ends = False

    @override
    def __repr__(self) -> str:
        return f"<CallThread {self._name} [{'running' if self._is_running else 'idle'}]>"

    async def run(self, work: Callable[[], T]) -> T:
        """Run `work` after everything handed over before.

        Raises:
            Exception: whatever `work` raised.
        """
        call = _Call(work)
        self._hand_over(call, ends=False)
        return await asyncio.wrap_future(call.future)

    async def stop(self, last: Callable[[], None]) -> None:
        """Run `last` and end the thread; a cancelled caller does not prevent it.

        Calls handed over meanwhile still run, and keep the thread. There is never a second one,
        so `last` may let go of what only this thread may touch.
        """
        if self._is_running:
            call = _Call(last)
            call.future.set_running_or_notify_cancel()
            self._hand_over(call, ends=True)
            await asyncio.wrap_future(call.future)

    def _hand_over(self, call: _Call[T], *, ends: bool) -> None:
        with self._changed:
            self._calls.append(call.run)
            self._ends = ends
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._serve, name=self._name, daemon=True).start()
            self._changed.notify()

    def _serve(self) -> None:
        while (call := self._next()) is not None:
            call()
            del call  # while idle, the thread keeps no result and no traceback alive

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            while not self._calls:
                if self._ends:
                    self._is_running = False
                    return None
                self._changed.wait()
            return self._calls.popleft()
