"""What is wrong with a fake instance, and its answers that are no SearXNG page: refusals, challenges, redirects."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from http import HTTPStatus

from aiohttp import web

from searx_mcp.models.hits import UnresponsiveEngine
from searx_mcp.testing.limiter import Refusal

HTML = "text/html; charset=utf-8"
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"

# As SearXNG of 2026.8.22 has it, whatever the path prefix.
ROBOTS = """User-agent: *
Allow: /info/en/about
Disallow: /stats
Disallow: /image_proxy
Disallow: /preferences
Disallow: /*?*q=*
"""

# A front such as Anubis: answers 200, and has neither a generator nor results.
_CHALLENGE = """<!doctype html>
<html lang="en">
<title>Making sure you're not a bot!</title>
<h1>Making sure you're not a bot!</h1>
<p id="status">Loading...</p>
<noscript><p>You have to enable JavaScript to get past this challenge.</p></noscript>
</html>
"""


@dataclass(frozen=True, slots=True)
class Reply:
    """One complete answer."""

    body: bytes
    content_type: str = HTML
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def response(self) -> web.Response:
        """Return a new response; one cannot be sent twice."""
        headers = {
            "Content-Type": self.content_type,
            "Server": "granian",
            "X-Robots-Tag": "noindex, nofollow",
            "Referrer-Policy": "no-referrer",
            **self.headers,
        }
        return web.Response(body=self.body, status=self.status, headers=headers)


def html(text: str, *, status: int = 200) -> Reply:
    """Return a page; what UTF-8 cannot hold becomes a question mark."""
    return Reply(text.encode("utf-8", "replace"), status=status)


def plain(text: str) -> Reply:
    """Return a plain text."""
    return Reply(text.encode("utf-8", "replace"), content_type=TEXT)


def document(value: Mapping[str, object], *, status: int = 200) -> Reply:
    """Return a JSON document, escaped to ASCII as upstream does."""
    return Reply(json.dumps(value).encode("ascii"), content_type=JSON, status=status)


def plain_status(status: int, headers: Mapping[str, str] | None = None) -> Reply:
    """Return the short page of a bare status; 429 has the limiter's body."""
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return Reply(b"Too Many Requests", status=status, headers=headers or {})
    phrase = HTTPStatus(status).phrase
    text = f"<!doctype html>\n<html lang=en>\n<title>{status} {phrase}</title>\n<h1>{phrase}</h1>\n"
    return Reply(text.encode("ascii"), status=status, headers=headers or {})


def redirect(location: str, *, status: int = 302) -> Reply:
    """Return a redirect that may not be stored."""
    text = "<!doctype html>\n<html lang=en>\n<title>Redirecting...</title>\n"
    headers = {"Location": location, "Cache-Control": "no-store, max-age=0"}
    return Reply(text.encode("ascii"), status=status, headers=headers)


def challenge() -> Reply:
    """Return a page that asks for a proof of work."""
    return Reply(_CHALLENGE.encode("ascii"))


class Silence(Enum):
    """Ways not to answer at all."""

    HANG = auto()
    DROP = auto()


@dataclass(frozen=True, slots=True)
class SlowEngine:
    """An engine that takes `seconds`, where the instance waits for it for `timeout`."""

    name: str
    seconds: float
    timeout: float


@dataclass(slots=True)
class Faults:
    """All faults; a new value is a healthy instance.

    Attributes:
        host: what happens to every request, in front of everything else.
        prepared: answers by path, in place of the instance's own.
        refusal: how every search is turned away, whatever the windows say.
        failed: engines that do not answer.
        all_failed: whether no engine answers, listed or not.
        slow_engines: engines that are late, or too late.
        latency: seconds before anything is answered.
        held: set when requests that are kept waiting may go on, or `None`.
        rewriter: put in front of the addresses of all rows; a relative one leads home.
    """

    host: Reply | Silence | None = None
    prepared: dict[str, Reply] = field(default_factory=dict)
    refusal: Refusal | None = None
    failed: tuple[UnresponsiveEngine, ...] = ()
    all_failed: bool = False
    slow_engines: tuple[SlowEngine, ...] = ()
    latency: float = 0.0
    held: asyncio.Event | None = None
    rewriter: str | None = None

    def engines_time(self, limit: float | None) -> float:
        """Seconds the instance waits for slow engines, as upstream without a maximum of its own.

        Args:
            limit: seconds the caller gives the engines, or `None`.
        """
        longest = max((engine.timeout for engine in self.slow_engines), default=0.0)
        most = longest if limit is None else min(limit, longest)
        return min(most, max((engine.seconds for engine in self.slow_engines), default=0.0))

    def late(self, limit: float | None) -> tuple[UnresponsiveEngine, ...]:
        """The engines for which the instance does not wait."""
        waited = self.engines_time(limit)
        return tuple(
            UnresponsiveEngine(engine=engine.name, reason="timeout")
            for engine in self.slow_engines
            if engine.seconds > waited
        )
