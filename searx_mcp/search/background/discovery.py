"""The list of public instances, fetched twice a day and stored on disk.

No search waits for anything here, and after a failure the previous list stays in use. Sources of the rules
and constants: `docs/decisions/discovery.md`.
"""

import asyncio
import logging
import random
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import pydantic_core
from pydantic import BaseModel, Field, FiniteFloat
from yarl import URL

from searx_mcp.errors import ErrorCode, SearxMcpError
from searx_mcp.files import read_bytes
from searx_mcp.models.base import Frozen
from searx_mcp.models.instance import Catalog, CatalogEntry
from searx_mcp.pool.catalog import catalog_age_days
from searx_mcp.pool.searxspace import CatalogError, Listing, parse_searxspace
from searx_mcp.search.background.membership import PoolMembership
from searx_mcp.search.background.schedule import Activity
from searx_mcp.sources.searxng.request import honest
from searx_mcp.storage.state import StateStore

if TYPE_CHECKING:
    from searx_mcp.http.http import HttpSession

SOURCE_URL: Final = "https://searx.space/data/instances.json"
FILE_NAME: Final = "catalog-v1.json"

TIMEOUT: Final = 30.0
"""Seconds for a whole refresh."""
MAX_BYTES: Final = 5_000_000
"""Limit of decoded bytes of the list; it has 0.7 million."""
INTERVAL: Final = 12 * 3_600.0
"""Seconds between two refreshes; searx.space measures once a day."""
RETRY_INTERVAL: Final = 3_600.0
"""Seconds after a failed refresh."""
JITTER: Final = 0.1
"""Share by which both intervals vary in either direction, so that installations drift apart."""
MIN_USABLE: Final = 10
"""A list with fewer usable instances is refused; the smallest capture of the real one has 62."""
MIN_SHARE: Final = 0.5
"""A list with less than this share of the last good one's instances is refused."""
GUARD_DAYS: Final = 30
"""Days for which the last list's size counts; after them, having no newer list is worse."""

_log = logging.getLogger("searx_mcp.search.background.discovery")

