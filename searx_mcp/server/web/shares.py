"""What one client may take beside others: a quarter of what there is, and a turn at a time.

A client is an address, or the network of an IPv6 customer; a named token counts on its own, from wherever it comes.
Behind a proxy all clients have its address, so the connections of those that the settings name count for nobody.
"""

import asyncio
import ipaddress
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Protocol

from starlette.types import Scope

_PARTS: Final = 4
"""Clients that fit if each takes all it may."""
_BEGINNING: Final = 0.01
"""Seconds after which a request has begun if the event loop has nothing else to do. Those that need only the processor
are done by then; the others wait for a network, and the next may begin."""
_LATE: Final = 0.002
"""Seconds by which a timer of an event loop that is free may be late."""
_LONGEST: Final = 0.25
"""Seconds after which a request has begun however busy the event loop is."""
_AT_ONCE: Final = 1
"""Requests of a client that begin at a time while there are others."""
_ALONE: Final = 10.0
"""Seconds after the last request of any other client in which one is not yet alone."""
_KNOWN: Final = 1_024
"""Addresses that are not parsed again, for each connection and each request."""
_IPV6_CUSTOMER: Final = 64
"""Bits of an IPv6 prefix that one customer has (RFC 6177)."""
_VOUCH: Final = "vouch"
"""Key of the state of a connection."""


