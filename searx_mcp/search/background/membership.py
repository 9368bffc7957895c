"""Keeps the pool in line with settings, the user's choices, the list, and other processes."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import searx_mcp
from searx_mcp.errors import SettingsError
from searx_mcp.files import read_text
from searx_mcp.models.credentials import base_url
from searx_mcp.models.instance import Catalog, CatalogEntry, InstanceChoice, PoolReport
from searx_mcp.pool.catalog import catalog_age_days, parse_catalog
from searx_mcp.pool.circuit import Members
from searx_mcp.pool.config import InstancesConfig, PublicInstances
from searx_mcp.pool.pool import InstancePool, SourcePool
from searx_mcp.pool.record import InstanceRecord
from searx_mcp.pool.searxspace import MAX_TEXT
from searx_mcp.storage.state import StateStore

PULL_INTERVAL: Final = 15.0
"""Seconds between two readings of what other processes learned and the user chose."""

Choices = Mapping[InstanceChoice, Sequence[str]]
"""What the user chose by command, by kind."""


class PoolMembership:
    """Keeps the pool, and the allowed own instances, in line with settings and choices.

    Args:
        pool: receives the instances.
        instances: the `[instances]` table.
        catalog: the initial list of public instances; `None` if they are never asked.
        choices: the user's choices so far.
        admit: returns the instances of a list that may be asked, without blocked ones.
        admit_own: called with the base URLs of all own instances whenever they change.

    Attributes:
        own: base URLs of the own instances: those of the settings, then added ones.
        blocked: hosts that are never asked as public instances.
    """

    def __init__(
        self,
        pool: InstancePool,
        *,
        instances: InstancesConfig,
        catalog: Catalog | None,
        choices: Choices,
        admit: Callable[[Catalog, Collection[str]], Iterable[CatalogEntry]],
        admit_own: Callable[[Collection[str]], None],
    ) -> None:
        self._pool = pool
        self._settings = instances
        self._catalog = catalog
        self._admit = admit
        self._admit_own = admit_own
        self.own: tuple[str, ...] = ()
        self.blocked: frozenset[str] = frozenset()
        self.choose(choices)

    @property
    def catalog(self) -> Catalog | None:
        """The list in use, or `None` while public instances are not asked."""
        return self._catalog if self.asks_public else None

    @property
    def asks_public(self) -> bool:
        """Whether public instances may be asked; this depends on own instances from either source."""
        return _asks_public(self._settings, self.own)

    def choose(self, choices: Choices) -> None:
        """Apply the user's choices."""
        added = filter(_is_base_url, choices.get(InstanceChoice.OWN, ()))
        own = tuple(dict.fromkeys([*self._settings.own, *added]))
        blocked = frozenset([*self._settings.blocked, *choices.get(InstanceChoice.BLOCKED, ())])
        if (own, blocked) == (self.own, self.blocked) and len(self._pool):
            return
        self.own, self.blocked = own, blocked
        self._admit_own(own)
        self._enlist()

    def relist(self, catalog: Catalog) -> None:
        """Use a new list of public instances."""
        self._catalog = catalog
        self._enlist()

    def _enlist(self) -> None:
        catalog = self.catalog
        public = self._admit(catalog, self.blocked) if catalog is not None else ()
        self._pool.enlist(self.own, public)


def _is_base_url(text: str) -> bool:
    # A store may contain entries of an older or newer version, or edited by hand.
    try:
        return base_url(text) == text
    except ValueError:
        return False


OLD_CATALOG_DAYS: Final = 90
"""Every month five instances appear and five disappear: after three months a list needs a warning."""

_NAME: Final = "instances.json"
_FIELD: Final = "instances.catalog"
_PACKAGE: Final = Path(searx_mcp.__file__).parent


def read_bundled(package: Path = _PACKAGE) -> str:
    """Read the bundled list of instances.

    A wheel contains the file inside the package. In an editable install, the package lies beside the file, in
    the root of the repository.

    Args:
        package: the directory of the installed package.

    Raises:
        SettingsError: the file is in neither place.
    """
    for folder in (package, package.parent):
        file = folder / _NAME
        if file.is_file():
            return file.read_text(encoding="utf-8")
    raise SettingsError(
        _FIELD,
        f"the bundled {_NAME} is missing from this installation",
        advice="Reinstall searx-mcp, or set a file of your own.",
    )


