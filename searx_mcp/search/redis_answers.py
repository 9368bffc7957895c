"""Shares answers between processes on a Redis or Valkey server."""

import logging

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError
from typing_extensions import override

from searx_mcp.errors import StorageError
from searx_mcp.search.cache import CacheKey, SharedAnswer, SharedAnswers
from searx_mcp.storage.redis import RedisKeys, RedisLease, RedisLink, Sealing

PATIENCE = 0.15
"""Seconds that the server may delay an answer."""
LONGEST = 900.0
"""Seconds. Nothing about a search stays longer on the server."""
MAX_SIZE = 524_288
"""Bytes of an answer; larger ones are not shared. An answer of 50 hits has about 25,000."""


class RedisAnswers(SharedAnswers):
    """Answers under keyed hashes of their queries, for a quarter of an hour at most.

    Without the secret it is impossible to find out which query an answer belongs to, even by trying queries,
    or to replace our answer. Anyone with access to the server can read the results.

    A server that is down or slow costs `patience` from time to time, and nothing else.

    Args:
        url: `redis://`, `rediss://` or `unix://`.
        prefix: of the names of all keys.
        secret: the same for all processes that share answers; it is never sent to the server.
        scope: what else must be equal for sharing: which instances may be asked.
        patience: seconds one call may wait.

    Raises:
        ValueError: the address is invalid; the message may show parts of it.
    """

    def __init__(
        self, url: str, *, prefix: str, secret: bytes, scope: str, patience: float = PATIENCE
    ) -> None:
        # The state store on the same server warns if it is down; once is enough.
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
            # One byte more than we ever write: values of others may be huge.
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
        """Return the value of an answer, or `None` if it cannot be shared."""
        try:
            text = self._adapter.dump_json(answer, exclude_defaults=True)
        except PydanticSerializationError:
            return None  # a lone surrogate, which cannot be encoded
        value = self._sealing.seal(name, text)
        return value if len(value) <= MAX_SIZE else None

    def _unsealed(self, name: str, value: bytes) -> SharedAnswer | None:
        """Return the answer in a value, or `None` if it is not one of ours."""
        text = self._sealing.open(name, value)
        if text is None:
            return None
        try:
            return self._adapter.validate_json(text)
        except ValidationError:
            return None  # of another version
