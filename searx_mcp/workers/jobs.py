"""Jobs that read strangers' bytes, what runs them away from the event loop, and answers read as jobs."""

import asyncio
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final, Generic, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from searx_mcp.errors import ContentError
from searx_mcp.workers.failures import DefeatError, broken

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
                process where there are none; what the job raised; or `extraction_failed`: no process
                could be started, or these workers are closed.
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

    return {"page": page_job, "pdf": _pdf, "text": text_job}


def _pdf(body: bytes, options: Mapping[str, Any]) -> Result:
    # Its library takes time and memory to load, and most processes never read a PDF.
    from searx_mcp.content import pdf  # noqa: PLC0415 - see above

    return pdf.read(body, options)


MAX_ON_LOOP: Final = 32_768
"""Bytes of an answer that are read on the event loop. So much markup at its worst takes 18 ms."""


class Reader(Generic[T]):
    """Makes something of an answer, here or in a job.

    Args:
        name: of the job.
        read: takes a body and options of JSON; pure.
        kind: the type of what it gives, which must survive JSON.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[bytes, Mapping[str, Any]], T],
        kind: Any,  # noqa: ANN401 - a union is no `type`
    ) -> None:
        self.name = name
        self.read = read
        self._kind = kind

    @cached_property
    def _adapter(self) -> TypeAdapter[T]:
        return TypeAdapter(self._kind)

    def job(self, body: bytes, options: Mapping[str, Any]) -> Result:
        """Read a body as a job."""
        return {"answer": self._adapter.dump_python(self.read(body, options), mode="json")}

    def answer(self, result: Result) -> T:
        """Take what a job has made.

        Raises:
            DefeatError: it is none of what it should be.
        """
        try:
            return self._adapter.validate_python(result.get("answer"))
        except ValidationError as exc:
            raise broken() from exc


async def read_answer(
    workers: Workers | None,
    reader: Reader[T],
    body: bytes,
    options: Callable[[], Mapping[str, object]],
    *,
    deadline: float,
    here: Callable[[], T],
) -> T:
    """Read an answer where it does no harm.

    Args:
        workers: run the job of a long one; without them it is read in a thread.
        reader: what is done.
        body: the answer; whoever wrote it.
        options: gives those of the reader.
        deadline: the event loop's time by which to be done.
        here: does what the reader does without a job.

    Raises:
        DefeatError: it was too much for its reader.
        TransportError: `timeout`.
    """
    if len(body) <= MAX_ON_LOOP:
        return here()
    if workers is not None:
        try:
            return reader.answer(await workers.run(reader.name, body, options(), deadline=deadline))
        except DefeatError:
            raise
        except ContentError:
            # No process can be started. The guards in front of the parsers bound what this may cost.
            pass
    return await asyncio.to_thread(here)
