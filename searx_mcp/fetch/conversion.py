"""Converts fetched bodies to text."""

import asyncio
import logging
import re
from collections.abc import Mapping
from typing import Final

from searx_mcp.content.addresses import pages_of
from searx_mcp.content.config import ContentConfig
from searx_mcp.content.document import Document, from_frame, options_for
from searx_mcp.errors import ContentError
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.workers.failures import DefeatError, broken
from searx_mcp.workers.jobs import Workers

_log = logging.getLogger("searx_mcp.fetch")

_PDF: Final = "application/pdf"
_OF_PDF: Final = frozenset(Document.model_fields)

_MARKUP = re.compile(r"[/+](?:html|xml)\b")
"""Media types whose bodies can become plain text without a parser."""

_TEXT_TIME: Final = 1.5
"""Seconds reserved for plain text: 0.4 to start a process in place of the killed one, 1.1 for two million
characters that are all tags."""

_MIN_TIME: Final = 3.0
"""Seconds that must be left to reserve some: with less, ending early would cost a page on a busy machine
more than it could gain."""


class Conversion:
    """Converts bodies in worker processes, off the event loop."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers

    async def read(
        self, answer: ReceivedPage, *, content: ContentConfig, fragment: str, deadline: float
    ) -> Document:
        """Convert a body to text.

        A page that its parser cannot handle becomes plain text, if there is time left.

        Args:
            answer: the fetched body.
            content: how it is converted.
            fragment: of the address; names the pages of a PDF.
            deadline: loop time by which to return.

        Raises:
            ContentError: the body cannot be read.
            TransportError: `timeout`.
        """
        try:
            if answer.media.read_as == _PDF:
                return await self._pdf(answer, fragment, deadline)
            options = options_for(
                media_type=answer.media.read_as,
                charset=answer.media.charset,
                url=answer.url,
                config=content,
            )
            return await self._page(answer, options, deadline)
        except ContentError as error:
            error.url = error.url or answer.url
            raise

    async def index(self, answer: ReceivedPage, index: str, *, deadline: float) -> Document:
        """Parse a site index: the result is a document without text whose links are the listed pages.

        Args:
            answer: the fetched body.
            index: name of its format.
            deadline: loop time by which to return.

        Raises:
            ContentError: the body is not such an index.
            TransportError: `timeout`.
        """
        return await self._run("index", answer, {"format": index, "url": answer.url}, deadline)

    async def _pdf(self, answer: ReceivedPage, fragment: str, deadline: float) -> Document:
        options = {"pages": pages_of(fragment)}
        found = await self._workers.run("pdf", answer.body.data, options, deadline=deadline)
        return Document.model_validate({name: found[name] for name in _OF_PDF & found.keys()})

    async def _page(
        self, answer: ReceivedPage, options: Mapping[str, object], deadline: float
    ) -> Document:
        left = deadline - asyncio.get_running_loop().time()
        has_spare = left >= _MIN_TIME and _MARKUP.search(answer.media.read_as)
        try:
            reserve = _TEXT_TIME if has_spare else 0.0
            return await self._run("page", answer, options, deadline, reserve=reserve)
        except DefeatError as defeat:
            if not has_spare:
                raise
            _log.warning(
                "fetch.converter_fallback media=%s bytes=%d",
                answer.media.read_as,
                len(answer.body.data),
            )
            try:
                return await self._run("text", answer, options, deadline)
            except ContentError:
                raise defeat from None

    async def _run(
        self,
        job: str,
        answer: ReceivedPage,
        options: Mapping[str, object],
        deadline: float,
        *,
        reserve: float = 0.0,
    ) -> Document:
        found = await self._workers.run(
            job, answer.body.data, options, deadline=deadline, reserve=reserve
        )
        try:
            return from_frame(found)
        except ValueError as exc:
            raise broken() from exc
