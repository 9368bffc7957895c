"""Fair shares: one client may have a quarter of the connections and requests, and its requests begin one by one.

A client is an IPv4 address or the network of an IPv6 customer. A named token has a share of its own, wherever its
requests come from. Behind a proxy all clients have the proxy's address, so connections of the proxies in the settings
count for no client.
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

_SHARES: Final = 4
"""Clients that fit if each takes its full share."""
_BEGINNING: Final = 0.01
"""Seconds until a request counts as begun on an idle event loop. Requests that only compute are done by then; the
others wait for the network, so the next one may begin."""
_MAX_LATENESS: Final = 0.002
"""Seconds by which a timer may be late on an idle event loop."""
_MAX_BEGINNING: Final = 0.25
"""Seconds until a request counts as begun on a busy event loop."""
_MAX_CONCURRENT: Final = 1
"""Requests of one client that may begin at the same time while there are other clients."""
_ALONE_AFTER: Final = 10.0
"""Seconds without requests of other clients after which a client is alone."""
_CACHED_ADDRESSES: Final = 1_024
"""Parsed addresses to cache; each connection and each request looks one up."""
_IPV6_CUSTOMER: Final = 64
"""Prefix length of the IPv6 network that one customer has (RFC 6177)."""
_VOUCH: Final = "vouch"
"""Key in the state of a connection."""


def share_of(total: int) -> int:
    """Return one client's share of a total."""
    return max(1, total // _SHARES)


def customer_of(text: str) -> str:
    """Return an IPv4 address or the customer network of an IPv6 address; empty if the text is neither."""
    address = _parse(text)
    if address is None or isinstance(address, ipaddress.IPv4Address):
        return str(address or "")
    return str(ipaddress.ip_network((address, _IPV6_CUSTOMER), strict=False))


def _parse(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Parse an address; an IPv4 client on an IPv6 socket has its IPv4 address."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


class Clients:
    """Finds the client of a connection by its address.

    Args:
        proxies: addresses and networks of proxies, which are not clients.
    """

    def __init__(self, proxies: Iterable[str] = ()) -> None:
        self._proxies = tuple(ipaddress.ip_network(proxy, strict=False) for proxy in proxies)
        self._find_host = lru_cache(_CACHED_ADDRESSES)(self._look_up)

    def find(self, peer: tuple[str, int] | None) -> str:
        """Return the address or the IPv6 network of a client; empty if it is unknown or a proxy.

        Args:
            peer: address and port of the other side of a connection.
        """
        return self._find_host(peer[0]) if peer else ""

    def _look_up(self, host: str) -> str:
        address = _parse(host)
        if address is None or any(address in network for network in self._proxies):
            return ""
        return customer_of(str(address))


class Closable(Protocol):
    """A connection that can be closed."""

    def make_room(self) -> None:
        """Close this connection in favour of another one."""


class ConnectionShares:
    """Counts the open connections of each client, and limits those of strangers, which have sent no valid token.

    Args:
        clients: finds the client of a connection by its address.
        max_connections: connections of all clients.
        max_strangers: connections of strangers; 0 if no token is needed.
    """

    def __init__(self, clients: Clients, max_connections: int, max_strangers: int) -> None:
        self._clients = clients
        self._share = share_of(max_connections)
        self._max_refusals = -(-self._share // 8)
        self._max_strangers = max_strangers
        self._counts: Counter[str] = Counter()
        self._strangers: dict[Closable, str] = {}

    def enter(self, connection: Closable, peer: tuple[str, int] | None) -> "CountedConnection":
        """Count a connection; if there are too many strangers, close the oldest of the client with the most."""
        client = self._clients.find(peer)
        if not client:
            return CountedConnection(client)
        self._counts[client] += 1
        surplus = self._counts[client] - self._share
        entry = CountedConnection(
            client, is_surplus=surplus > 0, is_flood=surplus > self._max_refusals
        )
        if self._max_strangers and not entry.is_surplus:
            self._strangers[connection] = client
            if len(self._strangers) > self._max_strangers:
                largest, _ = Counter(self._strangers.values()).most_common(1)[0]
                oldest = next(each for each, of in self._strangers.items() if of == largest)
                del self._strangers[oldest]
                oldest.make_room()
        return entry

    def vouch(self, connection: Closable) -> None:
        """Record that a connection has sent a valid token."""
        self._strangers.pop(connection, None)

    def leave(self, connection: Closable, entry: "CountedConnection") -> None:
        """Stop counting a connection."""
        self._strangers.pop(connection, None)
        self._counts[entry.client] -= 1
        if self._counts[entry.client] <= 0:
            del self._counts[entry.client]


@dataclass(frozen=True, slots=True)
class CountedConnection:
    """How a connection is counted.

    Attributes:
        client: client of the connection; empty if unknown.
        is_surplus: whether the client exceeds its share.
        is_flood: whether it exceeds its share so far that it gets no response.
    """

    client: str
    is_surplus: bool = False
    is_flood: bool = False


def with_vouch(state: dict[str, object], vouch: Callable[[], None]) -> dict[str, object]:
    """Return the state of a connection with a function to call once it has sent a valid token."""
    return {**state, _VOUCH: vouch}


def vouch_for(scope: Scope) -> None:
    """Report to the connection of a request that its token is valid."""
    vouch = scope.get("state", {}).get(_VOUCH)
    if vouch is not None:
        vouch()


class Busy(Exception):  # noqa: N818 - a refusal, not a fault
    """A client has its full share of requests in flight."""


@dataclass(slots=True, eq=False)
class _Requests:
    """Requests of one client.

    Attributes:
        count: requests in flight.
        beginning: requests that are beginning.
        waiting: requests that wait to begin.
    """

    count: int = 0
    beginning: set[object] = field(default_factory=set)
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)

    def record_begun(self, request: object) -> None:
        """Let the next request begin, now that this one has begun or ended."""
        self.beginning.discard(request)
        while self.waiting and len(self.beginning) < _MAX_CONCURRENT:
            turn = self.waiting.popleft()
            if not turn.done():
                self.beginning.add(turn)
                turn.set_result(None)


class _IdleWatch:
    """Calls a function once the event loop is idle, as it is when a request waits for the network."""

    def __init__(self, on_idle: Callable[[], None]) -> None:
        self._on_idle = on_idle
        self._loop = asyncio.get_running_loop()
        self._end = self._loop.time() + _MAX_BEGINNING
        self._schedule()

    def _schedule(self) -> None:
        self._due = self._loop.time() + _BEGINNING
        self._timer = self._loop.call_at(self._due, self._check)

    def _check(self) -> None:
        now = self._loop.time()
        if now - self._due > _MAX_LATENESS and now < self._end:
            self._schedule()
        else:
            self._on_idle()

    def cancel(self) -> None:
        self._timer.cancel()


class FairQueue:
    """Lets the requests of each client begin one by one, and limits how many it has in flight.

    Otherwise a client with two hundred busy connections would get two hundred turns of the event loop for each turn of
    a client with one. A client that is alone does not wait.

    Args:
        max_requests: requests in flight of all clients.
    """

    def __init__(self, max_requests: int) -> None:
        self._share = share_of(max_requests)
        self._requests: dict[str, _Requests] = {}
        self._seen: OrderedDict[str, float] = OrderedDict()

    @asynccontextmanager
    async def turn(self, client: str) -> AsyncIterator[None]:
        """Wait until a request may begin, and count it until it has been served.

        Args:
            client: client of the request; if empty, the request neither waits nor counts.

        Raises:
            Busy: the client has its full share of requests in flight.
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
        watch: _IdleWatch | None = None
        try:
            if is_alone or len(own.beginning) < _MAX_CONCURRENT:
                own.beginning.add(turn)
            else:
                own.waiting.append(turn)
                await turn
            watch = _IdleWatch(lambda: own.record_begun(turn))
            yield
        finally:
            if watch is not None:
                watch.cancel()
            turn.cancel()
            own.record_begun(turn)
            own.count -= 1
            if not own.count:
                self._requests.pop(client, None)

    def _is_alone(self, client: str, now: float) -> bool:
        self._seen[client] = now
        self._seen.move_to_end(client)
        while next(iter(self._seen.values())) <= now - _ALONE_AFTER:
            self._seen.popitem(last=False)
        return len(self._seen) == 1
