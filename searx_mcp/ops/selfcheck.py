"""Proves the guard: runs forbidden addresses through the real client.

Nothing leaves the machine. The client is a normal one, with its guard, its redirects and everything else.
Only the two ends are doubles: names resolve as a vector says, and a socket that the guard allowed leads to a
site on 127.0.0.1, after its address was recorded.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from importlib import resources
from typing import Final, Self

from pydantic import TypeAdapter

from searx_mcp.arguments import parse_fetch
from searx_mcp.errors import ErrorCode, SearxMcpError
from searx_mcp.http.dialling import LOOPBACK, Dialling, SocketRedirect, StaticResolver
from searx_mcp.models.base import Frozen
from searx_mcp.service import Service
from searx_mcp.settings.values import Settings


class AddressVerdict(StrEnum):
    """Verdicts on an address."""

    REFUSED = "refused"
    ALLOWED = "allowed"


class Vector(Frozen):
    """One address, and its expected verdict.

    Attributes:
        id: its name in the table.
        kind: of attack, in one word.
        url: requested by a caller.
        verdict: expected.
        why: what is wrong with it, or looks wrong, for a person.
        dns: answers for names: a list of addresses for each lookup; the last repeats for ever. Other names
            have a public address.
        redirects: target of each answer's redirect; the answer after the last is a page.
        robots: redirect target of robots.txt; empty for a site without one.
        dials: addresses that may be connected to; empty for those of `PUBLIC_ADDRESSES`.
    """

    id: str
    kind: str
    url: str
    verdict: AddressVerdict
    why: str
    dns: Mapping[str, tuple[tuple[str, ...], ...]] = {}
    redirects: tuple[str, ...] = ()
    robots: str = ""
    dials: tuple[str, ...] = ()


class KindCount(Frozen):
    """The vectors of one kind.

    Attributes:
        kind: as in `Vector`.
        refused: number that must be refused.
        allowed: number that must be allowed.
        wrong: number with another verdict.
    """

    kind: str
    refused: int
    allowed: int
    wrong: int


class WrongVector(Frozen):
    """A vector without the expected verdict.

    Attributes:
        id, kind, url, why: as in `Vector`.
        expected: the expected verdict.
        came_to: what happened, for a person.
    """

    id: str
    kind: str
    url: str
    why: str
    expected: AddressVerdict
    came_to: str


class SelfCheck(Frozen):
    """The results of a run over all vectors.

    Attributes:
        passed: whether nothing is wrong and errors reveal nothing.
        vectors: number of vectors.
        kinds: counts, in the order of the table.
        wrong: every vector without the expected verdict.
        error_texts: number of different texts of errors for forbidden addresses; more than one would
            distinguish them, and let a caller map a private network.
    """

    passed: bool
    vectors: int
    kinds: tuple[KindCount, ...]
    wrong: tuple[WrongVector, ...]
    error_texts: int


PUBLIC_ADDRESSES: Final = ("93.184.216.34", "2606:4700::6810:84e5")
"""The public addresses of the table: names resolve to the first by default."""
_FILE: Final = "selfcheck_vectors.json"
_VECTORS: Final = TypeAdapter(tuple[Vector, ...])
_END_OF_HEAD: Final = b"\r\n\r\n"
_ROBOTS: Final = "/robots.txt"
_PAGE: Final = b"<!DOCTYPE html><title>A page</title><h1>A page</h1><p>Nothing else is here.</p>"

_REFUSALS: Final = frozenset(
    {
        ErrorCode.INVALID_ARGUMENT,
        ErrorCode.BLOCKED_ADDRESS,
        ErrorCode.BLOCKED_PORT,
        ErrorCode.BLOCKED_SCHEME,
        ErrorCode.DNS_ERROR,  # for a name that a vector says does not exist
    }
)
# The site has no certificate; by then the address has been allowed.
_ARRIVALS: Final = frozenset({ErrorCode.TLS_ERROR, ErrorCode.CONNECTION_ERROR})

# The table uses the same few hosts hundreds of times, and nothing may be remembered in between.
_SETTINGS: Final = {
    "instances": {"public": "off"},
    "open_sources": {"mode": "off"},
    "fetch": {"host_rate": 6_000, "breaker_failures": 100, "max_per_host": 64, "cache_ttl": 0},
}

OpenService = Callable[[Settings, Dialling], AbstractAsyncContextManager[Service]]
"""Opens a client with settings, and with hooks for resolving names and connecting."""


def bundled_vectors() -> tuple[Vector, ...]:
    """Read the package's table."""
    return parse_vectors((resources.files(__package__) / _FILE).read_text("utf-8"))


def parse_vectors(text: str) -> tuple[Vector, ...]:
    """Parse a table: a JSON list of objects with the fields of `Vector`.

    The answers of a name may be one list of addresses instead of a list of lists.

    Raises:
        ValueError: it has another form.
    """
    # Not with pydantic's own parser, which refuses lone surrogates in a string.
    rows = json.loads(text)
    for row in rows:
        row["dns"] = {
            name: [answers] if answers and isinstance(answers[0], str) else answers
            for name, answers in (row.get("dns") or {}).items()
        }
    return _VECTORS.validate_python(rows)