def share_of(most: int) -> int:
    """What one client may take of so many."""
    return max(1, most // _PARTS)


def customer_of(text: str) -> str:
    """Return the address, or the network of an IPv6 address; empty if it is none."""
    address = _parsed(text)
    if address is None or isinstance(address, ipaddress.IPv4Address):
        return str(address or "")
    return str(ipaddress.ip_network((address, _IPV6_CUSTOMER), strict=False))


def _parsed(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse an address; an IPv4 address on a socket for IPv6 is the same client's."""
    try:
        parsed = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


class Clients:
    """Tells clients apart by their addresses.

    Args:
        proxies: addresses and networks of proxies, which are no clients.
    """

    def __init__(self, proxies: Iterable[str] = ()) -> None:
        self._proxies = tuple(ipaddress.ip_network(each, strict=False) for each in proxies)
        self._client_of = lru_cache(_KNOWN)(self._looked_up)

    def at(self, peer: tuple[str, int] | None) -> str:
        """Return the address of a connection's client, or its IPv6 network; empty if it is unknown or a proxy."""
        return self._client_of(peer[0]) if peer else ""

    def _looked_up(self, host: str) -> str:
        address = _parsed(host)
        if address is None or any(address in network for network in self._proxies):
            return ""
        return customer_of(str(address))


class Closable(Protocol):
    """A connection that can be closed."""

    def make_room(self) -> None:
        """Close it for another one."""


class Connections:
    """The connections of each client, and those that no valid token has come over.

    Args:
        clients: tell them apart.
        most: connections of all clients.
        strangers: likewise, without a token; 0 where nobody needs one.
    """

    def __init__(self, clients: Clients, most: int, strangers: int) -> None:
        self._clients = clients
        self._share = share_of(most)
        self._told = -(-self._share // 8)
        self._most_strangers = strangers
        self._held: Counter[str] = Counter()
        self._strangers: dict[Closable, str] = {}

    def enter(self, connection: Closable, peer: tuple[str, int] | None) -> "Entry":
        """Count a connection; of strangers, the oldest of the client that has most makes room for it."""
        client = self._clients.at(peer)
        if not client:
            return Entry(client)
        self._held[client] += 1
        surplus = self._held[client] - self._share
        entry = Entry(client, is_surplus=surplus > 0, is_flood=surplus > self._told)
        if self._most_strangers and not entry.is_surplus:
            self._strangers[connection] = client
            if len(self._strangers) > self._most_strangers:
                most, _ = Counter(self._strangers.values()).most_common(1)[0]
                oldest = next(each for each, whose in self._strangers.items() if whose == most)
                del self._strangers[oldest]
                oldest.make_room()
        return entry

    def vouch(self, connection: Closable) -> None:
        """Note that a valid token has come over a connection."""
        self._strangers.pop(connection, None)

    def leave(self, connection: Closable, entry: "Entry") -> None:
        """Count a connection no more."""
        self._strangers.pop(connection, None)
        self._held[entry.client] -= 1
        if self._held[entry.client] <= 0:
            del self._held[entry.client]


@dataclass(frozen=True, slots=True)
class Entry:
    """How a connection is counted.

    Attributes:
        client: whose it is; empty if nobody can tell.
        is_surplus: whether its client has more than its share.
        is_flood: whether it has so many more that it is not told.
    """

    client: str
    is_surplus: bool = False
    is_flood: bool = False


def vouching(state: dict[str, object], vouch: Callable[[], None]) -> dict[str, object]:
    """The state of a connection, whose requests can tell that a valid token has come over it."""
    return {**state, _VOUCH: vouch}


def vouch_for(scope: Scope) -> None:
    """Tell the connection of a request that its token is valid."""
    vouch = scope.get("state", {}).get(_VOUCH)
    if vouch is not None:
        vouch()


class Busy(Exception):  # noqa: N818 - an answer
    """A client has as many requests in flight as it may."""


@dataclass(slots=True, eq=False)
class _Requests:
    """The requests of one client: how many are in flight, which begin, and those that wait to."""

    count: int = 0
    beginning: set[object] = field(default_factory=set)
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    def begun(self, request: object) -> None:
        self.beginning.discard(request)
        while self.waiting and len(self.beginning) < _AT_ONCE:
            turn = self.waiting.popleft()
            if not turn.done():
                self.beginning.add(turn)
                turn.set_result(None)


class _Beginning:
    """Waits until the event loop is free, as it is when a request waits for a network."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then
        self._loop = asyncio.get_running_loop()
        self._end = self._loop.time() + _LONGEST
        self._wait()

    def _wait(self) -> None:
        self._due = self._loop.time() + _BEGINNING
        self._timer = self._loop.call_at(self._due, self._look)

    def _look(self) -> None:
        now = self._loop.time()
        if now - self._due > _LATE and now < self._end:
            self._wait()
        else:
            self._then()

    def cancel(self) -> None:
        self._timer.cancel()


class Turns:
    """Lets the requests of a client begin one after the other while there are others, and bounds their number.

    Without it, who keeps two hundred connections busy has two hundred turns of the event loop for each one of somebody
    who has one. A client that is alone has nobody to wait for.

    Args:
        most: requests of all clients in flight.
    """

    def __init__(self, most: int) -> None:
        self._share = share_of(most)
        self._requests: dict[str, _Requests] = {}
        self._seen: OrderedDict[str, float] = OrderedDict()

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[None]:
        """Wait for the turn of a request, and count it until it is served.

        Args:
            client: whose it is; if nobody can tell, it waits for nothing and is not counted.

        Raises:
            Busy: it has too many.
        """
        loop = asyncio.get_running_loop()
        is_alone = self._is_alone(client, loop.time())
        if not client:
            yield
            return
        own = self._requests.setdefault(client, _Requests())
        if own.count >= self._share:
            raise Busy
        turn: asyncio.Future[None] = loop.create_future()
        own.count += 1
        begun: _Beginning | None = None
        try:
            if is_alone or len(own.beginning) < _AT_ONCE:
                own.beginning.add(turn)
            else:
                own.waiting.append(turn)
                await turn
            begun = _Beginning(lambda: own.begun(turn))
            yield
        finally:
            if begun is not None:
                begun.cancel()
            turn.cancel()
            own.begun(turn)
            own.count -= 1
            if not own.count:
                self._requests.pop(client, None)

    def _is_alone(self, client: str, now: float) -> bool:
        self._seen[client] = now
        self._seen.move_to_end(client)
        while next(iter(self._seen.values())) <= now - _ALONE:
            self._seen.popitem(last=False)
        return len(self._seen) == 1
