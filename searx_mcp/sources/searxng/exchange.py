"""One request to one instance, and what came of it: failures are values here."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Generic, TypeVar

from searx_mcp.errors import FetchError, ProxyError, SearxMcpError
from searx_mcp.http.body import Body
from searx_mcp.http.http import HttpSession, Reply
from searx_mcp.models.attempt import Format, Verdict
from searx_mcp.pool.attempt import Outcome, verdict_of
from searx_mcp.sources.searxng.answers import options_for
from searx_mcp.sources.searxng.classify import Judgement, Received
from searx_mcp.sources.searxng.persona import Personas, honest
from searx_mcp.workers.failures import DefeatError
from searx_mcp.workers.jobs import Reader, Workers, read_answer

_log = logging.getLogger("searx_mcp.sources.searxng")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Exchange(Generic[T]):
    """A request and its answer.

    Attributes:
        result: what the answer was read as; a judgement where there was none, or none in time.
        elapsed: seconds from the request to the last byte or the failure.
        status_code: the HTTP status, or `None` if there was no answer.
        received: the answer, if there was a complete one in time.
        ours: whether the failure is on our side of the network.
    """

    result: T | Judgement
    elapsed: float
    status_code: int | None = None
    received: Received | None = None
    ours: bool = False

    def outcome(self, judgement: Judgement, format: Format) -> Outcome:  # noqa: A002 - the model's name for it
        """What the request came to, once it is judged."""
        return Outcome(
            verdict=judgement.verdict,
            format=format,
            elapsed=self.elapsed,
            status_code=self.status_code,
            page=judgement.page,
            retry_after=judgement.retry_after,
            detail=judgement.detail,
            trust_violation=judgement.trust_violation,
            ours=self.ours,
        )


class Exchanges:
    """Asks instances, one request at a time each; keeps nothing but the sessions it was given."""

    def __init__(
        self,
        *,
        own: Callable[[], HttpSession],
        public: Callable[[], HttpSession],
        personas: Personas,
        workers: Workers | None,
    ) -> None:
        """Wire the sessions.

        Args:
            own: gives the session for configured instances; alone knows their credentials.
            public: gives the session for public instances.
            personas: the headers for each instance.
            workers: read long answers; threads do unless given.
        """
        self._own = own
        self._public = public
        self._personas = personas
        self._workers = workers

    async def ask(
        self,
        base_url: str,
        url: str,
        reader: Reader[T],
        arguments: Mapping[str, object],
        *,
        own: bool,
        timeout: float,  # noqa: ASYNC109 - the length of one request is the caller's budget
        max_bytes: int,
        honestly: bool = False,
    ) -> Exchange[T]:
        """Ask once and read the answer; whatever goes wrong is a judgement in the result.

        Args:
            base_url: the instance.
            url: what is asked for.
            reader: makes something of the answer.
            arguments: what it is to know besides; JSON.
            own: whether it is a configured instance.
            timeout: seconds until the answer must be there and read.
            max_bytes: decoded bytes read of it.
            honestly: as for `get`.
        """
        loop = asyncio.get_running_loop()
        start = loop.time()
        last_byte: float | None = None
        status: int | None = None
        received: Received | None = None
        ours = False
        result: T | Judgement
        try:
            async with asyncio.timeout_at(start + timeout):
                received = await self.get(
                    base_url,
                    url,
                    own=own,
                    timeout=timeout,
                    max_bytes=max_bytes,
                    honestly=honestly,
                )
                last_byte, status = loop.time(), received.status
                options = options_for(received, arguments)
                result = await read_answer(
                    self._workers,
                    reader,
                    received.body,
                    lambda: options,
                    deadline=start + timeout,
                    here=partial(reader.read, received.body, options),
                )
        except DefeatError:
            result = Judgement(Verdict.MALFORMED, detail="The answer is too much for its reader.")
        except TimeoutError:
            result = Judgement(Verdict.TIMEOUT, detail="There was no complete answer in time.")
        except SearxMcpError as exc:
            status = exc.status_code if isinstance(exc, FetchError) else None
            ours = isinstance(exc, ProxyError)
            verdict = verdict_of(exc)
            result = Judgement(verdict, detail=exc.message)
        except Exception:  # noqa: BLE001 - the one supervisor of an attempt
            # A mistake of ours costs one attempt, never the search; the next instance is asked.
            _log.exception("searxng.attempt_crashed", extra={"instance": base_url})
            result = Judgement(Verdict.MALFORMED, detail="The answer could not be handled.")
        return Exchange(result, (last_byte or loop.time()) - start, status, received, ours)

    async def get(
        self,
        base_url: str,
        url: str,
        *,
        own: bool,
        timeout: float,  # noqa: ASYNC109 - handed on to the session, which bounds connecting
        max_bytes: int,
        honestly: bool = False,
    ) -> Received:
        """Ask once, with the headers that the instance sees from us.

        Args:
            base_url: the instance.
            url: what is asked for.
            own: whether it is a configured instance.
            timeout: seconds for connecting and the headers; the caller bounds the body.
            max_bytes: decoded bytes read of the answer.
            honestly: whether we say who we are whatever the persona: in all that is no search, so that
                an operator finds our name in the log, and can name us in robots.txt.

        Raises:
            SearxMcpError: as `HttpSession.open` and `Reply.read`.
        """
        session = self._own() if own else self._public()
        headers = honest() if honestly else self._personas.headers_for(base_url, own=own)
        async with session.open(url, headers=headers, timeout=timeout) as reply:
            body = await _read_body(reply, max_bytes)
            return Received(
                status=reply.status,
                headers=reply.headers,
                body=body.data,
                url=url,
                truncated=body.truncated,
            )


async def _read_body(reply: Reply, max_bytes: int) -> Body:
    """Read what the status makes worth reading; a failure's body only adds to what it says."""
    if HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST:
        return Body(b"")
    try:
        return await reply.read(max_bytes=max_bytes)
    except FetchError:
        if reply.status < HTTPStatus.BAD_REQUEST:
            raise
        return Body(b"")
