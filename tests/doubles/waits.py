"""Strikes one wait of a call: what SQLite does with each `malloc`, done with each `await`."""

import asyncio
import contextvars
import sys
from collections.abc import Callable, Coroutine, Generator
from types import TracebackType
from typing import Any, Final, Generic, TypeVar
from weakref import WeakKeyDictionary

from typing_extensions import override

T = TypeVar("T")

_COORDINATION: Final = frozenset({"asyncio.locks", "asyncio.queues", "asyncio.taskgroups"})
"""Where tasks of one program wait for each other, which cannot fail."""


class Waits:
    """Counts the waits of a call and all its tasks, and does something to one of them.

    A wait is an `await` that leaves the loop to others until something has happened outside: an
    answer of a name server or a site, a thread that is done, a time that is over. Waiting for
    another task by a lock, a queue or a task group is none.

    ```python
    for number in count(1):
        waits = Waits(number, lambda: OSError("struck"))
        result = await waits.run(client.fetch(url))
        if waits.count < number:
            break  # the call has no such wait
    ```

    Args:
        strike_at: the number of the wait to strike, from 1; 0 strikes none.
        failure: makes what that wait raises. What was waited for is called off, as it is when a
            task is cancelled. `None` cancels the whole call there instead.

    Attributes:
        count: waits so far.
    """

    def __init__(
        self, strike_at: int = 0, failure: Callable[[], BaseException] | None = None
    ) -> None:
        self.count = 0
        self._strike_at = strike_at
        self._failure = failure
        self._inside = contextvars.ContextVar("inside", default=False)
        self._makers: WeakKeyDictionary[asyncio.Future[Any], str] = WeakKeyDictionary()
        self._main: asyncio.Task[Any] | None = None

    async def run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a call to its end and give what it returns.

        Raises:
            asyncio.CancelledError: the call was cancelled.
            Exception: whatever the call raised.
        """
        loop = asyncio.get_running_loop()
        others, make_future = loop.get_task_factory(), loop.create_future

        def create_future() -> "asyncio.Future[Any]":
            future = make_future()
            self._makers[future] = sys._getframe(1).f_globals["__name__"]
            return future

        def create_task(
            on: asyncio.AbstractEventLoop,
            work: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
            *,
            context: contextvars.Context | None = None,
            **further: Any,
        ) -> "asyncio.Future[Any]":
            is_inside = context.get(self._inside) if context else self._inside.get()
            if not isinstance(work, Coroutine):
                raise TypeError("a task needs a coroutine")  # as one of asyncio's own says, too
            watched = _Watched(work, self) if is_inside else work
            return asyncio.Task(watched, loop=on, context=context, **further)

        context = contextvars.copy_context()
        context.run(self._inside.set, True)  # noqa: FBT003 - the value of a variable
        loop.set_task_factory(create_task)
        loop.create_future = create_future  # type: ignore[method-assign] # - undone below
        try:
            main: asyncio.Task[T] = loop.create_task(call, context=context)
            self._main = main
            try:
                await asyncio.wait([main])
            finally:
                if not main.done():  # whoever waits for the call was cancelled
                    main.cancel()
                    await asyncio.wait([main])
            return main.result()
        finally:
            del loop.create_future
            loop.set_task_factory(others)

    def _is_struck(self, awaited: "asyncio.Future[Any]") -> bool:
        """Whether this wait is the one, after counting it."""
        if self._makers.get(awaited) in _COORDINATION:
            return False
        self.count += 1
        return self.count == self._strike_at

    def _strike(self, awaited: "asyncio.Future[Any]") -> BaseException | None:
        """Strike a wait; gives what it is to raise, or `None` if the call is cancelled."""
        if self._failure is None:
            assert self._main is not None
            self._main.cancel()
            return None
        awaited.cancel()
        return self._failure()


class _Watched(Coroutine[Any, Any, T], Generic[T]):
    """A coroutine whose every wait passes by a `Waits`."""

    def __init__(self, inner: Coroutine[Any, Any, T], waits: Waits) -> None:
        self._inner = inner
        self._waits = waits
        self._pending: BaseException | None = None

    @override
    def send(self, value: Any, /) -> Any:
        if self._pending is not None:
            return self._raise()
        return self._seen(self._inner.send(value))

    @override
    def throw(self, typ: Any, val: Any = None, tb: TracebackType | None = None, /) -> Any:
        if self._pending is not None:
            return self._raise()
        return self._seen(self._inner.throw(typ))

    @override
    def close(self) -> None:
        self._inner.close()

    @override
    def __await__(self) -> Generator[Any, Any, T]:
        return self._inner.__await__()

    def _raise(self) -> object:
        failure, self._pending = self._pending, None
        assert failure is not None
        return self._seen(self._inner.throw(failure))

    def _seen(self, awaited: object) -> object:
        if asyncio.isfuture(awaited) and self._waits._is_struck(awaited):
            self._pending = self._waits._strike(awaited)
        return awaited
