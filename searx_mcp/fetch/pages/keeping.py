"""What is kept of captures, for how long, and for what they are good."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from searx_mcp.errors import CursorError, ErrorCode
from searx_mcp.fetch.config import FetchConfig
from searx_mcp.fetch.pages.freshness import Lifetime, lifetime, validators_of
from searx_mcp.models.document import Document
from searx_mcp.storage.memory import MemoryPageStore
from searx_mcp.storage.pages import Capture, KeptPage, PageKey, PageStore, Validators

_PASSING_BYTES: Final = 16 << 20
_PASSING_AGE: Final = 600.0
"""Bytes and seconds for which pages that must not be stored can be read on, in memory alone."""


class PageKeeper:
    """The captures of one namespace.

    A site's `no-store` keeps a page out of the store: it can be read on with its cursor for some
    minutes, and only in this process. Nothing here raises what a store may have to say.
    """

    def __init__(
        self,
        store: PageStore,
        *,
        namespace: str,
        config: FetchConfig,
        clock: Callable[[], float],
    ) -> None:
        """Take the parts.

        Args:
            store: keeps captures; the caller closes it.
            namespace: whose captures these are.
            config: how long they serve.
            clock: Unix seconds.
        """
        self._store = store
        self._passing = MemoryPageStore(max_bytes=_PASSING_BYTES, max_age=_PASSING_AGE)
        self._namespace = namespace
        self._config = config
        self._clock = clock

    def now(self) -> float:
        """Unix seconds."""
        return self._clock()

    def key(self, url: str, *, variant: str) -> PageKey:
        """The key of an address in this namespace."""
        return PageKey(self._namespace, url, variant)

    async def read(self, cursor: str) -> KeptPage:
        """The capture that a cursor names.

        Raises:
            CursorError: there is none, or not any longer.
        """
        now = self._clock()
        kept = await self._store.read(self._namespace, cursor, now)
        kept = kept or await self._passing.read(self._namespace, cursor, now)
        if kept is None:
            raise CursorError(
                "The cursor is not known, or what it names is no longer kept.",
                code=ErrorCode.CURSOR_EXPIRED,
                advice="Call web_fetch with the url of the page instead.",
            )
        return kept

    async def find(self, key: PageKey) -> KeptPage | None:
        """The last capture of an address, however old."""
        return await self._store.find(key, self._clock())

    def is_fresh(self, kept: KeptPage) -> bool:
        """Whether it serves without asking the site."""
        return self._clock() < kept.capture.fresh_until

    def is_spare(self, kept: KeptPage) -> bool:
        """Whether it serves when the site fails (RFC 5861, section 4)."""
        return kept.capture.may_be_stale and self.age(kept) <= self._config.stale_if_error

    def age(self, kept: KeptPage) -> float:
        """Seconds since it was fetched or found unchanged."""
        return max(0.0, self._clock() - kept.capture.fetched_at)

    async def keep(
        self,
        key: PageKey,
        document: Document,
        *,
        url: str,
        status: int,
        headers: Mapping[str, str],
        max_bytes: int,
        is_settled: bool,
    ) -> KeptPage:
        """Keep a new capture.

        Args:
            key: where it is found again.
            document: the page.
            url: as it was asked for.
            status: of the answer.
            headers: of the answer.
            max_bytes: decoded bytes that were allowed.
            is_settled: whether asking again would bring the same; one that was cut by chance can be
                read on, and does not serve another call.
        """
        now = self._clock()
        life = self._lifetime(status, headers, now)
        capture = Capture(
            document=document,
            url=url,
            fetched_at=now,
            fresh_until=life.fresh_until if is_settled else now,
            max_bytes=max_bytes,
            validators=validators_of(headers) if is_settled else Validators(),
            may_be_stale=life.may_be_stale,
        )
        if life.may_store:
            return KeptPage(capture, await self._store.keep(key, capture, now))
        await self._retire(key, now)
        return KeptPage(capture, await self._passing.keep(key, capture, now))

    async def renew(
        self, key: PageKey, kept: KeptPage, *, status: int, headers: Mapping[str, str]
    ) -> KeptPage:
        """Keep a capture for longer, that its site says still is the page."""
        now = self._clock()
        life = self._lifetime(status, headers, now)
        newer = validators_of(headers)
        capture = replace(
            kept.capture,
            fetched_at=now,
            fresh_until=life.fresh_until,
            may_be_stale=kept.capture.may_be_stale and life.may_be_stale,
            validators=newer if newer != Validators() else kept.capture.validators,
        )
        return KeptPage(capture, await self._store.keep(key, capture, now))

    async def _retire(self, key: PageKey, now: float) -> None:
        """Let the last capture of an address serve nobody but those who have its cursor."""
        kept = await self._store.find(key, now)
        if kept is not None:
            old = replace(kept.capture, fresh_until=0.0, may_be_stale=False)
            await self._store.keep(key, old, now)

    def _lifetime(self, status: int, headers: Mapping[str, str], now: float) -> Lifetime:
        return lifetime(
            status,
            headers,
            now,
            default_ttl=self._config.cache_ttl,
            max_age=self._config.cache_max_age,
        )