_VALIDATOR = re.compile(r"[\x20-\x7e]{1,256}")
_SCHEMA: Final = 1


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The result of a refresh.

    Attributes:
        catalog: the list to use now, or `None` if there never was a good one.
        changed: whether its instances differ from those returned last.
        problem: why there is no newer list, or why it could not be stored, as a sentence for a person; empty
            if all went well.
        listed: number of rows in the list; 0 while unknown.
        dropped: number of rows that may not be asked, by reason.
    """

    catalog: Catalog | None
    changed: bool
    problem: str = ""
    listed: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)


_Validator = Annotated[str, Field(pattern=r"^[\x20-\x7e]{0,256}$")]


class _Kept(Frozen):
    """The stored list and its metadata.

    Attributes:
        url: source of the list; a list from another source is ignored.
        due_at: Unix seconds of the next refresh.
        etag: validator of the list, sent back as `If-None-Match`.
        last_modified: validator of the list, sent back as `If-Modified-Since`.
        catalog: the last good list, or `None` before the first.
        listed: number of rows; 0 if an older version stored it.
        dropped: number of rows that are not in the catalog, by reason.
    """

    schema_version: Literal[1] = 1
    url: str
    due_at: FiniteFloat = 0.0
    etag: _Validator = ""
    last_modified: _Validator = ""
    catalog: Catalog | None = None
    listed: int = 0
    dropped: Mapping[str, int] = {}


class Discovery:
    """Fetches the list of searx.space and stores the last good one.

    Processes that share a folder share the list and the time of the next refresh: after a refresh by another
    process, one makes no request. Call `refresh` from one task at a time.
    """

    def __init__(
        self,
        session: "Callable[[], HttpSession]",
        folder: Path | None,
        rng: random.Random,
        *,
        url: str = SOURCE_URL,
    ) -> None:
        """Take the parts; read and request nothing.

        Args:
            session: returns the session for the request, such as the one for public instances.
            folder: where to store the list, created if necessary; `None` keeps it in memory only.
            rng: source of the jitter of refreshes.
            url: source of the list.
        """
        self._session = session
        self._file = folder / FILE_NAME if folder is not None else None
        self._rng = rng
        self._url = url
        self._kept = _Kept(url=url)
        self._on_disk: _Kept | None = None
        self._given: tuple[CatalogEntry, ...] | None = None

    def last_good(self) -> Catalog | None:
        """Return the last good list without a request, or `None`."""
        self._recall()
        return self._give("").catalog

    def due(self, now: float) -> float:
        """Return the seconds from `now`, in Unix seconds, to the next refresh; 0 if it is due."""
        self._recall()
        return self._seconds_left(now)

    async def refresh(self, now: float, *, at_once: bool = False) -> Refreshed:
        """Fetch the list if a refresh is due; raises nothing but cancellation.

        Args:
            now: Unix seconds.
            at_once: whether to fetch it even if none is due.
        """
        await asyncio.to_thread(self._recall)
        if self._seconds_left(now) > 0 and not at_once:
            return self._give("")
        fetched = await self._try_to_fetch(now)
        if isinstance(fetched, _Kept):
            kept, interval, problem = fetched, INTERVAL, ""
        else:
            kept, interval, problem = self._kept, RETRY_INTERVAL, fetched
        due_at = now + interval * self._rng.uniform(1 - JITTER, 1 + JITTER)
        self._kept = kept.model_copy(update={"due_at": due_at})
        unkept = await asyncio.to_thread(self._keep)
        return self._give(problem or unkept, is_told=at_once)

    async def _try_to_fetch(self, now: float) -> _Kept | str:
        """Return what to store now, or why there is nothing new."""
        try:
            async with asyncio.timeout(TIMEOUT):
                return await self._fetch(now)
        except TimeoutError:
            return f"No complete answer arrived within {TIMEOUT:.0f} seconds."
        except SearxMcpError as exc:
            return exc.message
        except RuntimeError:
            return "The connections are closed."  # by the client, which is shutting down

    async def _fetch(self, now: float) -> _Kept:
        from searx_mcp.http.http import Request  # noqa: PLC0415 - a client has it loaded

        headers = honest() | {"Accept": "application/json"} | _conditions(self._kept)
        listed_at = datetime.fromtimestamp(now, UTC)
        answer = await self._session().send(
            Request(url=self._url, headers=headers, timeout=TIMEOUT, max_bytes=MAX_BYTES)
        )
        if answer.status == HTTPStatus.NOT_MODIFIED and self._kept.catalog is not None:
            confirmed = self._kept.catalog.model_copy(update={"listed_at": listed_at})
            return self._kept.model_copy(update={"catalog": confirmed})
        if answer.status != HTTPStatus.OK:
            raise _refuse(f"The server answered with status {answer.status}.")
        if answer.truncated:
            raise _refuse(f"The list is incomplete: {answer.notes[0]}.")
        # Stored for all processes that share the list: the gate leaves out what this one cannot reach.
        text = answer.body.decode(errors="replace")
        listing = await asyncio.to_thread(parse_searxspace, text, onion=True)
        _check_size(listing, self._kept.catalog, now)
        catalog = Catalog(
            source=f"{URL(self._url).host} {listed_at:%Y-%m-%d}",
            listed_at=listed_at,
            measured_at=listing.measured_at,
            instances=listing.entries,
        )
        return _Kept(
            url=self._url,
            etag=_validator(answer.headers.get("ETag", "")),
            last_modified=_validator(answer.headers.get("Last-Modified", "")),
            catalog=catalog,
            listed=listing.listed,
            dropped=listing.dropped,
        )

    def _give(self, problem: str, *, is_told: bool = False) -> Refreshed:
        """Return the outcome, and log a problem unless whoever demanded the refresh is told it."""
        catalog = self._kept.catalog
        entries = None if catalog is None else catalog.instances
        changed, self._given = entries != self._given, entries
        if problem and not is_told:
            _log.warning("search.discovery_failed reason=%s", problem)
        elif changed and not problem:
            _log.info("search.discovery_changed instances=%d", len(entries or ()))
        return Refreshed(catalog, changed, problem, self._kept.listed, self._kept.dropped)

    def _seconds_left(self, now: float) -> float:
        left = self._kept.due_at - now
        # A time further ahead than any that is set here comes from a clock that was set back since.
        return left if 0 < left <= INTERVAL * (1 + JITTER) else 0.0

    def _recall(self) -> None:
        """Load what another process, or this one before a restart, has stored."""
        kept = _read(self._file) if self._file is not None else None
        # A file that has not changed since it was read is not newer than a list that could not be written.
        if kept is not None and kept.url == self._url and kept != self._on_disk:
            self._kept = self._on_disk = kept

    def _keep(self) -> str:
        """Write to disk; return why that failed, or an empty text."""
        if self._file is None or _is_newer(self._file):
            return ""
        try:
            _write(self._file, self._kept.model_dump_json(exclude_none=True))
        except OSError as exc:
            return f"The list could not be saved: {exc.strerror or type(exc).__name__}."
        self._on_disk = self._kept
        return ""


def _refuse(message: str) -> CatalogError:
    return CatalogError(message, code=ErrorCode.HTTP_ERROR)


def _check_size(listing: Listing, last_good: Catalog | None, now: float) -> None:
    usable = len(listing.entries)
    if usable < MIN_USABLE:
        raise _refuse(f"Only {usable} of {listing.listed} listed instances are usable.")
    if last_good is None or catalog_age_days(last_good, now) >= GUARD_DAYS:
        return
    before = len(last_good.instances)
    if usable < MIN_SHARE * before:
        raise _refuse(f"The list shrank from {before} to {usable} usable instances.")


def _conditions(kept: _Kept) -> dict[str, str]:
    conditions = {"If-None-Match": kept.etag, "If-Modified-Since": kept.last_modified}
    # The dropped rows count only for a list that was parsed: an older version did not store them.
    return {name: value for name, value in conditions.items() if value and kept.listed}


def _validator(value: str) -> str:
    return value if _VALIDATOR.fullmatch(value) else ""


def _read(file: Path) -> _Kept | None:
    """Read the stored list; `None` if it is missing, damaged, foreign or has a newer schema."""
    try:
        data = _load(file)
        if isinstance(data, dict) and isinstance(catalog := data.get("catalog"), dict):
            rows = [_known(row, CatalogEntry) for row in catalog.get("instances", ())]
            data["catalog"] = _known(catalog, Catalog) | {"instances": rows}
        return _Kept.model_validate(_known(data, _Kept))
    except (OSError, ValueError, TypeError):
        return None


def _is_newer(file: Path) -> bool:
    """Return whether a newer version of this program owns the file, which is then left unchanged."""
    try:
        data = _load(file)
    except (OSError, ValueError):
        return False
    version = data.get("schema_version") if isinstance(data, dict) else None
    return isinstance(version, int) and version > _SCHEMA


def _load(file: Path) -> object:
    data: object = pydantic_core.from_json(read_bytes(file, MAX_BYTES), allow_inf_nan=False)
    return data


def _known(data: object, model: type[BaseModel]) -> dict[str, object]:
    """Drop fields that a later version of the same schema has added."""
    if not isinstance(data, dict):
        raise TypeError("not an object")
    return {name: value for name, value in data.items() if name in model.model_fields}


def _write(file: Path, text: str) -> None:
    """Replace the file atomically; readers see the old text or the new one.

    Raises:
        OSError: it cannot be written, or another program has it open on Windows.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=f"{file.stem}.") as folder:
        written = Path(folder) / file.name
        written.write_text(text, encoding="utf-8")
        written.replace(file)