async def prove_guard(
    vectors: Sequence[Vector],
    open_service: OpenService,
    *,
    otherwise: Sequence[str] = PUBLIC_ADDRESSES[:1],
) -> SelfCheck:
    """Run every vector, one after the other, and compare the verdicts.

    It reads no settings, uses no name server and connects only to itself. It needs a selector loop:
    `asyncio.Runner(loop_factory=asyncio.SelectorEventLoop)` is one on every system.

    Args:
        vectors: the table.
        open_service: opens the client to prove.
        otherwise: addresses of names that a vector does not mention. They are public, so that a name that
            should have been refused by its spelling is not saved by its address.
    """
    wrong: list[WrongVector] = []
    texts: set[str] = set()
    async with RedirectSite() as site:
        names = StaticResolver(otherwise)
        for vector in vectors:
            came_to, error = await _try(vector, site, names, open_service)
            if came_to != vector.verdict:
                known = vector.model_dump(include={"id", "kind", "url", "why"})
                wrong.append(WrongVector(**known, expected=vector.verdict, came_to=came_to))
            if error is not None and error.code is ErrorCode.BLOCKED_ADDRESS:
                texts.add(f"{error.message} {error.advice}")
    return SelfCheck(
        passed=not wrong and len(texts) <= 1,
        vectors=len(vectors),
        kinds=_counts(vectors, wrong),
        wrong=tuple(wrong),
        error_texts=len(texts),
    )


class RedirectSite:
    """Redirects as configured, then answers with a page; on a free port of 127.0.0.1.

    It has no certificate: TLS connections are closed, which is enough for a check. No connection is kept, so
    that each request resolves its name again.

    Attributes:
        redirects: targets of the next answers.
        robots: redirect target of robots.txt; empty for none.
    """

    def __init__(self) -> None:
        self.redirects: list[str] = []
        self.robots = ""
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}

    @property
    def port(self) -> int:
        """Its port.

        Raises:
            RuntimeError: it is not open.
        """
        if self._server is None:
            raise RuntimeError("the site is not open")
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, LOOPBACK, 0)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        if self._server is not None:
            self._server.close()
        tasks = [*self._open.values()]
        for writer in self._open:
            writer.transport.abort()
        if tasks:
            await asyncio.wait(tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a connection is served by a task")
        self._open[writer] = task
        try:
            if (first := await reader.readexactly(1)).isalpha():
                head = first + await reader.readuntil(_END_OF_HEAD)
                writer.write(self._answer(head.split(b" ")[1].decode("latin-1")))
                await writer.drain()
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass  # the client left, as it does when it does not need a connection
        finally:
            del self._open[writer]
            writer.close()

    def _answer(self, target: str) -> bytes:
        if target == _ROBOTS:
            return _redirect(self.robots) if self.robots else _response("404 Not Found", "", b"")
        if self.redirects:
            return _redirect(self.redirects.pop(0))
        return _response("200 OK", "Content-Type: text/html; charset=utf-8\r\n", _PAGE)


def _redirect(location: str) -> bytes:
    # Beyond ASCII, a header contains UTF-8 bytes, which browsers accept.
    return _response("302 Found", f"Location: {location}\r\n", b"")


def _response(status: str, field: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\n{field}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


async def _try(
    vector: Vector, site: RedirectSite, names: StaticResolver, open_service: OpenService
) -> tuple[str, SearxMcpError | None]:
    """Run a vector with its own client; return a verdict or a sentence, and the error."""
    diversion = SocketRedirect(lambda _address, _port: site.port)
    site.redirects = list(vector.redirects)
    site.robots = vector.robots
    names.forget()
    names.know(vector.dns)
    settings = Settings.model_validate(_SETTINGS)
    error: SearxMcpError | None = None
    async with open_service(settings, Dialling(names, diversion.dial)) as service:
        try:
            await service.fetch(parse_fetch({"url": vector.url}))
        except SearxMcpError as exc:
            error = exc
    dialled = [address for address, _ in diversion.dialled]
    return _judged(vector, dialled, error), error


def _judged(vector: Vector, dialled: Sequence[str], error: SearxMcpError | None) -> str:
    for address in dialled:
        if address not in (vector.dials or PUBLIC_ADDRESSES):
            return f"a connection to {address}"
    if error is not None and error.code in _refusals(vector):
        if dialled and not _begins_well(vector):
            return f"{error.code} after a connection to {dialled[0]}"
        return AddressVerdict.REFUSED
    if error is not None and error.code not in _ARRIVALS:
        return f"the error {error.code}"
    return AddressVerdict.ALLOWED if dialled else "no connection at all"


def _begins_well(vector: Vector) -> bool:
    """Return whether the first connection of a refused vector is allowed."""
    changes = any(len(answers) > 1 for answers in vector.dns.values())
    return changes or bool(vector.redirects) or bool(vector.robots)


def _refusals(vector: Vector) -> frozenset[ErrorCode]:
    """Return the possible errors of a refused vector."""
    # What a site sends is the site's mistake, not that of an argument.
    from_site = {ErrorCode.MALFORMED_RESPONSE} if vector.redirects else set()
    # Without its robots.txt no page of a site is read.
    unruled = {ErrorCode.ROBOTS_DISALLOWED} if vector.robots else set()
    return _REFUSALS | from_site | unruled


def _counts(vectors: Sequence[Vector], wrong: Sequence[WrongVector]) -> tuple[KindCount, ...]:
    verdicts = Counter((vector.kind, vector.verdict) for vector in vectors)
    mistakes = Counter(each.kind for each in wrong)
    return tuple(
        KindCount(
            kind=kind,
            refused=verdicts[kind, AddressVerdict.REFUSED],
            allowed=verdicts[kind, AddressVerdict.ALLOWED],
            wrong=mistakes[kind],
        )
        for kind in dict.fromkeys(vector.kind for vector in vectors)
    )
