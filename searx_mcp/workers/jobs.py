"""Jobs that read strangers' bytes, what runs them away from the event loop, and answers read as jobs."""

import asyncio
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final, Generic, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from searx_mcp.errors import FetchError, TransportError
from searx_mcp.http.body import Response
from searx_mcp.workers.failures import DefeatError, broken, too_complex

A = TypeVar("A")
T = TypeVar("T")

Result = Mapping[str, Any]
"""What a job gives: strings, numbers, lists and mappings of them, as JSON has them."""

Job = Callable[[bytes, Mapping[str, Any]], Result]
"""Pure: takes a body and options. It raises a `ContentError` for a body that cannot be read."""

DANGEROUS: Final = frozenset({"pdf"})
"""Those that can end their process: PDFium takes all the memory there is, and aborts when it is refused
more. A file of 1.6 kB that is packed twice asks for 16.8 GB."""

MAX_BODY: Final = 64 << 20
"""Bytes of a body. A page has 10 MiB at most; the rest is room."""

MAX_RESULT: Final = 32 << 20
"""Bytes of a result as JSON. The text of a page of 10 MiB with every second character escaped fits;
reading 32 MiB of JSON would hold up the event loop for 0.1 s."""


class Workers(Protocol):
    """Runs jobs by name, several at a time, each by its own deadline."""

    async def run(
        self,
        job: str,
        body: bytes,
        options: Mapping[str, object],
        *,
        deadline: float,
        reserve: float = 0.0,
    ) -> Result:
        """Run a job on a body.

        Args:
            job: its name, such as `pdf`.
            body: what it reads.
            options: what it takes besides; JSON.
            deadline: the event loop's time by which to be done, waiting for a turn included.
            reserve: seconds before the deadline at which a job under way is given up, so that the
                caller can still do something else; one that has not begun by then may use them.

        Raises:
            DefeatError: `extraction_failed`; the job failed, crashed, took too long or too much memory.
            ContentError: `content_too_large`; `unsupported_content_type` for a job that needs a
                process where there are none; or what the job raised.
            FetchError: `internal`: no process could be started, or something else killed each;
                `connection_error`: these workers are closed. Another time may work.
            TransportError: `timeout`; the deadline came first.
            ValueError: the options are no JSON, or more than 1 MiB of it.
        """
        ...

    def warm(self) -> None:
        """Get ready for a job that will most likely come; returns at once and never raises.

        Needs a running event loop.
        """
        ...

    async def aclose(self) -> None:
        """End everything that runs, in bounded time; calls under way fail, later ones too."""
        ...


def document_jobs() -> Mapping[str, Job]:
    """Import the jobs that read documents, by name.

    Most of what they need is needed for nothing else, so that only what runs them asks for it.
    """
    from searx_mcp.content.convert import page_job, text_job  # noqa: PLC0415 - see above
    from searx_mcp.content.site_index.job import index_job  # noqa: PLC0415 - see above

    return {"index": index_job, "page": page_job, "pdf": _pdf, "text": text_job}


def _pdf(body: bytes, options: Mapping[str, Any]) -> Result:
    # Its library takes time and memory to load, and most processes never read a PDF.
    from searx_mcp.content import pdf  # noqa: PLC0415 - see above

    return pdf.read(body, options)


MAX_ON_LOOP: Final = 32_768
"""Bytes of an answer that are read on the event loop. So much markup at its worst takes 18 ms."""

MAX_PARTS: Final = 60_000
"""Tags, lists, objects and commas of a longer answer. A parser makes an object of each in one go, and no other
thread runs meanwhile: 700,000 empty lists, 2 MiB, take 0.37 s. The largest page of SearXNG's has 4,000."""
_PARTS: Final = (b"<", b"[", b"{", b",")


class Reader(Generic[A, T]):
    """Makes something of an answer, here or in a job.

    Args:
        name: of the job.
        read: takes an answer and what is to be known besides; pure.
        takes: the type of the latter, which must survive JSON.
        gives: the type of what is made, likewise.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[Response, A], T],
        *,
        takes: Any,  # noqa: ANN401 - as `gives`
        gives: Any,  # noqa: ANN401 - a union is no `type`
    ) -> None:
        self.name = name
        self.read = read
        self._takes = takes
        self._gives = gives

    @cached_property
    def _taken(self) -> TypeAdapter[A]:
        return TypeAdapter(self._takes)

    @cached_property
    def _given(self) -> TypeAdapter[T]:
        return TypeAdapter(self._gives)

    async def read_safely(
        self, response: Response, asked: A, *, workers: Workers | None, deadline: float
    ) -> T:
        """Read an answer where it does no harm.

        Args:
            response: the answer, from a stranger.
            asked: what is to be known besides.
            workers: run the job of a long one; without them it is read in a thread.
            deadline: the event loop's time by which to be done.

        Raises:
            DefeatError: it was too much for its reader.
            TransportError: `timeout`.
        """
        if len(response.body) <= MAX_ON_LOOP:
            return self.read(response, asked)
        if sum(map(response.body.count, _PARTS)) > MAX_PARTS:
            raise too_complex()
        if workers is not None:
            options = self.options(response, asked)
            try:
                result = await workers.run(self.name, response.body, options, deadline=deadline)
                return self.made(result)
            except (DefeatError, TransportError):
                raise
            except FetchError:
                # There is no process, or something else kills each. The guards in front of the parsers bound what this may cost.
                pass
        return await asyncio.to_thread(self.read, response, asked)

    def options(self, response: Response, asked: A) -> Mapping[str, object]:
        """Give the options of the job: the answer without its body, and what is to be known besides."""
        return {
            "status": response.status,
            "headers": dict(response.headers.items()),
            "url": response.url,
            "notes": response.notes,
            "asked": self._taken.dump_python(asked, mode="json"),
        }

    def job(self, body: bytes, options: Mapping[str, Any]) -> Result:
        """Read a body as a job."""
        response = Response(
            options["status"], options["headers"], body, options["url"], tuple(options["notes"])
        )
        answer = self.read(response, self._taken.validate_python(options["asked"]))
        return {"answer": self._given.dump_python(answer, mode="json")}

    def made(self, result: Result) -> T:
        """Take what a job has made.

        Raises:
            DefeatError: it is none of what it should be.
        """
        try:
            return self._given.validate_python(result.get("answer"))
        except ValidationError as exc:
            raise broken() from exc
