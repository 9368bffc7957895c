"""What one capture is to bring, and by when."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from yarl import URL

from searx_mcp.content.pdf_pages import pages_of
from searx_mcp.fetch.hops.redirects import HopRequest, Trail
from searx_mcp.fetch.site_adapters.adapter import lines_of
from searx_mcp.models.request import Images
from searx_mcp.storage.pages import KeptPage, PageKey
from searx_mcp.tasks import Place

_ACCEPT: Final = (
    "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,"
    "application/json;q=0.7,application/xml;q=0.7,*/*;q=0.5"
)
# Kept back of the time for turning what has arrived into Markdown, so that a body cut by the
# deadline still becomes a page: this share of the whole, at most so many seconds.
_CONVERSION_SHARE: Final = 0.1
_MAX_CONVERSION_TIME: Final = 1.0


@dataclass(slots=True)
class Job:
    """One capture under way; instants are those of the event loop.

    Attributes:
        url: checked, with its fragment.
        key: under which the capture is kept.
        max_bytes: decoded bytes of text read at most.
        max_document_bytes: likewise of a document.
        max_redirects: redirects followed at most.
        user_agent: of the requests.
        started: when the call came.
        end: when it must have returned.
        follow: whether redirects are followed.
        obey_robots: whether robots.txt is asked.
        images: what stands for an image, if the call says so.
        previous: the last capture, to ask only for what has changed.
        trail: of the walk under way, if there is one.
        notes: sentences about the way to the page.
    """

    url: URL
    key: PageKey
    max_bytes: int
    max_document_bytes: int
    max_redirects: int
    user_agent: str
    started: float
    end: float
    follow: bool = True
    obey_robots: bool = True
    images: Images | None = None
    previous: KeptPage | None = None
    trail: Trail | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def read_until(self) -> float:
        """When the last byte must be there."""
        reserve = min((self.end - self.started) * _CONVERSION_SHARE, _MAX_CONVERSION_TIME)
        return self.end - reserve

    @property
    def current(self) -> str:
        """The address being asked."""
        return str(self.trail.current if self.trail else self.url.with_fragment(None))

    def request(
        self,
        place: Place,
        *,
        accept: str = "",
        headers: Mapping[str, str] | None = None,
        deadline: float | None = None,
        is_conditional: bool = False,
    ) -> HopRequest:
        """Write what a follower of redirects is to ask for."""
        unless = {}
        if is_conditional and self.previous is not None:
            capture = self.previous.capture
            unless = {capture.document.final_url: capture.validators}
        return HopRequest(
            headers={
                "Accept": accept or _ACCEPT,
                "Accept-Language": "en",
                "DNT": "1",
                "Sec-GPC": "1",
                "User-Agent": self.user_agent,
                **(headers or {}),
            },
            max_bytes=self.max_bytes,
            max_document_bytes=self.max_document_bytes,
            deadline=self.read_until if deadline is None else deadline,
            place=place,
            follow=self.follow,
            obey_robots=self.obey_robots,
            unless=unless,
        )

    def set_out(self) -> Trail:
        """Begin the walk to the page itself."""
        self.trail = Trail(self.url.with_fragment(None), max_redirects=self.max_redirects)
        return self.trail


def captured_part(url: URL) -> str:
    """The fragment of an address if it changes what is captured, else nothing.

    That are lines of a file and pages of a PDF; any other names a place in the whole page.
    """
    fragment = url.fragment
    return fragment if lines_of(fragment) or pages_of(fragment) else ""


def now() -> float:
    """The event loop's time."""
    return asyncio.get_running_loop().time()
