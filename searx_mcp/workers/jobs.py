"""Jobs that read untrusted bytes, how they run off the event loop, and the frames they travel in.

A frame is the length of the header and the length of the body, four bytes each, big-endian; then the header,
a JSON object; then the body. Both ends refuse anything too long before they allocate memory, since a process
that reads untrusted documents may be compromised.
"""

import asyncio
import json
import struct
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, BinaryIO, Final, Generic, NamedTuple, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from searx_mcp.errors import FetchError, TransportError
from searx_mcp.http.body import Response
from searx_mcp.workers.failures import DefeatError, broken, too_complex

A = TypeVar("A")
T = TypeVar("T")

Result = Mapping[str, Any]
"""The result of a job: strings, numbers, lists and mappings of them, as in JSON."""

Job = Callable[[bytes, Mapping[str, Any]], Result]
"""Pure: takes a body and options. Raises a `ContentError` for a body that cannot be read."""

DANGEROUS: Final = frozenset({"pdf"})
"""Jobs that can end their process: PDFium takes all available memory, and aborts when more is refused. A
doubly compressed file of 1.6 kB asks for 16.8 GB."""

MAX_BODY: Final = 64 << 20
"""Maximum bytes of a body. A page has 10 MiB at most; the rest is a margin."""

MAX_RESULT: Final = 32 << 20
"""Maximum bytes of a result as JSON. The text of a page of 10 MiB with every second character escaped fits;
reading 32 MiB of JSON would block the event loop for 0.1 s."""


class Workers(Protocol):
    """Runs jobs by name, several at a time, each with its own deadline."""

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
            body: its input.
            options: further input; JSON.
            deadline: loop time by which to be done, including waiting for a turn.
            reserve: seconds before the deadline at which a running job is cancelled, so that the caller can
                still do something else; a job that has not started by then may use them.

        Raises:
            DefeatError: `extraction_failed`; the job failed, crashed, took too long or too much memory.
            ContentError: `content_too_large`; `unsupported_content_type` for a job that needs a process if
                there are none; or the job's own error.
            FetchError: `internal`: no process could be started, or something else killed each;
                `connection_error`: these workers are closed. A later try may work.
            TransportError: `timeout`; the deadline came first.
            ValueError: the options are not JSON, or more than 1 MiB of it.
        """
        ...

    def warm(self) -> None:
        """Prepare for a job that is likely to come; returns at once and never raises.

        Needs a running event loop.
        """
        ...

    async def aclose(self) -> None:
        """End everything that runs, in bounded time; calls in progress fail, later ones too."""
        ...


def document_jobs() -> Mapping[str, Job]:
    """Import the jobs that read documents, by name.

    Most of the modules they need are used by nothing else, so only processes that run jobs import them.
    """
    from searx_mcp.content.convert import page_job, text_job  # noqa: PLC0415 - see above
    from searx_mcp.content.site_index.discovery import index_job  # noqa: PLC0415 - see above

    return {"index": index_job, "page": page_job, "pdf": _pdf, "text": text_job}


def _pdf(body: bytes, options: Mapping[str, Any]) -> Result:
    # Its library takes time and memory to load, and most processes never read a PDF.
    from searx_mcp.content import pdf  # noqa: PLC0415 - see above

    return pdf.read(body, options)


MAX_ON_LOOP: Final = 32_768
"""Maximum bytes of an answer that is parsed on the event loop. In the worst case, this takes 18 ms."""

MAX_PARTS: Final = 60_000
"""Maximum tags, lists, objects and commas of a longer answer. A parser creates an object for each without
releasing the interpreter: 700,000 empty lists, 2 MiB, take 0.37 s. SearXNG's largest page has 4,000."""
_PARTS: Final = (b"<", b"[", b"{", b",")


