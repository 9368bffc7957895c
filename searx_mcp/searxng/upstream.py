"""One request to one instance: the only place here that awaits anything."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from searx_mcp.errors import ErrorCode, FetchError, SearxMcpError, TransportError
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.net.body import Body
from searx_mcp.net.http import HttpSession, Reply
from searx_mcp.pool.outcome import Outcome
from searx_mcp.searxng.autocomplete import parse_suggestions, suggest_url
from searx_mcp.searxng.classify import Judgement, Received, generator, judge
from searx_mcp.searxng.persona import Personas
from searx_mcp.searxng.request import InstanceQuery, build_url

MAX_BODY: Final = 5 * 1_048_576
"""Decoded bytes read of an answer; the largest page measured has 0.2 MB."""
MAX_ON_LOOP: Final = 65_536
"""Bytes of a body parsed on the event loop; more takes too long and goes to a thread."""

_log = logging.getLogger("searx_mcp.searxng")

_VERDICTS: Final = {
    ErrorCode.DNS_ERROR: Verdict.DNS,
    ErrorCode.TLS_ERROR: Verdict.TLS,
    ErrorCode.TIMEOUT: Verdict.TIMEOUT,
    ErrorCode.MALFORMED_RESPONSE: Verdict.MALFORMED,
    ErrorCode.UNSUPPORTED_ENCODING: Verdict.MALFORMED,
}
"""What a failure to get an answer comes to; any other, a refused address too, is a connection
that did not come about."""


class Upstream:
    """Asks instances, one request at a time each; keeps nothing but the sessions it was given."""

    def __init__(
        self,
        *,
        own: Callable[[], HttpSession],
        public: Callable[[], HttpSession],
        personas: Personas,
    ) -> None:
        """Wire the sessions.

        Args:
            own: gives the session for configured instances; alone knows their credentials.
            public: gives the session for public instances.
            personas: the headers for each instance.
        """
        self._own = own
        self._public = public
        self._personas = personas

    async def search(
        self,
        base_url: str,
        query: InstanceQuery,
        *,
        own: bool,
        format: Format,  # noqa: A002 - the model's name for it
        timeout: float,  # noqa: ASYNC109 - the length of one attempt is the caller's budget
    ) -> Outcome:
        """Search once; whatever goes wrong is in the outcome.

        Args:
            base_url: the instance.
            query: what to ask, already neutralised.
            own: whether it is a configured instance.
            format: the form of the answer.
            timeout: seconds until the answer must be there and parsed.
        """
        outcome, _ = await self.capture(base_url, query, own=own, format=format, timeout=timeout)
        return outcome

    async def resolves(self, base_url: str, *, timeout: float) -> bool:  # noqa: ASYNC109 - of one look-up
        """Whether the host of a public instance has an address; nothing is sent to it.

        A host that may not be asked counts as having one: a search says why.
        """
        try:
            await self._public().resolve(base_url, timeout=timeout)
        except TransportError:
            return False
        except SearxMcpError:
            return True
        return True

    async def capture(
        self,
        base_url: str,
        query: InstanceQuery,
        *,
        own: bool,
        format: Format,  # noqa: A002 - the model's name for it
        timeout: float,  # noqa: ASYNC109 - the length of one attempt is the caller's budget
    ) -> tuple[Outcome, Received | None]:
        """Search once like `search`, and keep the answer as it came.

        Returns:
            The outcome, and the answer if there was a complete one in time.
        """
        loop = asyncio.get_running_loop()
        start = loop.time()
        last_byte: float | None = None
        status: int | None = None
        received: Received | None = None
        try:
            async with asyncio.timeout_at(start + timeout):
                received = await self._get(
                    base_url, build_url(base_url, query, format), own=own, timeout=timeout
                )
                last_byte, status = loop.time(), received.status
                judgement = await _judge(received, base_url, format)
        except TimeoutError:
            judgement = Judgement(Verdict.TIMEOUT, detail="There was no complete answer in time.")
        except SearxMcpError as exc:
            status = exc.status_code if isinstance(exc, FetchError) else None
            verdict = _VERDICTS.get(exc.code, Verdict.CONNECTION)
            judgement = Judgement(verdict, detail=exc.message)
        except Exception:  # noqa: BLE001 - the one supervisor of an attempt
            # A mistake of ours costs one attempt, never the search; the next instance is asked.
            _log.exception("searxng.attempt_crashed", extra={"instance": base_url})
            judgement = Judgement(Verdict.MALFORMED, detail="The answer could not be handled.")
        outcome = Outcome(
            verdict=judgement.verdict,
            format=format,
            elapsed=(last_byte or loop.time()) - start,
            status_code=status,
            page=judgement.page,
            retry_after=judgement.retry_after,
            detail=judgement.detail,
        )
        if outcome.has_drifted and received is not None:
            _log.warning(
                "searxng.markup_drift instance=%s version=%s rows_seen=%d rows_used=%d",
                urlsplit(base_url).netloc.rpartition("@")[2],
                generator(received.body) or "unknown",
                outcome.rows_seen,
                outcome.rows_used,
            )
        return outcome, received

    async def suggest(
        self,
        base_url: str,
        text: str,
        *,
        own: bool,
        timeout: float,  # noqa: ASYNC109 - the length of one question is the caller's budget
    ) -> tuple[str, ...]:
        """What the instance proposes for the beginning of a query; empty when it fails.

        It costs the instance a request to a search engine, so that only own ones should be asked.

        Args:
            base_url: the instance.
            text: what has been typed.
            own: whether it is a configured instance.
            timeout: seconds for all of it.
        """
        url = suggest_url(base_url, text)
        try:
            async with asyncio.timeout(timeout):
                received = await self._get(base_url, url, own=own, timeout=timeout)
        except (TimeoutError, SearxMcpError):
            return ()
        return parse_suggestions(received.body) if received.status == HTTPStatus.OK else ()

    async def is_alive(
        self,
        base_url: str,
        *,
        own: bool,
        timeout: float,  # noqa: ASYNC109 - the length of one check is the caller's budget
    ) -> bool:
        """Whether the instance's process answers; costs no search and passes every limiter.

        `/healthz` says OK since 2021. Where it is missing, the home page must answer.

        Args:
            base_url: the instance.
            own: whether it is a configured instance.
            timeout: seconds for all of it.
        """
        root = base_url.rstrip("/")
        try:
            async with asyncio.timeout(timeout):
                health = await self._get(base_url, f"{root}/healthz", own=own, timeout=timeout)
                if health.status == HTTPStatus.NOT_FOUND:
                    home = await self._get(base_url, f"{root}/", own=own, timeout=timeout)
                    return home.status == HTTPStatus.OK
        except (TimeoutError, SearxMcpError):
            return False
        return health.status == HTTPStatus.OK and health.body.strip() == b"OK"

    async def _get(self, base_url: str, url: str, *, own: bool, timeout: float) -> Received:  # noqa: ASYNC109 - handed on to the session, which bounds connecting
        session = self._own() if own else self._public()
        headers = self._personas.headers_for(base_url, own=own)
        async with session.open(url, headers=headers, timeout=timeout) as reply:
            body = await _read(reply)
            return Received(
                status=reply.status,
                headers=reply.headers,
                body=body.data,
                url=url,
                truncated=body.truncated,
            )


async def _read(reply: Reply) -> Body:
    """Read what the status makes worth reading; a failure's body only adds to what it says."""
    if HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST:
        return Body(b"")
    try:
        return await reply.read(max_bytes=MAX_BODY)
    except FetchError:
        if reply.status < HTTPStatus.BAD_REQUEST:
            raise
        return Body(b"")


async def _judge(received: Received, base_url: str, format: Format) -> Judgement:  # noqa: A002 - the model's name for it
    decide = partial(judge, received, base_url=base_url, format=format)
    if len(received.body) <= MAX_ON_LOOP:
        return decide()
    return await asyncio.to_thread(decide)
