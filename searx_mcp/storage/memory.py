"""In-memory stores of state and pages."""

import asyncio
import math
import random
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from typing_extensions import override

from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceChoice
from searx_mcp.pool.record import InstanceRecord, replaces, settled
from searx_mcp.storage.packing import (
    Item,
    Packed,
    kept_page,
    kept_robots,
    pack_about,
    pack_robots,
    packed,
)
from searx_mcp.storage.pages import (
    Capture,
    KeptPage,
    KeptRobots,
    PageKey,
    PageStore,
    has_expired,
    is_from_future,
)
from searx_mcp.storage.state import (
    Account,
    Budget,
    Charge,
    QuotaMirror,
    Reservation,
    StateStore,
)

_SEED_BITS = 63
"""Bits of SQLite's largest integer, without the sign."""
MEMORY_BYTES = 16 << 20
"""Maximum bytes of captures in a process, whatever the limit of a file: some 700 pages."""
ROW = 256
"""Bytes counted for each entry in addition to its content: names and table entries."""
MOST_KEYS = 32
"""Maximum keys of a page. A site may return one page for any number of addresses."""
_SWEEP_EVERY = 60.0
"""Seconds between clean-ups. Until then, expired entries are not returned but still use memory."""


class MemoryStore(StateStore):
    """Everything in memory, in this process only.

    Charges are kept for as long as any window may need them, so the windows bound the memory.

    Args:
        rng: generates the installation's seed.
    """

    def __init__(self, rng: random.Random | None = None) -> None:
        self._rng = rng or random.Random()  # noqa: S311 - spreads load, no secret
        self._charges = QuotaMirror()
        self._ids = count()
        self._records: dict[str, InstanceRecord] = {}
        self._claims: dict[str, float] = {}
        self._seed: int | None = None
        self._choices: set[tuple[InstanceChoice, str]] = set()

    @override
    def __repr__(self) -> str:
        return f"<MemoryStore [{len(self._charges)} charges]>"

    @property
    @override
    def problem(self) -> str:
        return ""

    @override
    async def reserve(self, accounts: Sequence[Account], format: Format, now: float) -> Reservation:
        limited = [account for account in accounts if account.windows]
        return self._charges.reserve(limited, self._id(), format, now)

    @override
    async def budgets(self, accounts: Sequence[Account], now: float) -> tuple[Budget, ...]:
        return self._charges.budgets(accounts, now)

    @override
    async def load(self, now: float) -> Mapping[str, InstanceRecord]:
        self._records = {url: record.settled(now) for url, record in self._records.items()}
        return dict(self._records)

    @override
    async def save(self, records: Mapping[str, InstanceRecord], now: float) -> None:
        for url, record in records.items():
            kept = self._records.get(url)
            if kept is None or replaces(record.last_at, kept.last_at, now):
                self._records[url] = record.settled(now)

    @override
    async def claim(self, job: str, *, seconds: float, now: float) -> bool:
        claimed_at = self._claims.get(job)
        if claimed_at is None or settled(claimed_at, now) + seconds <= now:
            self._claims[job] = now
            return True
        self._claims[job] = settled(claimed_at, now)
        return False

    @override
    async def installation_seed(self) -> int:
        if self._seed is None:
            self._seed = self._rng.getrandbits(_SEED_BITS)
        return self._seed

    @override
    async def choose(self, kind: InstanceChoice, value: str, *, chosen: bool) -> bool:
        if ((kind, value) in self._choices) is chosen:
            return False
        self._choices ^= {(kind, value)}
        return True

    @override
    async def choices(self) -> Mapping[InstanceChoice, tuple[str, ...]]:
        chosen = sorted(self._choices)
        return {kind: tuple(value for of, value in chosen if of is kind) for kind in InstanceChoice}

    @override
    async def purge(self) -> None:
        self._charges.clear()
        self._records.clear()
        self._claims.clear()
        self._choices.clear()
        self._seed = None

    @override
    async def aclose(self) -> None:
        return

    def charge(
        self,
        accounts: Iterable[Account],
        format: Format,  # noqa: A002 - the field's word for JSON or HTML
        now: float,
    ) -> None:
        """Charge a request that was granted here or elsewhere."""
        self._charges.charge(accounts, self._id(), format, now)

    def restore(self, charges: Iterable[tuple[str, float, str]]) -> None:
        """Copy the charges of all accounts from another store."""
        self._charges.clear()
        by_account: dict[str, dict[str, Charge]] = {}
        for name, at, format_ in charges:
            by_account.setdefault(name, {})[self._id()] = (at, format_)
        for name, known in by_account.items():
            self._charges.learn(name, known, -math.inf)

    def keep_seed(self, seed: int) -> None:
        """Copy the installation's seed from another store."""
        self._seed = seed

    def keep_choices(self, choices: Mapping[InstanceChoice, Iterable[str]]) -> None:
        """Copy the user's choices from another store."""
        self._choices = {(kind, value) for kind, values in choices.items() for value in values}

    def _id(self) -> str:
        return str(next(self._ids))


@dataclass(slots=True)
class _Place:
    """Metadata of a capture."""

    about: bytes
    fetched_at: float
    fresh_until: float

    @property
    def size(self) -> int:
        return len(self.about) + ROW

    def settle(self, now: float) -> None:
        if is_from_future(self.fetched_at, now):
            self.fetched_at = self.fresh_until = now