class Reader(Generic[A, T]):
    """Parses an answer, here or in a job.

    Args:
        name: of the job.
        read: takes an answer and additional input; pure.
        takes: type of the additional input, which must survive JSON.
        gives: type of the result, likewise.
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
        """Parse an answer where it does no harm.

        Args:
            response: the untrusted answer.
            asked: additional input.
            workers: run the job for a long answer; without them it is parsed in a thread.
            deadline: loop time by which to be done.

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
                # There is no process, or something else kills each. The guards before the parsers limit the
                # cost.
                pass
        return await asyncio.to_thread(self.read, response, asked)

    def options(self, response: Response, asked: A) -> Mapping[str, object]:
        """Return the options of the job: the answer without its body, and the additional input."""
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
        """Parse the result of a job.

        Raises:
            DefeatError: it has the wrong form.
        """
        try:
            return self._given.validate_python(result.get("answer"))
        except ValidationError as exc:
            raise broken() from exc


MAX_HEADER: Final = 1 << 20
"""Maximum bytes of a header: options, or an error."""

_LENGTHS: Final = struct.Struct(">II")


class FrameError(ValueError):
    """The other end violates the protocol, or a message does not fit into a frame."""


class Frame(NamedTuple):
    """One message."""

    header: Mapping[str, Any]
    body: bytes


def encode_head(header: Mapping[str, object], body_length: int) -> bytes:
    """Encode everything before a body.

    Raises:
        FrameError: the header is not JSON, or header or body is too long.
    """
    try:
        text = json.dumps(header).encode()
    except (TypeError, ValueError, RecursionError) as exc:
        raise FrameError("the header is no JSON") from exc
    _check(len(text), body_length)
    return _LENGTHS.pack(len(text), body_length) + text


def read_frame(stream: BinaryIO) -> Frame | None:
    """Return the next frame of a blocking stream, or `None` at its end, even inside a frame.

    Raises:
        FrameError: the bytes are not a frame.
    """
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    header_length, body_length = _LENGTHS.unpack(lengths)
    _check(header_length, body_length)
    header = stream.read(header_length)
    body = stream.read(body_length)
    if len(header) < header_length or len(body) < body_length:
        return None
    return Frame(decode_header(header), body)


class FrameReader:
    """Assembles frames from the pieces in which they arrive.

    Args:
        max_body: maximum bytes of a body.
    """

    def __init__(self, max_body: int = MAX_BODY) -> None:
        self._max_body = max_body
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Take the next bytes, and yield the frames that are complete now.

        Raises:
            FrameError: the bytes are not a frame; nothing more can be read then.
        """
        self._buffer += data
        while len(self._buffer) >= _LENGTHS.size:
            header_length, body_length = _LENGTHS.unpack_from(self._buffer)
            _check(header_length, body_length, self._max_body)
            body_start = _LENGTHS.size + header_length
            end = body_start + body_length
            if len(self._buffer) < end:
                return
            with memoryview(self._buffer) as view:
                header = bytes(view[_LENGTHS.size : body_start])
                body = bytes(view[body_start:end])
            del self._buffer[:end]
            yield Frame(decode_header(header), body)


def decode_header(text: bytes) -> Mapping[str, Any]:
    """Parse a JSON object; a string in it may have lone surrogates.

    Raises:
        FrameError: it is not one.
    """
    try:
        return _object(json.loads(text))
    except (ValueError, RecursionError) as exc:
        raise FrameError("no JSON") from exc


def decode_result(text: bytes) -> Mapping[str, Any]:
    """Parse a JSON object in which every string can be encoded.

    Raises:
        FrameError: it is not one.
    """
    try:
        # Unlike `json.loads` it refuses lone surrogates, and it is as fast.
        return _object(from_json(text, allow_inf_nan=False))
    except ValueError as exc:
        raise FrameError("no JSON") from exc


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise FrameError("no JSON object")
    return value


def _check(header_length: int, body_length: int, max_body: int = MAX_BODY) -> None:
    if header_length > MAX_HEADER or body_length > max_body:
        raise FrameError(f"a frame of {header_length} and {body_length} bytes is too long")
