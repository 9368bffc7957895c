"""One connection to a Redis or Valkey server, the sealing of values stored there, and leases on work.

The only module that uses the library, which is an optional extra of the package; so this module is imported late.
"""

import asyncio
import hmac
import json
import logging
import os
import re
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import blake2b, sha1
from typing import Any, Final, TypeVar

from redis.asyncio.connection import AbstractConnection, Connection, parse_url
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from typing_extensions import override

from searx_mcp.errors import StorageBusyError, StorageError, StorageUnavailableError
from searx_mcp.models.instance import InstanceChoice
from searx_mcp.tasks import LEASE, Lease

T = TypeVar("T")
Command = Sequence[str | bytes | int]
"""The name of a command and its arguments; fractional numbers are passed as text."""

RETRY_INTERVAL = 5.0
"""Seconds between two tries to reach a server that is down."""

_LONGEST_REASON = 160
_SCAN = 1_000
_EXPLAINED = (
    (
        (TimeoutError, RedisTimeoutError),
        "did not answer within {patience:g} s",
        "Check that it runs and that its network is fast.",
    ),
    ((BusyLoadingError,), "is still loading its data", "Wait until it is up."),
    (
        (AuthenticationError, AuthorizationError, NoPermissionError),
        "refuses access",
        "Check user name, password and permissions in redis.url.",
    ),
    ((ReadOnlyError,), "is a read-only replica", "Set the primary server in redis.url."),
    ((OutOfMemoryError,), "is out of memory", "Raise its maxmemory."),
)
"""Messages for errors; the first match is used."""

_log = logging.getLogger("searx_mcp.storage")


@dataclass(frozen=True)
class Script:
    """A Lua script; the server runs it atomically, and caches it by its hash."""

    text: str

    @cached_property
    def sha(self) -> str:
        """The hash under which the server caches it."""
        return sha1(self.text.encode(), usedforsecurity=False).hexdigest()


class RedisSession:
    """Commands of one unit of work, all over the same connection."""

    def __init__(self, connection: AbstractConnection) -> None:
        self._connection = connection

    async def ask(self, *commands: Command) -> list[Any]:
        """Send the commands in one go and return their replies: texts are `bytes`.

        Raises:
            RedisError: the connection broke, or a reply is an error.
        """
        if not self._connection.is_connected:
            # The library would reconnect, and the server may have lost everything in between.
            raise RedisConnectionError("the connection was lost")
        packed = self._connection.pack_commands(commands)
        await self._connection.send_packed_command(packed, check_health=False)
        replies, errors = [], []
        for _ in commands:
            try:
                replies.append(await self._connection.read_response())
            except ResponseError as exc:
                errors.append(exc)
        if errors:
            raise errors[0]
        return replies

    async def evaluate(
        self, script: Script, keys: Sequence[str], arguments: Sequence[str | bytes | int]
    ) -> Any:  # noqa: ANN401 - whatever the script returns
        """Run a script and return its reply.

        Raises:
            RedisError: the connection broke, or the script failed.
        """
        rest = (len(keys), *keys, *arguments)
        try:
            (reply,) = await self.ask(("EVALSHA", script.sha, *rest))
        except NoScriptError:
            (reply,) = await self.ask(("EVAL", script.text, *rest))
        return reply


Greeting = Callable[[RedisSession], Awaitable[None]]


