"""A client's open sources and keyed providers: their states, budgets and reports."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from searx_mcp.pool.config import PoolConfig
from searx_mcp.pool.pool import SourcePool
from searx_mcp.sources.open.config import OpenSourcesConfig, OpenSourcesMode, ProvidersConfig
from searx_mcp.sources.open.engine import Engine
from searx_mcp.sources.open.table import engines_of, keyed_of
from searx_mcp.storage.state import Account, Window

if TYPE_CHECKING:
    from searx_mcp.models.administration import OpenSource

_DAY: Final = 86_400.0
_MONTH: Final = 30 * _DAY
"""Brave's definition: `X-RateLimit-Policy: 1;w=1, 15000;w=2592000`."""


@dataclass(frozen=True, slots=True)
class SourceMembers:
    """The enabled open sources, and the keyed providers that have a key.

    Attributes:
        pool: their states.
        accounts: their accounts, by the address of each.
        collections: the rows of the open sources, by name.
        keyed: those of the keyed providers, in order of use.
    """

    pool: SourcePool
    accounts: Mapping[str, Account]
    collections: Mapping[str, Engine]
    keyed: Mapping[str, Engine]

    @classmethod
    def of(
        cls,
        settings: OpenSourcesConfig,
        providers: ProvidersConfig,
        *,
        config: PoolConfig,
        rng: random.Random,
    ) -> Self:
        """Select those that the settings enable.

        Args:
            settings: the `[open_sources]` table.
            providers: the `[providers]` table.
            config: rules for judging failures.
            rng: source of randomness.
        """
        collections = engines_of(settings) if settings.mode is not OpenSourcesMode.OFF else {}
        keyed = keyed_of(providers)
        engines = {**collections, **keyed}
        has_contact = bool(settings.contact)
        addresses = ((engine.name, engine.address) for engine in engines.values())
        accounts = {
            engine.address: rate_limits(engine, has_contact=has_contact)
            for engine in engines.values()
        }
        pool = SourcePool(addresses, config=config, rng=rng, keyed=keyed.keys())
        return cls(pool, accounts, collections, keyed)

    @property
    def engines(self) -> Mapping[str, Engine]:
        """All rows, by name."""
        return {**self.collections, **self.keyed}

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices for a person about the enabled engines."""
        return tuple(engine.notice for engine in self.engines.values() if engine.notice)

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that are asked."""
        return frozenset(engine.host for engine in self.engines.values())

    def described(self, name: str) -> "OpenSource":
        """Report the table's data on an open source."""
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
    """Return the account of an engine's requests: its spacing first, then the limits of a day and a month.

    Args:
        engine: the row of the table; engines of one bucket share an account.
        has_contact: whether we send its operator a contact; some then allow more.
    """
    gap = engine.gap
    if not has_contact and engine.gap_without_contact is not None:
        gap = engine.gap_without_contact
    spacing = Window(limit=engine.burst, seconds=gap * engine.burst)
    name = engine.bucket or engine.address
    lasting = ((engine.per_day, _DAY), (engine.per_month, _MONTH))
    caps = [Window(limit, seconds) for limit, seconds in lasting if limit]
    return Account(name, (spacing, *caps))
