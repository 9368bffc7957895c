"""The interface of stores of captured pages."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from searx_mcp.content.document import Document
from searx_mcp.models.base import Frozen
from searx_mcp.tasks import Lease

SKEW: Final = 60.0
"""Seconds a stored time may lie in the future, as clocks of processes differ slightly."""


@dataclass(frozen=True, slots=True)
class PageKey:
    """The identity of a capture.

    Attributes:
        namespace: owner of these pages; pages of other namespaces are never found.
        url: normalised, without fragment unless the fragment changes what is captured.
        variant: everything else the capture depends on, such as a caller's own User-Agent and the form of the
            Markdown.
    """

    namespace: str
    url: str
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Validators:
    """Values for asking a site whether a page has changed (RFC 9110, section 8.8); empty if not given."""

    etag: str = ""
    last_modified: str = ""


class CapturedPage(Frozen):
    """Everything that was captured of a page, whatever part of it a call shows.

    Equal ones are stored once. Nothing in it shows who asked, when, or for what.

    Attributes:
        document: its whole text; the offsets of a cursor count the code points of its Markdown.
        robots: as in `models.page.Page`; the same for all other fields.
    """

    document: Document
    final_url: str
    content_type: str
    content_length: int
    status_code: int
    headers: Mapping[str, str] = {}
    redirect_count: int = 0
    redirect_chain: tuple[str, ...] = ()
    redirect_target: str = ""
    tier: str = "native"
    robots: str = ""


@dataclass(frozen=True, slots=True)
class Capture:
    """A captured page with its times.

    Attributes:
        page: the captured page.
        url: as requested.
        fetched_at: when it was fetched or last found unchanged, Unix seconds.
        fresh_until: Unix seconds until which it serves without asking the site.
        max_bytes: limit of decoded bytes it was made with; a truncated one may have more.
        validators: for the next conditional request to `page.final_url`.
        may_be_stale: whether it may serve after `fresh_until` if its site cannot be asked.
    """

    page: CapturedPage
    url: str
    fetched_at: float
    fresh_until: float
    max_bytes: int
    validators: Validators = Validators()
    may_be_stale: bool = True


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A capture and its cursor.

    Attributes:
        capture: the capture.
        cursor: names it; empty if it is stored elsewhere.
        may_store: whether its site allows writing it to disk.
    """

    capture: Capture
    cursor: str
    may_store: bool = True


@dataclass(frozen=True, slots=True)
class WholePage:
    """A whole page as a call gets it.

    Attributes:
        kept: the capture.
        is_new: whether it was just fetched, and neither cached nor found unchanged.
        notes: sentences for the caller.
        provenance: how its address became known; empty for a cursor.
    """

    kept: KeptPage
    is_new: bool
    notes: tuple[str, ...] = ()
    provenance: str = ""


@dataclass(frozen=True, slots=True)
class KeptRobots:
    """A robots.txt as it was received.

    Attributes:
        status: HTTP status of the last hop; 0 if there was no answer.
        text: at most 500 KiB; empty unless the status is 200 to 299.
        fetched_at: Unix seconds.
    """

    status: int
    text: str
    fetched_at: float


class PageStore(Protocol):
    """Captured pages, limited in bytes and age.

    A cursor names a captured page within a namespace: it stays valid when the same address is captured again
    with other content, until the page is too old or evicted. Equal pages have equal cursors.

    A failure to read or write, because a disk is full or a file busy, is a miss and not an error; only
    `purge` raises.
    """

    async def find(self, key: PageKey, now: float) -> KeptPage | None:
        """Return the last capture under `key`, fresh or not, or `None`."""
        ...

    async def read(self, namespace: str, cursor: str, now: float) -> KeptPage | None:
        """Return the page that a cursor names, or `None` if it is not here (any more)."""
        ...

    async def keep(self, key: PageKey, capture: Capture, now: float) -> str:
        """Store a capture in place of the last one under `key`; return the cursor of its page.

        The cursor is returned even if storing failed.
        """
        ...

    async def robots(self, origin: str, now: float) -> KeptRobots | None:
        """Return the last robots.txt of an origin such as `https://example.org`, or `None`."""
        ...

    async def keep_robots(self, origin: str, robots: KeptRobots, now: float) -> None:
        """Store a robots.txt in place of the last one."""
        ...

    def lease(self, key: PageKey, *more: object) -> Lease | None:  # noqa: ARG002 - for those who can
        """Return the lease for capturing a page, or `None` if no other process shares this store.

        Args:
            key: under which it will be stored.
            more: other parameters that must be equal, as JSON values.
        """
        return None

    async def purge(self) -> None:
        """Delete everything, and leave no trace on disk.

        Raises:
            StorageError: it could not be deleted.
        """
        ...

    async def aclose(self) -> None:
        """Close the files; may be called more than once."""
        ...


def is_from_future(at: float, now: float) -> bool:
    """Return whether a stored time was written before the clock was set back."""
    return at > now + SKEW


def has_expired(fetched_at: float, now: float, max_age: float) -> bool:
    """Return whether something fetched then is too old to keep; never true of the future."""
    return min(fetched_at, now) + max_age <= now


def believed(capture: Capture, now: float) -> Capture:
    """Return a stored capture, corrected at `now`.

    The age of one from the future is unknown: it counts as fetched now, and its site is asked.
    """
    if is_from_future(capture.fetched_at, now):
        return replace(capture, fetched_at=now, fresh_until=now)
    return capture