@dataclass(slots=True)
class _Item:
    """A page or a robots.txt.

    Attributes:
        last: data of its last capture.
        keys: under which it was captured, the latest last.
    """

    body: bytes
    last: _Place
    keys: dict[PageKey, _Place] = field(default_factory=dict)

    @property
    def size(self) -> int:
        places = sum(place.size for place in self.keys.values())
        return len(self.body) + self.last.size + places

    def as_kept(self, name: str, place: _Place) -> Item:
        return Item(name, place.fetched_at, place.fresh_until, place.about, self.body)


class MemoryPageStore(PageStore):
    """Captures in memory, compressed, in this process only.

    The least recently used ones are evicted.

    Args:
        max_bytes: maximum compressed bytes, with overhead for each entry.
        max_age: seconds after which a capture is deleted.

    Attributes:
        size: bytes that count against the limit.
    """

    def __init__(self, *, max_bytes: int, max_age: float) -> None:
        self._max_bytes = max_bytes
        self._max_age = max_age
        self._items: OrderedDict[str, _Item] = OrderedDict()  # least recently used first
        self._names: dict[PageKey, str] = {}
        self.size = 0
        self._swept_at = -math.inf

    @override
    def __repr__(self) -> str:
        return f"<MemoryPageStore [{len(self._items)} entries, {self.size} bytes]>"

    @override
    async def find(self, key: PageKey, now: float) -> KeptPage | None:
        name = self._names.get(key)
        if name is None:
            return None
        item = self._items[name]
        return await self._kept(key.namespace, name, item, item.keys[key], now)

    @override
    async def read(self, namespace: str, cursor: str, now: float) -> KeptPage | None:
        item = self._items.get(cursor)
        if item is None:
            return None
        return await self._kept(namespace, cursor, item, item.last, now)

    @override
    async def keep(self, key: PageKey, capture: Capture, now: float) -> str:
        found = await packed(key.namespace, capture.page)
        self.put(key, found, capture, now)
        return found.cursor

    @override
    async def robots(self, origin: str, now: float) -> KeptRobots | None:
        name = _robots_name(origin)
        known = self._items.get(name)
        item = known.as_kept(name, known.last) if known else None
        return kept_robots(item, now, max_age=self._max_age)

    @override
    async def keep_robots(self, origin: str, robots: KeptRobots, now: float) -> None:
        body = await asyncio.to_thread(pack_robots, robots)
        place = _Place(b"", robots.fetched_at, robots.fetched_at)
        self._sweep(now)
        self._add(_robots_name(origin), _Item(body, place))

    @override
    async def purge(self) -> None:
        self._items.clear()
        self._names.clear()
        self.size = 0

    @override
    async def aclose(self) -> None:
        return

    def put(self, key: PageKey, packed: Packed, capture: Capture, now: float) -> None:
        """Store a capture whose page is packed already."""
        self._sweep(now)
        self.forget(key)
        place = _Place(pack_about(capture), capture.fetched_at, capture.fresh_until)
        known = self._items.get(packed.cursor)
        item = _Item(packed.body, place, {**(known.keys if known else {}), key: place})
        self._names[key] = packed.cursor
        while len(item.keys) > MOST_KEYS or (item.size > self._max_bytes and len(item.keys) > 1):
            oldest = next(iter(item.keys))
            del item.keys[oldest], self._names[oldest]
        self._add(packed.cursor, item)

    def forget(self, key: PageKey) -> None:
        """Delete the last capture under `key`; its page stays."""
        name = self._names.pop(key, None)
        if name is not None:
            self.size -= self._items[name].keys.pop(key).size

    async def _kept(
        self, namespace: str, cursor: str, item: _Item, place: _Place, now: float
    ) -> KeptPage | None:
        kept = await kept_page(namespace, item.as_kept(cursor, place), now, max_age=self._max_age)
        if kept is not None and cursor in self._items:  # it may have been evicted meanwhile
            self._items.move_to_end(cursor)
        return kept

    def _add(self, name: str, item: _Item) -> None:
        """Add an item, or replace the one of its name; evict others if necessary."""
        self._remove(name, forget_keys=False)
        if item.size > self._max_bytes:
            for key in item.keys:
                del self._names[key]
            return
        self._items[name] = item
        self.size += item.size
        while self.size > self._max_bytes:
            self._remove(next(iter(self._items)))

    def _remove(self, name: str, *, forget_keys: bool = True) -> None:
        item = self._items.pop(name, None)
        if item is None:
            return
        self.size -= item.size
        if forget_keys:
            for key in item.keys:
                del self._names[key]

    def _sweep(self, now: float) -> None:
        """Delete expired entries; entries from the future count as fetched now."""
        if 0 <= now - self._swept_at < _SWEEP_EVERY:
            return
        self._swept_at = now
        for name, item in [*self._items.items()]:
            for place in (item.last, *item.keys.values()):
                place.settle(now)
            if has_expired(item.last.fetched_at, now, self._max_age):
                self._remove(name)


def _robots_name(origin: str) -> str:
    # No cursor has a space in it.
    return f"robots {origin}"
