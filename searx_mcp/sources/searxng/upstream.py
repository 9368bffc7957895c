"""Requests to instances: searches, and what they report without one."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from searx_mcp.errors import ProxyError, SearxMcpError, TransportError
from searx_mcp.http.body import Response
from searx_mcp.http.http import HttpSession, Request
from searx_mcp.http.robots import FETCHED_BYTES, RobotsDecision
from searx_mcp.models.attempt import Format
from searx_mcp.pool.config_facts import ConfigFacts
from searx_mcp.pool.proposal import InstanceQuery, Outcome
from searx_mcp.sources.attempts import Exchange, exchange
from searx_mcp.sources.searxng.answers import (
    CONFIG,
    RESULTS,
    ROBOTS,
    SUGGESTIONS,
    InstanceContext,
    suggest_url,
)
from searx_mcp.sources.searxng.classify import generator
from searx_mcp.sources.searxng.request import Personas, build_url, honest
from searx_mcp.workers.jobs import Reader, Workers

MAX_BODY: Final = 2 * 1_048_576
"""Maximum decoded bytes of an answer; the largest page measured has 0.2 MB."""
MAX_CONFIG: Final = 2_000_000
"""Maximum decoded bytes of a `/config`; one with SearXNG's default engines has 0.11 MB."""

T = TypeVar("T")

_log = logging.getLogger("searx_mcp.sources.searxng")