_JOB = "discovery"


class CatalogRefresher:
    """Updates the pool from a new list in the background; a failure changes nothing.

    Args:
        discovery: fetches and stores the list.
        membership: receives its instances.
        state: lets only one of several processes fetch.
        activity: whether anyone uses this process.
        clock: Unix seconds.
    """

    def __init__(
        self,
        discovery: Discovery,
        *,
        membership: PoolMembership,
        state: StateStore,
        activity: Activity,
        clock: Callable[[], float],
    ) -> None:
        self._discovery = discovery
        self._membership = membership
        self._state = state
        self._activity = activity
        self._clock = clock
        self._refreshing = asyncio.Lock()

    async def renew(self) -> None:
        """Fetch the list if it is due and there were searches recently, and update the pool."""
        if not (self._activity.is_searching and self._membership.asks_public):
            return
        now = self._clock()
        is_due = await asyncio.to_thread(self._discovery.due, now) == 0
        if is_due and not await self._state.claim(_JOB, seconds=RETRY_INTERVAL / 2, now=now):
            return
        _ = await self.refresh(now)

    async def refresh(self, now: float, *, at_once: bool = False) -> Refreshed:
        """Fetch the list if it is due or demanded, and update the pool.

        Args:
            now: Unix seconds.
            at_once: whether to fetch it even if it is not due.
        """
        async with self._refreshing:
            refreshed = await self._discovery.refresh(now, at_once=at_once)
            if refreshed.changed and refreshed.catalog is not None:
                self._membership.relist(refreshed.catalog)
            return refreshed
