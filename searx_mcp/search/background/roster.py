"""Who belongs to the pool: by the settings, by what the user chose since, by the list."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from searx_mcp.models.instance import Catalog, CatalogEntry, Choice, base_url
from searx_mcp.pool.config import InstancesConfig, PublicInstances
from searx_mcp.pool.pool import InstancePool

Choices = Mapping[Choice, Sequence[str]]
"""What the user chose by command, by kind."""


class Roster:
    """Keeps the pool, and what own instances may be asked, in line with settings and choices.

    Args:
        pool: where the instances go.
        instances: the `[instances]` table.
        catalog: the list of public instances to begin with; `None` when they are never asked.
        choices: what the user has chosen so far.
        admit: chooses the instances of a list that may be asked, without those blocked.
        admit_own: told the base URLs of all own instances whenever they change.
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
        self._own: tuple[str, ...] = ()
        self._blocked: frozenset[str] = frozenset()
        self.choose(choices)

    @property
    def own(self) -> tuple[str, ...]:
        """Base URLs of the own instances: those of the settings, then those added."""
        return self._own

    @property
    def blocked(self) -> frozenset[str]:
        """Hosts that are never asked as public instances."""
        return self._blocked

    @property
    def catalog(self) -> Catalog | None:
        """The list in use, or `None` while public instances are not asked."""
        return self._catalog if self.asks_public else None

    @property
    def asks_public(self) -> bool:
        """Whether public instances may be asked; an own one of either source counts."""
        if self._settings.public is PublicInstances.AUTO:
            return not self._own
        return self._settings.public is PublicInstances.ON

    def choose(self, choices: Choices) -> None:
        """Take over what the user chose by command."""
        added = filter(_is_base_url, choices.get(Choice.OWN, ()))
        own = tuple(dict.fromkeys([*self._settings.own, *added]))
        blocked = frozenset([*self._settings.blocked, *choices.get(Choice.BLOCKED, ())])
        if (own, blocked) == (self._own, self._blocked) and len(self._pool):
            return
        self._own, self._blocked = own, blocked
        self._admit_own(own)
        self._enlist()

    def relist(self, catalog: Catalog) -> None:
        """Take over a new list of public instances."""
        self._catalog = catalog
        self._enlist()

    def _enlist(self) -> None:
        catalog = self.catalog
        public = self._admit(catalog, self._blocked) if catalog is not None else ()
        self._pool.enlist(self._own, public)


def _is_base_url(text: str) -> bool:
    # A store may hold what an older or newer version, or somebody by hand, has put there.
    try:
        return base_url(text) == text
    except ValueError:
        return False