class Upstream:
    """Asks instances, one request at a time each; has no state but its sessions."""

    def __init__(
        self,
        *,
        own: Callable[[], HttpSession],
        public: Callable[[], HttpSession],
        personas: Personas,
        workers: Workers | None = None,
    ) -> None:
        """Take the parts.

        Args:
            own: returns the session for own instances; only it knows their credentials.
            public: returns the session for public instances.
            personas: the headers of searches.
            workers: parse long answers; by default, threads do.
        """
        self._own = own
        self._public = public
        self._personas = personas
        self._workers = workers

    async def search(
        self,
        base_url: str,
        query: InstanceQuery,
        *,
        own: bool,
        format: Format,  # noqa: A002 - the model's name for it
        timeout: float,  # noqa: ASYNC109 - the length of one attempt is the caller's budget
        keep: Callable[[Response], None] | None = None,
    ) -> Outcome:
        """Search once; failures are in the outcome.

        Args:
            base_url: the instance.
            query: the query, already neutralised.
            own: whether it is an own instance, whose results are trusted.
            format: the requested format.
            timeout: seconds until the answer must be received and parsed.
            keep: receives the raw answer, if a complete one arrived in time.
        """
        if self._workers is not None and format is Format.HTML:
            self._workers.warm()  # a page is long, and its reader starts while it is on its way
        answered = await self._ask(
            build_url(base_url, query, format, time_limit=timeout if own else None),
            RESULTS,
            InstanceContext(base_url=base_url, own=own, format=format, text=query.text),
            timeout=timeout,
            max_bytes=MAX_BODY,
        )
        outcome, response = _outcome(answered.result, answered, format), answered.response
        if keep is not None and response is not None:
            keep(response)
        if outcome.has_drifted and response is not None and outcome.page is not None:
            _log.warning(
                "searxng.markup_drift instance=%s version=%s rows_seen=%d rows_used=%d",
                urlsplit(base_url).netloc.rpartition("@")[2],
                generator(response.body) or "unknown",
                outcome.page.rows_seen,
                len(outcome.page.hits),
            )
        return outcome

    async def resolves(self, base_url: str, *, timeout: float) -> bool:  # noqa: ASYNC109 - of one look-up
        """Return whether the host of a public instance has an address; nothing is sent to it.

        True for a host that may not be asked: the search will say why.
        """
        try:
            await self._public().resolve(base_url, timeout=timeout)
        except TransportError:
            return False
        except SearxMcpError:
            return True
        return True

    async def robots(
        self,
        base_url: str,
        *,
        format: Format,  # noqa: A002 - the model's name for it
        timeout: float,  # noqa: ASYNC109 - the length of one request is the caller's budget
    ) -> RobotsDecision | Outcome:
        """Read the robots.txt of a public instance, at the root of its origin.

        If there is none, or a redirect, nothing is forbidden (RFC 9309 §2.3.1).

        Args:
            base_url: the instance.
            format: that of the following search; a failure is reported under it.
            timeout: seconds until the file must be received and parsed.

        Returns:
            Whether it names us and forbids the search; or why it could not be read, for which a search would
            fail, too.
        """
        origin = "/".join(base_url.split("/", 3)[:3])
        answered = await self._ask(
            f"{origin}/robots.txt",
            ROBOTS,
            InstanceContext(base_url=base_url),
            timeout=timeout,
            max_bytes=FETCHED_BYTES,
            honestly=True,
        )
        if isinstance(answered.result, str):
            return RobotsDecision(answered.result)
        return _outcome(answered.result, answered, format)

    async def config(
        self,
        base_url: str,
        *,
        own: bool,
        timeout: float,  # noqa: ASYNC109 - the length of one request is the caller's budget
    ) -> ConfigFacts | None:
        """Return what the instance reports at `/config`; `None` if it cannot be read.

        Args:
            base_url: the instance.
            own: whether it is an own instance.
            timeout: seconds until the answer must be received and parsed.
        """
        answered = await self._ask(
            f"{base_url.rstrip('/')}/config",
            CONFIG,
            InstanceContext(base_url=base_url, own=own),
            timeout=timeout,
            max_bytes=MAX_CONFIG,
            honestly=True,
        )
        return answered.result if isinstance(answered.result, ConfigFacts) else None

    async def suggest(
        self,
        base_url: str,
        text: str,
        *,
        own: bool,
        timeout: float,  # noqa: ASYNC109 - the length of one question is the caller's budget
    ) -> tuple[str, ...]:
        """Return the instance's suggestions for the beginning of a query; empty on failure.

        This costs the instance a request to a search engine, so only own ones should be asked.

        Args:
            base_url: the instance.
            text: typed so far.
            own: whether it is an own instance.
            timeout: seconds for all of it.
        """
        answered = await self._ask(
            suggest_url(base_url, text),
            SUGGESTIONS,
            InstanceContext(base_url=base_url, own=own),
            timeout=timeout,
            max_bytes=MAX_BODY,
        )
        return () if isinstance(answered.result, Outcome) else answered.result

    async def is_alive(
        self,
        base_url: str,
        *,
        own: bool,
        timeout: float,  # noqa: ASYNC109 - the length of one check is the caller's budget
    ) -> bool:
        """Return whether the instance's process answers; costs no search and passes every limiter.

        `/healthz` says OK since 2021. If it is missing, the home page must answer. A proxy failure says
        nothing about the instance.

        Args:
            base_url: the instance.
            own: whether it is an own instance.
            timeout: seconds for all of it.
        """
        session = self._own() if own else self._public()
        root = base_url.rstrip("/")
        request = Request(
            url=f"{root}/healthz", headers=honest(), timeout=timeout, max_bytes=MAX_BODY
        )
        try:
            async with asyncio.timeout(timeout):
                health = await session.send(request)
                if health.status == HTTPStatus.NOT_FOUND:
                    home = await session.send(replace(request, url=f"{root}/"))
                    return home.status == HTTPStatus.OK
        except ProxyError:
            return True  # nothing is known of it, and silence would be held against it
        except (TimeoutError, SearxMcpError):
            return False
        return health.status == HTTPStatus.OK and health.body.strip() == b"OK"

    async def _ask(
        self,
        url: str,
        reader: Reader[InstanceContext, T],
        asked: InstanceContext,
        *,
        timeout: float,  # noqa: ASYNC109 - the length of one request is the caller's budget
        max_bytes: int,
        honestly: bool = False,
    ) -> Exchange[T]:
        """Send one request with our headers for the instance.

        Args:
            url: to request.
            reader: parses the answer.
            asked: the instance, and other input of the reader.
            timeout: seconds until the answer must be received and parsed.
            max_bytes: limit of decoded bytes.
            honestly: whether to say who we are whatever the persona: for everything but searches, so that an
                operator finds our name in the log and can name us in robots.txt.
        """
        base_url, own = asked.base_url, asked.own
        headers = honest() if honestly else self._personas.headers_for(base_url, own=own)
        return await exchange(
            self._own if own else self._public,
            Request(url=url, headers=headers, max_bytes=max_bytes, timeout=timeout),
            partial(reader.read_safely, asked=asked, workers=self._workers),
            name=base_url,
        )


def _outcome(
    result: Outcome,
    answered: Exchange[Any],
    format: Format,  # noqa: A002 - the model's name for it
) -> Outcome:
    """Add to an outcome what only the request knows."""
    return replace(
        result, format=format, elapsed=answered.elapsed, status_code=answered.status_code
    )