class RedisLink:
    """A server, accessed through one connection that is opened by the first call and reopened when it breaks.

    Calls follow one another. Each is a function of a `RedisSession`. It is restarted over a new connection if
    an older one is broken, so it must be idempotent. A call waits no longer than `patience` for its turn, and
    no longer for the server. While the server is down, calls fail at once, except for one in five seconds
    that tries again.

    Args:
        url: `redis://`, `rediss://` (TLS) or `unix://`, with the library's parameters.
        patience: seconds the server may take for one call, connecting included.
        greet: runs on every new connection before anything else.
        level: log level of the message that the server is down.

    Raises:
        ValueError: the address is invalid; the message may show parts of it.
    """

    def __init__(
        self,
        url: str,
        *,
        patience: float,
        greet: Greeting | None = None,
        level: int = logging.WARNING,
    ) -> None:
        self.patience = patience
        self.retry_interval = RETRY_INTERVAL
        self._greet = greet
        self._level = level
        options: dict[str, Any] = {**parse_url(url)}
        kind = options.pop("connection_class", Connection)
        # The address may not set how replies are decoded, or timeouts.
        options |= {"protocol": 2, "socket_timeout": None, "socket_connect_timeout": None}
        try:
            self._connection: AbstractConnection = kind(**options | {"decode_responses": False})
        except (TypeError, RedisError) as exc:
            raise ValueError("an option of the address is unknown") from exc
        path = options.get("path")
        self.place: str = path or f"{options.get('host', 'localhost')}:{options.get('port', 6379)}"
        self.error: StorageUnavailableError | None = None
        self._session: RedisSession | None = None
        self._retry_at = 0.0
        self._lock = asyncio.Lock()

    @override
    def __repr__(self) -> str:
        state = "away" if self.error else "connected" if self._session else "closed"
        return f"<RedisLink {self.place} [{state}]>"

    async def run(self, work: Callable[[RedisSession], Awaitable[T]]) -> T:
        """Run `work` over the connection.

        Raises:
            StorageUnavailableError: the server is down; `error` holds the same until it is up again.
            StorageBusyError: too many calls were waiting.
        """
        await self._take_turn()
        try:
            if self.error is not None and asyncio.get_running_loop().time() < self._retry_at:
                raise self.error
            async with asyncio.timeout(self.patience):
                answer = await self._run(work)
        except (RedisError, OSError) as exc:  # a timeout is an OSError
            raise self._note(exc) from exc
        finally:
            self._lock.release()
        if self.error is not None:
            self.error = None
            _log.log(min(self._level, logging.INFO), "storage.redis_back server=%s", self.place)
        return answer

    async def unlink_all(self, root: str) -> None:
        """Delete every key whose name begins with `root`.

        Raises:
            StorageUnavailableError: the server is down, or went down in the middle.
        """
        cursor = b"0"
        while True:
            cursor = await self.run(partial(_unlink_some, root=root, cursor=cursor))
            if cursor == b"0":
                return

    async def aclose(self) -> None:
        """Close the connection within `patience`; the next call opens another."""
        try:
            async with asyncio.timeout(self.patience), self._lock:
                self._session = None
                await self._connection.disconnect()
        except (RedisError, OSError):
            await self._drop()

    async def _take_turn(self) -> None:
        try:
            async with asyncio.timeout(self.patience):
                await self._lock.acquire()
        except TimeoutError as exc:
            # Not the server's fault: there may be many or large calls before this one.
            raise StorageBusyError(
                f"Redis at {self.place} still has too many calls from this process to answer",
                advice="Try again.",
            ) from exc

    async def _run(self, work: Callable[[RedisSession], Awaitable[T]]) -> T:
        if self._session is not None:
            try:
                return await self._attempt(work)
            except (RedisConnectionError, ReadOnlyError, OSError):
                # An idle connection may have been closed, by the server or by its restart.
                _log.debug("storage.redis_reconnecting server=%s", self.place)
        return await self._attempt(work)

    async def _attempt(self, work: Callable[[RedisSession], Awaitable[T]]) -> T:
        try:
            session = self._session or await self._open()
            return await work(session)
        except BaseException:
            # An unread reply would be taken for the answer to the next command.
            await self._drop()
            raise

    async def _open(self) -> RedisSession:
        await self._connection.connect()  # type: ignore[no-untyped-call] # - the library gives no types here
        session = RedisSession(self._connection)
        if self._greet is not None:
            await self._greet(session)
        self._session = session
        return session

    async def _drop(self) -> None:
        self._session = None
        await self._connection.disconnect(nowait=True)

    def _note(self, exc: Exception) -> StorageUnavailableError:
        is_news = self.error is None
        self.error = _unavailable(exc, self.place, self.patience)
        self._retry_at = asyncio.get_running_loop().time() + self.retry_interval
        if is_news:
            _log.log(
                self._level,
                "storage.redis_away server=%s reason=%s",
                self.place,
                self.error.message,
            )
        return self.error


async def _unlink_some(session: RedisSession, *, root: str, cursor: bytes) -> bytes:
    pattern = re.sub(r"[*?\[\]\\^]", r"\\\g<0>", root) + "*"
    ((following, keys),) = await session.ask(("SCAN", cursor, "MATCH", pattern, "COUNT", _SCAN))
    if keys:
        await session.ask(("UNLINK", *keys))
    return bytes(following)


def _unavailable(exc: Exception, place: str, patience: float) -> StorageUnavailableError:
    """Return the error for a person: what is wrong with the server, and what to do."""
    for kinds, message, advice in _EXPLAINED:
        if isinstance(exc, kinds):
            return StorageUnavailableError(
                f"Redis at {place} {message.format(patience=patience)}", advice=advice
            )
    if isinstance(exc, ResponseError):
        # Its text may contain what was sent.
        return StorageUnavailableError(
            f"Redis at {place} answered with an error", advice="Check its log."
        )
    return StorageUnavailableError(
        f"Redis at {place} cannot be reached ({_reason(exc)})",
        advice="Start it, or check redis.url.",
    )


