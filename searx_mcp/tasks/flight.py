"""Single flight: equal concurrent calls share one piece of work."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from typing_extensions import override

from searx_mcp.tasks.group import Spawn

T = TypeVar("T")


class _Flight(Generic[T]):
    def __init__(self, future: "asyncio.Future[T]") -> None:
        self.future = future
        self.task: asyncio.Task[None] | None = None
        self.waiters = 0


class SingleFlight(Generic[T]):
    """Runs `make` once for all callers that ask for the same key at the same time.

    The work is a task of its own: a caller that is cancelled leaves the others alone, and only
    when the last one leaves is the work cancelled. A newcomer never joins work that is dying.

    Args:
        spawn: starts a coroutine as a task of the owner's task group.
    """

    def __init__(self, spawn: Spawn) -> None:
        self._spawn = spawn
        self._flights: dict[Hashable, _Flight[T]] = {}

    @override
    def __repr__(self) -> str:
        return f"<SingleFlight [{len(self._flights)} in flight]>"

    async def run(self, key: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """The result of `make()` for `key`, shared with everybody who asks meanwhile.

        Raises:
            Exception: whatever `make` raised, for each of the callers.
        """
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.get_running_loop().create_future())
            flight.task = self._spawn(self._fly(key, flight, make))
        flight.waiters += 1
        try:
            return await asyncio.shield(flight.future)
        finally:
            flight.waiters -= 1
            if not flight.waiters and not flight.future.done():
                self._forget(key, flight)
                if flight.task is not None:
                    flight.task.cancel()

    async def _fly(
        self, key: Hashable, flight: _Flight[T], make: Callable[[], Awaitable[T]]
    ) -> None:
        try:
            result = await make()
        except asyncio.CancelledError:
            flight.future.cancel()
            raise
        except Exception as exc:  # noqa: BLE001 - handed to every waiter, not swallowed
            if not flight.future.done():
                flight.future.set_exception(exc)
                flight.future.exception()  # marks it as retrieved: the last waiter may be gone
        else:
            if not flight.future.done():
                flight.future.set_result(result)
        finally:
            self._forget(key, flight)

    def _forget(self, key: Hashable, flight: _Flight[T]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