def read_catalog(path: str) -> str:
    """Read the operator's list of instances; `~` is the home directory.

    Raises:
        SettingsError: the file is missing, unreadable, too long, or not UTF-8.
    """
    try:
        return read_text(Path(path).expanduser(), MAX_TEXT)
    except OSError as exc:
        reason = exc.strerror or type(exc).__name__
    except RuntimeError:
        reason = "it is not a usable path"
    raise SettingsError(
        _FIELD,
        f"cannot read {path!r}: {reason}",
        advice="Correct the path, or remove the setting to use the bundled list.",
    )


def catalog_report(catalog: Catalog | None, now: float) -> PoolReport:
    """Report the source and age of the public instances, without the instances."""
    if catalog is None:
        return PoolReport(instances=())
    age = catalog_age_days(catalog, now)
    notes: tuple[str, ...] = ()
    if age > OLD_CATALOG_DAYS:
        old = f"The list of public instances is {age} days old, so some may be gone."
        notes = (f"{old} Running servers update it, as does `searx-mcp instances refresh`.",)
    return PoolReport(
        instances=(), catalog_source=catalog.source, catalog_age_days=age, notes=notes
    )


def first_catalog(
    instances: InstancesConfig, given: Catalog | None, last_good: Catalog | None
) -> Catalog | None:
    """Return the initial list of public instances, or `None` if they are not to be asked.

    Args:
        instances: the `[instances]` table.
        given: the list to use instead of the configured or bundled one.
        last_good: the one fetched last; it is used if it is newer.

    Raises:
        SettingsError: the configured list cannot be used.
    """
    if not _asks_public(instances, instances.own):
        return None
    listed = given
    if listed is None:
        path = instances.catalog
        listed = parse_catalog(read_catalog(path) if path else read_bundled())
    if last_good is None or last_good.listed_at < listed.listed_at:
        return listed
    return last_good


def fetches_list(instances: InstancesConfig) -> bool:
    """Return whether a newer list of public instances would be used."""
    is_of_use = bool(instances.source) and not instances.catalog
    return is_of_use and _asks_public(instances, instances.own)


def _asks_public(instances: InstancesConfig, own: Sequence[str]) -> bool:
    if instances.public is PublicInstances.AUTO:
        return not own
    return instances.public is PublicInstances.ON


class StateSync:
    """Synchronises records between the pool and the store.

    Before a search, at most every fifteen seconds, it loads what other processes learned and what the user
    chose; after a search, it saves what the search learned. Neither ever fails a search: a store that cannot
    save continues in memory and reports it.

    Args:
        pool: the instances.
        state: the store.
        clock: Unix seconds.
        membership: receives the user's choices; without it, choices change nothing.
        sources: open sources, which are synchronised as well.
    """

    def __init__(
        self,
        pool: InstancePool,
        state: StateStore,
        clock: Callable[[], float],
        membership: PoolMembership | None = None,
        sources: SourcePool | None = None,
    ) -> None:
        self._pools: tuple[Members, ...] = (pool,) if sources is None else (pool, sources)
        self._state = state
        self._clock = clock
        self._membership = membership
        self._pulled_at: float | None = None
        self._pushed_at = 0.0

    async def pull(self, *, at_once: bool = False) -> None:
        """Load what was learned or chosen elsewhere, unless that was done recently.

        Args:
            at_once: whether to load it in any case.
        """
        now = self._clock()
        age = PULL_INTERVAL if self._pulled_at is None else abs(now - self._pulled_at)
        if age < PULL_INTERVAL and not at_once:
            return
        self._pulled_at = now
        if self._membership is not None:
            # First the members of the pool: records of others are not loaded.
            self._membership.choose(await self._state.choices())
        records = await self._state.load(now)
        for pool in self._pools:
            pool.settle(now)
            pool.restore(records)

    async def push(self) -> None:
        """Save what was learned since the last time, joined with what others have stored meanwhile."""
        now = self._clock()
        # A push from before the clock was set back must not block later ones.
        since = self._pushed_at if self._pushed_at <= now else 0.0
        if not self._learned(since):
            return
        stored = await self._state.load(now)
        for pool in self._pools:
            pool.restore(stored)
        if records := self._learned(since):
            await self._state.save(records, now)
            # A record of a process whose clock is ahead must not block saving the others.
            self._pushed_at = min(now, max(record.last_at for record in records.values()))

    def _learned(self, since: float) -> dict[str, InstanceRecord]:
        return {
            url: record for pool in self._pools for url, record in pool.learned_since(since).items()
        }
