"""The open sources of a client: who may be asked, on whose account, and what is reported of each."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.pool import SourcePool
from searx_mcp.sources.open.config import OpenSourcesConfig
from searx_mcp.sources.open.engine import Engine
from searx_mcp.sources.open.table import engines_of
from searx_mcp.storage.state import Account, Window

if TYPE_CHECKING:
    from searx_mcp.models.administration import OpenSource

_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class SourceMembers:
    """The open sources that are switched on.

    Attributes:
        pool: their states.
        accounts: what their requests are charged to, by the address that stands for each.
        engines: the rows of the table, by name.
    """

    pool: SourcePool
    accounts: Mapping[str, Account]
    engines: Mapping[str, Engine]

    @classmethod
    def of(cls, settings: OpenSourcesConfig, *, config: PoolConfig, rng: random.Random) -> Self:
        """Take those that the settings switch on.

        Args:
            settings: the `[open_sources]` table.
            config: how failures are judged.
            rng: the dice.
        """
        engines = engines_of(settings)
        has_contact = bool(settings.contact)
        addresses = ((engine.name, engine.address) for engine in engines.values())
        accounts = {
            engine.address: rate_limits(engine, has_contact=has_contact)
            for engine in engines.values()
        }
        return cls(SourcePool(addresses, config=config, rng=rng), accounts, engines)

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices for a person about the engines they have switched on."""
        return tuple(engine.notice for engine in self.engines.values() if engine.notice)

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that are asked."""
        return frozenset(engine.host for engine in self.engines.values())

    def described(self, name: str) -> "OpenSource":
        """Report what the table says of an open source."""
        from searx_mcp.models.administration import OpenSource  # noqa: PLC0415 - no search needs it

        engine = self.engines[name]
        return OpenSource(
            title=engine.title,
            operator=engine.operator,
            categories=tuple(sorted(engine.categories)),
            licence=engine.licence,
            terms_url=engine.terms_url,
            terms_checked=engine.terms_checked,
        )


def rate_limits(engine: Engine, *, has_contact: bool) -> Account:
    """Tell what the requests of an engine are charged to: its spacing, and a cap for the day.

    Args:
        engine: the row of the table; engines of one bucket share an account.
        has_contact: whether its operator is told how to reach ours; some allow more then.
    """
    gap = engine.gap
    if not has_contact and engine.gap_without_contact is not None:
        gap = engine.gap_without_contact
    spacing = Window(limit=engine.burst, seconds=gap * engine.burst)
    name = engine.bucket or engine.address
    return Account(name, (spacing, Window(limit=engine.per_day, seconds=_DAY)))
