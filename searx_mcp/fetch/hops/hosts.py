"""Visits to hosts, each when the host can bear it; the rules are in `host_limits.py`."""

import asyncio
import math
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from typing_extensions import override

from searx_mcp.errors import ErrorCode, FetchError, ProxyError, TransportError
from searx_mcp.fetch.hops.host_limits import Gate, HostLimits, HostState, Limit
from searx_mcp.fetch.hops.site import DEFAULT_RETRY_AFTER

REMEMBERED_HOSTS: Final = 10_000
"""Hosts that nobody visits now, of which the limits are still known: 3 MB."""

_PATIENCE: Final = 5.0
"""Seconds that a visit waits for a host that failed or asked to be left alone; a caller has better
things to do than to wait for longer, although its deadline would let it."""
SILENT: Final = 2.0
"""Seconds without an answer after which a request makes room for another one to its host: as long as a page
of a search has its slot."""
_SOON: Final = 1.0
"""Seconds to wait before another call, when it cannot be known better."""

_REFUSALS: Final = frozenset({Limit.PAUSE, Limit.BREAKER})

_MESSAGES: Final = {
    Limit.SLOTS: "As many requests as one site may get are under way to it.",
    Limit.RATE: "This site has been asked as often as it may be for now.",
    Limit.PAUSE: "The site asked to be left alone for a time.",
    Limit.BREAKER: "The site has failed several times in a row and is left alone for a time.",
}
_ADVICE: Final = "Wait before asking this site again, or use another result."


class Visit:
    """One request to a host, under way."""

    def __init__(self, hold: Callable[[float], None], end_silence: Callable[[], None]) -> None:
        self._hold = hold
        self._end_silence = end_silence
        self.succeeded: bool | None = None

    def answered(self, status: int, retry_after: float | None) -> None:
        """Tell what the host answered.

        Args:
            status: the HTTP status. 500 to 599 is a failure; any other shows that the host works.
            retry_after: seconds that the host asks us to wait; they count with 429 and 503.
        """
        self._end_silence()
        self.succeeded = not (
            HTTPStatus.INTERNAL_SERVER_ERROR <= status < HTTPStatus.INTERNAL_SERVER_ERROR + 100
        )
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            self._hold(retry_after or DEFAULT_RETRY_AFTER)
        elif status == HTTPStatus.SERVICE_UNAVAILABLE and retry_after:
            self._hold(retry_after)


@dataclass(slots=True)
class _Host:
    """One host in use.

    Attributes:
        state: what is known of it.
        queue: of those who wait, in the order they came; set to make one look again.
        users: who waits or visits.
    """

    state: HostState
    queue: deque[asyncio.Event] = field(default_factory=deque)
    users: int = 0

    def wake_first(self) -> None:
        if self.queue:
            self.queue[0].set()

    def wake_all(self) -> None:
        for event in self.queue:
            event.set()


class _Silence:
    """Counts a visit as silent from some time after its beginning on."""

    def __init__(self, host: _Host, after: float) -> None:
        self._host = host
        self._has_begun = False
        self._timer = asyncio.get_running_loop().call_later(after, self._begin)

    def _begin(self) -> None:
        self._has_begun = True
        self._host.state.silent += 1
        self._host.wake_first()

    def end(self) -> None:
        """Take note of the answer, or of the end of the visit."""
        self._timer.cancel()
        if self._has_begun:
            self._has_begun = False
            self._host.state.silent -= 1


