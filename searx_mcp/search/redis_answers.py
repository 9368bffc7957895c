"""Answers on a Redis or Valkey server, so that what one process found serves the others."""

import logging

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError
from typing_extensions import override

from searx_mcp.errors import StorageError
from searx_mcp.search.cache import CacheKey, SharedAnswer, SharedAnswers
from searx_mcp.storage.redis import RedisKeys, RedisLink
from searx_mcp.storage.redis_lease import RedisLease
from searx_mcp.storage.sealing import Sealing

PATIENCE = 0.15
"""Seconds an answer may be late because of the server."""
LONGEST = 900.0
"""Seconds. Nothing that tells of a search stays longer on the server."""
MAX_SIZE = 524_288
"""Bytes of an answer; larger ones are not shared. An answer of 50 hits has about 25,000."""


class RedisAnswers(SharedAnswers):
    """Answers under keyed hashes of their queries, for a quarter of an hour at most.

    Without the secret it is impossible to tell which query an answer belongs to, even by trying
    queries, or to replace our answer. What was found is readable by anyone who may read the
    server.

    A server that is away or slow costs `patience` once in a while, and nothing else.

    Args:
        url: `redis://`, `rediss://` or `unix://`.
        prefix: in front of the names of all keys.
        secret: the same for all processes that are to share answers; it never goes to the server.
        scope: what else must be the same for that: which instances may be asked.
        patience: seconds one call may wait.

    Raises:
        ValueError: the address cannot be used; the message may show parts of it.
    """

    def __init__(
        self, url: str, *, prefix: str, secret: bytes, scope: str, patience: float = PATIENCE
    ) -> None:
        # The store on the same server warns when it is away; once is enough.
        self._link = RedisLink(url, patience=patience, level=logging.DEBUG)
        self._keys = RedisKeys(prefix)
        self._sealing = Sealing(secret)
        self._scope = scope
        self._adapter = TypeAdapter(SharedAnswer)

    @override
    def __repr__(self) -> str:
        return f"<RedisAnswers {self._link.place}>"

    @override
    async def get(self, key: CacheKey) -> SharedAnswer | None:
        name = self._name(key)
        try:
            # One byte more than we ever write: what others put there may be huge.
            (value,) = await self._link.run(
                lambda session: session.ask(("GETRANGE", name, 0, MAX_SIZE))
            )
        except StorageError:
            return None
        return self._unsealed(name, value)

    @override
    async def put(self, key: CacheKey, answer: SharedAnswer, *, seconds: float) -> None:
        name, milliseconds = self._name(key), int(min(seconds, LONGEST) * 1_000)
        value = self._sealed(name, answer)
        if value is None or milliseconds <= 0:
            return
        command = ("SET", name, value, "PX", milliseconds)
        try:
            await self._link.run(lambda session: session.ask(command))
        except StorageError:
            return

    @override
    def lease(self, key: CacheKey, *, wanted: int) -> RedisLease:
        return RedisLease(self._link, self._keys.lease(self._digest(key, wanted)))

    @override
    async def aclose(self) -> None:
        await self._link.aclose()

    def _name(self, key: CacheKey) -> str:
        return self._keys.answer(self._digest(key))

    def _digest(self, key: CacheKey, *more: int) -> str:
        query, source = key
        return self._sealing.name(
            self._scope,
            query.text,
            query.category,
            query.language,
            query.safe_search,
            query.time_range,
            query.engines,
            source,
            query.page,
            *more,
        )

    def _sealed(self, name: str, answer: SharedAnswer) -> bytes | None:
        """The value of an answer, or `None` if it cannot be shared."""
        try:
            text = self._adapter.dump_json(answer, exclude_defaults=True)
        except PydanticSerializationError:
            return None  # half a character, which no encoding has
        value = self._sealing.seal(name, text)
        return value if len(value) <= MAX_SIZE else None

    def _unsealed(self, name: str, value: bytes) -> SharedAnswer | None:
        """The answer in a value, or `None` if it is not one of ours."""
        text = self._sealing.open(name, value)
        if text is None:
            return None
        try:
            return self._adapter.validate_json(text)
        except ValidationError:
            return None  # of another version
