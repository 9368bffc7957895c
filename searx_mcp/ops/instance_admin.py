"""Manages the pool, for the `instances` commands."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Protocol, Unpack
from urllib.parse import urlsplit

from searx_mcp import __version__
from searx_mcp.arguments import parse_search
from searx_mcp.errors import InvalidArgumentError, SettingsError
from searx_mcp.models.administration import (
    Change,
    Checked,
    Exported,
    Imported,
    InstanceDetails,
    Ledger,
    Refresh,
    Trial,
)
from searx_mcp.models.attempt import Format
from searx_mcp.models.instance import InstanceChoice, PoolReport
from searx_mcp.models.progress import Progress
from searx_mcp.models.request import SearchArguments
from searx_mcp.models.spelling import did_you_mean, shown
from searx_mcp.ops.instance_reports import (
    PoolParts,
    Selection,
    instance_details,
    pool_report,
    quota_report,
    trial_report,
)
from searx_mcp.pool.config import PublicInstances
from searx_mcp.pool.pool import InstancePool, SourcePool
from searx_mcp.search.background.discovery import CatalogRefresher
from searx_mcp.search.background.membership import PULL_INTERVAL, StateSync
from searx_mcp.settings.instances import OWN, own_address
from searx_mcp.settings.values import Settings
from searx_mcp.storage.memory import MemoryStore
from searx_mcp.storage.state import StateStore

if TYPE_CHECKING:
    from searx_mcp.http.body import Response
    from searx_mcp.search.trial import TrialRunner
    from searx_mcp.sources.searxng.upstream import Upstream

BLOCKED: Final = "instances.blocked"
SOON: Final = f"Running servers notice within {PULL_INTERVAL:.0f} seconds, at their next search."
UNSTORED: Final = "It lasts only as long as this process, which stores nothing."


class AskingParts(Protocol):
    """The parts of an open client that make requests to instances."""

    @property
    def upstream(self) -> "Upstream":
        """Makes requests to instances."""
        ...

    @property
    def trials(self) -> "TrialRunner":
        """Makes one search at one instance."""
        ...


class OpenParts(PoolParts, Protocol):
    """The parts of an open client for managing its pool."""

    @property
    def refresher(self) -> CatalogRefresher | None:
        """Refreshes the list of public instances, if there is one."""
        ...

    @property
    def sync(self) -> StateSync:
        """Shares what the pool learns with other processes."""
        ...


class InstanceAdmin:
    """Shows and changes the pool, even while other processes search with it.

    Changes are saved in the store, which every process reads before a search; this one applies them at once.
    All methods may raise `RuntimeError` after the client is closed.
    """

    def __init__(
        self,
        parts: OpenParts,
        *,
        asking: Callable[[], Awaitable[AskingParts]],
        settings: Settings,
        state: StateStore,
        clock: Callable[[], float],
        origins: Mapping[str, str],
    ) -> None:
        """Take the parts.

        Args:
            parts: of the open client.
            asking: returns the parts for requests, which most methods do not need.
            settings: of the client.
            state: of the client.
            clock: Unix seconds.
            origins: of settings, by dotted name.
        """
        self._parts = parts
        self._asking = asking
        self._settings = settings
        self._state = state
        self._clock = clock
        self._origins = origins

    def now(self) -> datetime:
        """The client's current time, in UTC."""
        return datetime.fromtimestamp(self._clock(), UTC)

    @property
    def problem(self) -> str:
        """The store's problem, in a sentence or two; empty if all is well."""
        return self._state.problem

    async def list(self, selection: Selection = Selection()) -> PoolReport:  # noqa: B008 - frozen
        """Report on the pool; makes no request.

        Args:
            selection: which instances, and in which order.
        """
        await self._recall()
        report = await pool_report(self._parts, self._state, self._clock())
        return report.model_copy(update={"instances": selection.of(report.instances)})

    async def show(self, host: str) -> InstanceDetails:
        """Report everything known about one instance; makes no request.

        Raises:
            InvalidArgumentError: it is not in the pool.
        """
        report = await self.list()
        url = _found(host, (row.url for row in report.instances))
        row = next(row for row in report.instances if row.url == url)
        return await instance_details(
            row,
            self._parts,
            self._state,
            self._clock(),
            is_configured=url in self._settings.instances.own,
        )

    async def check(
        self, hosts: Sequence[str] = (), *, progress: Progress | None = None
    ) -> Checked:
        """Check instances now with `/healthz`, `/config` and robots.txt; none of these is a search.

        Args:
            hosts: which to check; the whole pool if empty.
            progress: receives the number of finished ones.

        Raises:
            InvalidArgumentError: a host is not in the pool.
        """
        from searx_mcp.search.background.health import HealthChecker  # noqa: PLC0415 - only requests need it

        await self._recall()
        rows = self._parts.pool.snapshot(self._clock())
        known = [row.url for row in rows]
        urls = list(dict.fromkeys(_found(host, known) for host in hosts)) or known
        upstream = (await self._asking()).upstream
        checker = HealthChecker(self._parts.pool, upstream, self._clock)
        checked = await checker.check(urls, progress=progress)
        await self._parts.sync.push()
        return checked

    async def revive(self, urls: Iterable[str]) -> None:
        """Make own instances that were found to work available to searches at once.

        Args:
            urls: base URLs; those of other instances are ignored.
        """
        await self._recall()
        for url in urls:
            self._parts.pool.revive(url, self._clock())
        await self._parts.sync.push()

    async def refresh(self) -> Refresh:
        """Fetch the list of public instances now, even if it is not due."""
        await self._recall()
        instances = self._settings.instances
        refresher = self._parts.refresher
        if refresher is None or not self._parts.membership.asks_public:
            return Refresh(source=instances.source, problem=self._why_no_list())
        refreshed = await refresher.refresh(self._clock(), at_once=True)
        catalog = refreshed.catalog
        return Refresh(
            source=instances.source,
            listed=refreshed.listed,
            kept=len(catalog.instances) if catalog else 0,
            dropped=refreshed.dropped,
            in_pool=len(self._parts.pool.public_urls()),
            changed=refreshed.changed,
            listed_at=catalog.listed_at if catalog else None,
            problem=refreshed.problem,
        )

    async def add(self, address: str) -> Change:
        """Add an own instance.

        Raises:
            InvalidArgumentError: the address is not possible for an own instance.
            StorageError: it cannot be stored now.
        """
        try:
            url = own_address(address)
        except ValueError as exc:
            advice = "" if "@" not in address else f"Put credentials in {OWN} in the settings."
            raise InvalidArgumentError("url", str(exc), advice=advice) from exc
        asked_public = self._parts.membership.asks_public
        changed = url not in self._settings.instances.own
        changed = changed and await self._choose(InstanceChoice.OWN, url, chosen=True)
        notes = []
        if changed and asked_public and not self._parts.membership.asks_public:
            notes.append("Public instances are no longer used, because you have your own.")
        return self._change(url, f"{url} is one of your own instances.", notes, changed=changed)

    async def remove(self, host: str) -> Change:
        """Remove an own instance that was added by command.

        Raises:
            InvalidArgumentError: it is not an own instance.
            SettingsError: it is in the settings.
            StorageError: it cannot be stored now.
        """
        added = (await self._state.choices())[InstanceChoice.OWN]
        configured = self._settings.instances.own
        try:
            url = _found(host, dict.fromkeys([*configured, *added]))
        except InvalidArgumentError as exc:
            known = [urlsplit(url).netloc for url in (*configured, *added)]
            raise InvalidArgumentError(
                "host",
                f"{shown(host)} is not one of your own instances{did_you_mean(host, known)}",
                advice="`searx-mcp instances block` keeps a public instance from being used.",
            ) from exc
        if url in configured:
            raise self._in_settings(OWN, url)
        changed = await self._choose(InstanceChoice.OWN, url, chosen=False)
        notes = []
        if self._parts.membership.asks_public and not self._parts.membership.own:
            notes.append("Public instances are used again, because you have none of your own.")
        return self._change(
            url, f"{url} is no longer one of your own instances.", notes, changed=changed
        )

    async def block(self, host: str) -> Change:
        """Never ask a public instance, even if it is listed only later.

        Raises:
            InvalidArgumentError: it is not a host, or that of an own instance.
            StorageError: it cannot be stored now.
        """
        await self._recall()
        name = self._host(host)
        own = [url for url in self._parts.membership.own if urlsplit(url).hostname == name]
        if own:
            raise InvalidArgumentError(
                "host",
                f"{shown(host)} is the host of your own {' and '.join(own)}",
                advice="Remove it with `searx-mcp instances remove`.",
            )
        listed = {urlsplit(url).hostname for url in self._parts.pool.public_urls()}
        listed |= self._parts.sources.hosts
        changed = name not in self._settings.instances.blocked
        changed = changed and await self._choose(InstanceChoice.BLOCKED, name, chosen=True)
        notes = []
        if changed and name not in listed:
            near = did_you_mean(name, filter(None, listed))
            notes.append(f"The pool has no public instance at that host now{near}.")
        return self._change(name, f"{name} will no longer be used.", notes, changed=changed)

    async def unblock(self, host: str) -> Change:
        """Unblock a public instance that was blocked by command.

        Raises:
            InvalidArgumentError: it is not a host, or not blocked.
            SettingsError: it is blocked in the settings.
            StorageError: it cannot be stored now.
        """
        name = self._host(host)
        configured = [blocked.casefold() for blocked in self._settings.instances.blocked]
        if name in configured:
            raise self._in_settings(BLOCKED, name)
        blocked = (await self._state.choices())[InstanceChoice.BLOCKED]
        if name not in blocked:
            raise InvalidArgumentError(
                "host", f"{shown(name)} is not blocked{did_you_mean(name, blocked)}"
            )
        changed = await self._choose(InstanceChoice.BLOCKED, name, chosen=False)
        return self._change(
            name,
            f"{name} is no longer blocked; searches use it if it is on the list.",
            changed=changed,
        )

    async def reset(self, host: str) -> Change:
        """Reset an instance or open source: forget its states, waits and observations, but not its charges.

        Raises:
            InvalidArgumentError: it is not in the pool.
        """
        await self._recall()
        now = self._clock()
        pool: InstancePool | SourcePool = self._parts.pool
        urls = [row.url for row in pool.snapshot(now)]
        sources = self._parts.sources.pool
        url = _found(host, [*urls, *sources.urls()])
        if url in sources:
            pool = sources
        # A second ahead, so that a process that is saving what it learned before does not undo it.
        record = pool.reset(url, now + 1)
        await self._state.save({url: record}, now)
        notes = ["Requests already sent still count against its budget."]
        if url in self._parts.membership.own:
            notes.clear()
        return self._change(url, f"{url} was reset.", notes, changed=True)

    async def test(
        self,
        host: str,
        query: str,
        *,
        format: Format | None = None,  # noqa: A002 - the field's word for JSON or HTML
        keep: Callable[["Response"], None] | None = None,
        **arguments: Unpack[SearchArguments],
    ) -> Trial:
        """Make one search at one instance, charged to its budget.

        Args:
            host: the instance's host or address.
            query: to search for.
            format: `json` or `html`; by default, the one a search would use.
            keep: receives the raw answer, if a complete one arrives.
            **arguments: the fields of `SearchRequest`.

        Raises:
            InvalidArgumentError: an argument is wrong, or the instance is not in the pool.
            NoInstancesError: it may not be asked now.
        """
        from searx_mcp.search.searcher import instance_query  # noqa: PLC0415 - only a search needs it

        request = parse_search(
            {"query": query, **arguments}, defaults=self._settings.search_defaults()
        )
        await self._recall()
        trials = (await self._asking()).trials
        asked = await trials.ask(host, instance_query(request), format)
        if keep is not None and asked.received is not None:
            keep(asked.received)
        await self._parts.sync.push()
        return await trial_report(asked, self._parts.pool, self._state, self._clock())

    async def export(self) -> Exported:
        """Return the user's choices and what was learned; no charges and no queries."""
        now = self._clock()
        records = await self._state.load(now)
        return Exported(
            exported_at=datetime.fromtimestamp(now, UTC),
            searx_mcp=__version__,
            choices=await self._state.choices(),
            records=tuple(records[url].model_dump(mode="json") for url in sorted(records)),
        )

    async def import_(self, text: str) -> Imported:
        """Import an export: choices are added, newer records replace older ones.

        It contains no charges, so no budget grows.

        Raises:
            InvalidArgumentError: it is not an export; the error names the field.
            StorageError: it cannot be stored now.
        """
        from searx_mcp.ops.instance_export import (  # noqa: PLC0415 - no list needs it
            read_portable,
            take_over,
        )

        file = read_portable(text)
        imported = await take_over(file, self._settings.instances, self._state, self._clock())
        await self._recall()
        return imported

    async def budget(self) -> Ledger:
        """Report what every public instance allows, and for how long at this rate; sends no request."""
        await self._recall()
        return await quota_report(self._parts.pool, self._state, self._clock())

    async def _recall(self) -> None:
        await self._parts.sync.pull(at_once=True)

    async def _choose(self, kind: InstanceChoice, value: str, *, chosen: bool) -> bool:
        changed = await self._state.choose(kind, value, chosen=chosen)
        await self._recall()
        return changed

    def _change(
        self, subject: str, message: str, notes: Sequence[str] = (), *, changed: bool
    ) -> Change:
        said = [*notes]
        if self._state.problem:
            said.append(self._state.problem)
        elif changed:
            said.append(UNSTORED if isinstance(self._state, MemoryStore) else SOON)
        return Change(subject=subject, changed=changed, message=message, notes=tuple(said))

    def _host(self, text: str) -> str:
        from searx_mcp.ops.instance_export import host_name  # noqa: PLC0415 - as above

        try:
            return host_name(text)
        except ValueError as exc:
            raise InvalidArgumentError(
                "host", f"{shown(text)} is not a host such as search.example.org"
            ) from exc

    def _in_settings(self, setting: str, value: str) -> SettingsError:
        return SettingsError(
            setting,
            f"{value} comes from the settings, which commands do not change",
            origin=self._origins.get(setting, ""),
            advice="Remove it from the setting.",
        )

    def _why_no_list(self) -> str:
        instances = self._settings.instances
        if instances.public is PublicInstances.OFF:
            return "Public instances are off (instances.public)."
        if not self._parts.membership.asks_public:
            return "Public instances are not used, because you have your own (instances.public)."
        if instances.catalog:
            return "You use your own list (instances.catalog)."
        return "No source is set (instances.source)."


def _found(host: str, urls: Iterable[str]) -> str:
    """Return the base URL that a person named; see `find_instance`."""
    from searx_mcp.search.trial import find_instance  # noqa: PLC0415 - it loads the search

    return find_instance(host, urls)