class Hosts:
    """Lets requests go to each host one after the other, not too many and not too often.

    Visits to one host begin in the order they were asked for. One that is cancelled while it waits
    has taken nothing. Hosts are told apart by their text: case, ports and final dots are the
    caller's to settle.

    Args:
        max_per_host: visits to one host at the same time; silent ones do not count until there are twice as many.
        rate: visits to one host in a minute, on average; a third of that, at least 5, may go at once.
        breaker_failures: failures in a row after which a host is left alone.
        breaker_pause: seconds it is left alone at first; doubled each time, up to 600.
        clock: the event loop's time.
        silent_after: seconds without an answer after which a visit is silent.
        remembered: hosts kept in memory while nobody visits them.
    """

    def __init__(
        self,
        *,
        max_per_host: int,
        rate: int,
        breaker_failures: int,
        breaker_pause: float,
        clock: Callable[[], float],
        silent_after: float = SILENT,
        remembered: int = REMEMBERED_HOSTS,
    ) -> None:
        self._limits = HostLimits(max_per_host, rate, breaker_failures, breaker_pause)
        self._clock = clock
        self._silent_after = silent_after
        self._remembered = remembered
        self._in_use: dict[str, _Host] = {}
        self._idle: OrderedDict[str, HostState] = OrderedDict()

    @override
    def __repr__(self) -> str:
        waiting = sum(len(host.queue) for host in self._in_use.values())
        visits = sum(host.state.in_flight for host in self._in_use.values())
        return f"<Hosts [{visits} visits, {waiting} waiting, {len(self._idle)} idle]>"

    def visit(self, host: str, *, deadline: float) -> AbstractAsyncContextManager[Visit]:
        """Wait until a host may be asked, and hold its slot for as long as the block lasts.

        A `TransportError` that leaves the block is a failure of the host, unless it is a
        `ProxyError`. Anything else, cancellation included, tells no more than the answer did.

        Args:
            host: the host and, unless it is the usual one, the port.
            deadline: the event loop's time by which the visit must have begun.

        Raises:
            FetchError: `rate_limited`, with `retry_after`; at once if it is known that the visit
                cannot begin in time, or only after a pause that is not worth waiting for.
        """
        return self._visit(host, deadline)

    @asynccontextmanager
    async def _visit(self, name: str, deadline: float) -> AsyncIterator[Visit]:
        host = self._take(name)
        try:
            era = await self._begin(host, deadline)

            def hold(seconds: float) -> None:
                host.state.pause(self._clock(), seconds)
                host.wake_all()

            silence = _Silence(host, self._silent_after)
            visit = Visit(hold, silence.end)
            try:
                yield visit
            except TransportError as error:
                if not isinstance(error, ProxyError):
                    visit.succeeded = False
                raise
            finally:
                silence.end()
                now = self._clock()
                host.state.end(now, era, succeeded=visit.succeeded)
                if host.state.gate(now).limit in _REFUSALS:
                    host.wake_all()
                else:
                    host.wake_first()
        finally:
            self._give_back(name, host)

    async def _begin(self, host: _Host, deadline: float) -> int:
        """Wait for the turn and start; only the first of the queue ever starts."""
        look_again = asyncio.Event()
        host.queue.append(look_again)
        patient_until: float | None = None
        try:
            while True:
                now = self._clock()
                is_first = host.queue[0] is look_again
                gate = host.state.gate(now, ahead=0 if is_first else host.queue.index(look_again))
                if is_first and gate.at <= now:
                    return host.state.start(now)
                if gate.limit in _REFUSALS:
                    patient_until = now + _PATIENCE if patient_until is None else patient_until
                    latest = min(deadline, patient_until)
                else:
                    patient_until, latest = None, deadline
                if latest < gate.at < math.inf or latest <= now:
                    raise _refusal(gate, now)
                look_again.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(min(gate.at, latest) if is_first else latest):
                        await look_again.wait()
        finally:
            host.queue.remove(look_again)
            host.wake_first()

    def _take(self, name: str) -> _Host:
        host = self._in_use.get(name)
        if host is None:
            state = self._idle.pop(name, None) or HostState(self._limits)
            host = self._in_use[name] = _Host(state)
        host.users += 1
        return host

    def _give_back(self, name: str, host: _Host) -> None:
        host.users -= 1
        if host.users:
            return
        del self._in_use[name]
        self._idle[name] = host.state
        if len(self._idle) > self._remembered:
            self._idle.popitem(last=False)


def _refusal(gate: Gate, now: float) -> FetchError:
    wait = gate.at - now if gate.at < math.inf else _SOON
    return FetchError(
        _MESSAGES[gate.limit],
        code=ErrorCode.RATE_LIMITED,
        advice=_ADVICE,
        retry_after=max(_SOON, wait),
    )