def _reason(exc: Exception) -> str:
    cause = exc.__context__
    if isinstance(cause, ConnectionError | FileNotFoundError | PermissionError) and cause.errno:
        return os.strerror(cause.errno)
    text = getattr(cause, "strerror", None) or str(exc)
    return " ".join(text.split())[:_LONGEST_REASON]


class RedisKeys:
    """The names of our keys on a server, including the major version, as in a file's name.

    Args:
        prefix: of all of them.
    """

    def __init__(self, prefix: str) -> None:
        self.root = f"{prefix}v1:"
        self.records = f"{self.root}records"
        self.seed = f"{self.root}seed"
        self.pages = f"{self.root}pages:"

    def charges(self, account: str) -> str:
        """Return the key of an account's charges."""
        return f"{self.root}charges:{account}"

    def claim(self, job: str) -> str:
        """Return the key of the time a job was claimed."""
        return f"{self.root}claim:{job}"

    def chosen(self, kind: InstanceChoice) -> str:
        """Return the key of the user's choices of a kind."""
        return f"{self.root}chosen:{kind}"

    def answer(self, digest: str) -> str:
        """Return the key of the answer to a query, by its digest."""
        return f"{self.root}answer:{digest}"

    def quota(self, name: str, seconds: float) -> str:
        """Return the key of the calls of a name in a window."""
        return f"{self.root}quota:{name}:{seconds:g}"

    def lease(self, digest: str) -> str:
        """Return the key of the lease on a job, by its digest."""
        return f"{self.root}lease:{digest}"


_KEY: Final = 32
_NAME: Final = 16
_SEAL: Final = 16


class Sealing:
    """Names that reveal nothing, and values that only we can make.

    Without the secret it is impossible to find out what a name stands for, even by guessing. A value is
    sealed for its name: if it was changed, or moved to another name, it does not open. It is not encrypted.
    Anyone with write access to the server can still delete it, or restore an older one of the same name.

    Args:
        secret: the same for all processes that share values; it is never sent to the server.
    """

    def __init__(self, secret: bytes) -> None:
        self._key = blake2b(secret, digest_size=_KEY, person=b"searx-mcp").digest()

    def name(self, *parts: object) -> str:
        """Return a keyed hash of anything that JSON can hold, as 32 hexadecimal digits."""
        text = json.dumps(parts).encode()
        return blake2b(text, digest_size=_NAME, key=self._key).hexdigest()

    def seal(self, name: str, text: bytes) -> bytes:
        """Return the value to store under `name`."""
        return self._mark(name, text) + text

    def open(self, name: str, value: bytes) -> bytes | None:
        """Return the text in a value found under `name`, or `None` if it was not sealed for that name."""
        mark, text = value[:_SEAL], value[_SEAL:]
        return text if hmac.compare_digest(mark, self._mark(name, text)) else None

    def _mark(self, name: str, text: bytes) -> bytes:
        digest = blake2b(f"{len(name)}:{name}".encode(), digest_size=_SEAL, key=self._key)
        digest.update(text)
        return digest.digest()


_LEASE_MS: Final = round(LEASE * 1_000)
"""Milliseconds."""

_TAKE = Script(r"""
-- KEYS: the lease; its value is its holder. ARGV: the applicant, milliseconds. Returns the holder.
local holder = redis.call('GET', KEYS[1])
if holder then
  return string.sub(holder, 1, 64)
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
""")

_EXTEND = Script(r"""
-- KEYS: the lease; ARGV: the holder, milliseconds from now, or 0 to end it. Returns 0 for another holder.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
""")


class RedisLease(Lease):
    """A key that exists while a process is working.

    Args:
        link: to the server.
        name: of the key; it must not reveal the work.
    """

    def __init__(self, link: RedisLink, name: str) -> None:
        self._link = link
        self._name = name
        self.id = secrets.token_hex(8)

    @override
    def __repr__(self) -> str:
        return f"<RedisLease {self._name}>"

    @override
    async def take(self) -> str:
        holder = await self._evaluate(_TAKE, self.id, _LEASE_MS)
        return holder.decode(errors="replace") if isinstance(holder, bytes) else ""

    @override
    async def renew(self) -> bool:
        reply = await self._evaluate(_EXTEND, self.id, _LEASE_MS)
        is_lost: bool = reply == 0  # not while the server is down: it may be up again in time
        return not is_lost

    @override
    async def leave(self) -> None:
        await self._evaluate(_EXTEND, self.id, 0)

    async def _evaluate(self, script: Script, *arguments: str | int) -> Any:  # noqa: ANN401 - whatever the script returns
        """Return the reply of a script, or `None` while the server is down."""
        try:
            return await self._link.run(
                lambda session: session.evaluate(script, [self._name], arguments)
            )
        except StorageError:
            return None
