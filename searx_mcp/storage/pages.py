"""The interface of stores of captured pages."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

from searx_mcp.content.document import Document
from searx_mcp.models.base import Frozen
from searx_mcp.tasks import Lease

SKEW: Final = 60.0
"""Seconds a kept time may lie ahead: another process read the clock a little later."""


@dataclass(frozen=True, slots=True)
class PageKey:
    """The identity of a capture.

    Attributes:
        namespace: owner of these pages; those of other namespaces are never found.
        url: normalised, without fragment unless the fragment changes what is captured.
        variant: what else the capture depends on, such as a caller's own User-Agent and the form of
            the Markdown.
    """

    namespace: str
    url: str
    variant: str = ""


@dataclass(frozen=True, slots=True)
class Validators:
    """Validators by which a site tells whether a page has changed (RFC 9110, section 8.8); empty if not given."""

    etag: str = ""
    last_modified: str = ""


class CapturedPage(Frozen):
    """Everything that was captured of a page, whatever part of it a call shows.

    Equal ones are kept once. Nothing in it tells who asked, when, or for what.

    Attributes:
        document: the whole of its text; the offsets of a cursor count the code points of its Markdown.
        robots: as in `models.page.Page`; so are all others.
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
    """A captured page with the times of it.

    Attributes:
        page: what was captured.
        url: as it was asked for.
        fetched_at: when it was fetched or last found unchanged, Unix seconds.
        fresh_until: Unix seconds until which it serves without asking the site.
        max_bytes: decoded bytes that were allowed; a truncated one may have more to give.
        validators: for the next conditional request to `page.final_url`.
        may_be_stale: whether it may serve after `fresh_until` when its site cannot be asked.
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
    """A capture with the cursor that finds it.

    Attributes:
        capture: what was captured.
        cursor: finds it; empty if it is kept elsewhere.
        may_store: whether its site lets it be written to a disk.
    """

    capture: Capture
    cursor: str
    may_store: bool = True


@dataclass(frozen=True, slots=True)
class KeptRobots:
    """A robots.txt as it was found.

    Attributes:
        status: HTTP status of the last hop; 0 if there was no answer.
        text: at most 500 KiB; empty unless the status is 200 to 299.
        fetched_at: Unix seconds.
    """

    status: int
    text: str
    fetched_at: float


class PageStore(Protocol):
    """Captured pages, bounded in bytes and age.

    A cursor names a captured page within a namespace: it stays valid when the same address is captured
    anew with other content, until the page is too old or has to make room. Equal pages have equal
    cursors.

    What cannot be kept or read now, because a disk is full or a file busy, is a miss and not an
    error; only `purge` raises.
    """

    async def find(self, key: PageKey, now: float) -> KeptPage | None:
        """The last capture under `key`, fresh or not, or `None`."""
        ...

    async def read(self, namespace: str, cursor: str, now: float) -> KeptPage | None:
        """The page that a cursor names, or `None` if it is not, or no longer, here."""
        ...

    async def keep(self, key: PageKey, capture: Capture, now: float) -> str:
        """Keep a capture in place of the last one under `key`; returns the cursor of its page.

        The cursor is returned even if nothing could be kept.
        """
        ...

    async def robots(self, origin: str, now: float) -> KeptRobots | None:
        """The last robots.txt of an origin such as `https://example.org`, or `None`."""
        ...

    async def keep_robots(self, origin: str, robots: KeptRobots, now: float) -> None:
        """Keep a robots.txt in place of the last one."""
        ...

    def lease(self, key: PageKey, *more: object) -> Lease | None:  # noqa: ARG002 - for those who can
        """What lets one process alone capture a page, or `None` if this store is not for several.

        Args:
            key: under which it will be kept.
            more: what else must be the same for that, as JSON can hold it.
        """
        return None

    async def purge(self) -> None:
        """Forget everything, and leave no trace on a disk.

        Raises:
            StorageError: it cannot be deleted.
        """
        ...

    async def aclose(self) -> None:
        """Close the files; harmless when called twice."""
        ...


def is_from_future(at: float, now: float) -> bool:
    """Whether a stored time was written before the clock was set back."""
    return at > now + SKEW


def has_expired(fetched_at: float, now: float, max_age: float) -> bool:
    """Whether something fetched then is too old to keep; never true of the future."""
    return min(fetched_at, now) + max_age <= now


def believed(capture: Capture, now: float) -> Capture:
    """A kept capture as it can be believed at `now`.

    The age of one from the future is unknown: it counts as fetched now, and its site is asked.
    """
    if is_from_future(capture.fetched_at, now):
        return replace(capture, fetched_at=now, fresh_until=now)
    return capture
