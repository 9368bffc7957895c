"""Questions to a host that cost it no search, and what their answers tell in passing."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from typing import Final

from yarl import URL

from searx_mcp.http.http import HttpSession
from searx_mcp.ops.doctor.connection import Way
from searx_mcp.pool.config_facts import MAX_TEXT
from searx_mcp.sources.searxng.classify import Received
from searx_mcp.sources.searxng.persona import honest

_AGE_DIGITS: Final = 9


@dataclass(slots=True)
class Asked:
    """Asks a host, and remembers what its answers tell in passing.

    Attributes:
        session: for the requests.
        clock: Unix seconds.
        timeout: seconds until the headers of an answer.
        offsets: seconds by which a host's clock is ahead of ours, by host; filled in here.
    """

    session: HttpSession
    clock: Callable[[], float]
    timeout: float
    offsets: dict[str, float]

    async def get(self, url: str, *, unless_newer_than: datetime | None = None) -> Received:
        """Ask once, by our own name.

        Args:
            url: what is asked for.
            unless_newer_than: makes it a question whether there is something newer, whose body is
                left unread.

        Raises:
            SearxMcpError: as `HttpSession.open` and `Reply.read`.
        """
        headers = honest()
        if unless_newer_than is not None:
            headers["If-Modified-Since"] = format_datetime(unless_newer_than, usegmt=True)
        async with self.session.open(url, headers=headers, timeout=self.timeout) as reply:
            self._compare_clocks(url, reply.headers)
            is_redirect = HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST
            body = b""
            if not is_redirect and unless_newer_than is None:
                body = (await reply.read(max_bytes=MAX_TEXT)).data
            return Received(reply.status, reply.headers, body, url)

    def _compare_clocks(self, url: str, headers: Mapping[str, str]) -> None:
        try:
            sent = parsedate_to_datetime(headers.get("Date", "")).timestamp()
        except (ValueError, OverflowError):  # the latter of a time zone of many digits
            return
        # A cache in between sends the date of when it asked, and how long ago that was.
        age = headers.get("Age", "")
        kept = int(age) if age.isascii() and age.isdigit() and len(age) <= _AGE_DIGITS else 0
        self.offsets[URL(url).host or ""] = sent + kept - self.clock()


@dataclass(slots=True)
class Patient:
    """An instance that is being examined.

    Attributes:
        way: to its host.
        asked: asks it.
        is_own: whether it is the user's, who can change its settings.
        config: the text of its `/config`, once it is known.
    """

    way: Way
    asked: Asked
    is_own: bool
    config: str = ""

    @property
    def url(self) -> str:
        """Its base URL, ending in `/`."""
        return str(self.way.url)

    async def get(self, path: str) -> Received:
        """Ask for a path below the base URL; raises as `Asked.get`."""
        return await self.asked.get(f"{self.url}{path}")
