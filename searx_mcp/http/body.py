"""Reads and decodes response bodies within limits.

Pure and synchronous: chunks in, a bounded number of bytes out. We decode ourselves because the HTTP library
passes on stacked and unknown encodings undecoded, and a truncated gzip body without an error.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.models.page import CUT_BY_SIZE

ACCEPT_ENCODING: Final = "gzip, deflate"
"""Encodings that are decoded here, and therefore requested."""

MAX_MEMBERS: Final = 256
"""gzip members of one body. Every member copies the rest of its chunk, so thousands of empty ones cost
quadratic time; a 10 MB page in blocks of 64 KiB, as bgzip writes them, has 160."""

WIRE_ALLOWANCE: Final = 65_536
"""Bytes a body may take on the wire beyond its decoded limit, for headers, names and checksums of the format.
It also stops data that never decodes to anything (empty deflate blocks)."""

PIECE: Final = 1 << 18
"""Decoded bytes after which `feed` yields: about 1 ms of zlib. Decoding a bomb by the megabyte would take half
as much memory again."""

_ZLIB_HEADER: Final = 2  # bytes

NOTE_DEADLINE: Final = "cut off when time ran out"
NOTE_BROKEN: Final = "the connection broke before the end"
NOTE_SIZE: Final = CUT_BY_SIZE
NOTE_ENDED_EARLY: Final = "the compressed data ended early"
NOTE_CORRUPT: Final = "the compressed data is corrupt from here on"
NOTE_MEMBERS: Final = "cut off after too many compressed members"


@dataclass(frozen=True, slots=True)
class Body:
    """A body, as far as it was read.

    Attributes:
        data: the decoded bytes.
        truncated: whether bytes are missing at the end, for any reason.
        wire_bytes: bytes read from the connection, still encoded.
        notes: why it is truncated, as sentences for a person.
    """

    data: bytes
    truncated: bool = False
    wire_bytes: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Response:
    """An answer that was read.

    Attributes:
        status: the HTTP status.
        headers: case-insensitive.
        body: decoded bytes.
        url: the requested address, query included.
        notes: why bytes are missing at the end of the body, as sentences for a person; empty if none are.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    url: str = ""
    notes: tuple[str, ...] = ()

    @property
    def truncated(self) -> bool:
        """Whether bytes are missing at the end of the body."""
        return bool(self.notes)


class BodyBuffer:
    """Collects the chunks of one body, decoded, up to a limit."""

    def __init__(self, content_encoding: Sequence[str], *, max_bytes: int) -> None:
        """Start an empty buffer.

        Args:
            content_encoding: the values of all Content-Encoding headers.
            max_bytes: limit of decoded bytes.

        Raises:
            ContentError: `unsupported_encoding`: stacked encodings, or one that was not requested.
        """
        self._decoder = _decoder(content_encoding)
        self._max_bytes = max_bytes
        self._data = bytearray()
        self._wire_bytes = 0
        self._note = ""

    @property
    def is_closed(self) -> bool:
        """Whether it ignores further chunks."""
        return bool(self._note)

    @property
    def so_far(self) -> bytearray:
        """The data so far; must not be changed."""
        return self._data

    def feed(self, chunk: bytes) -> Iterator[None]:
        """Decode one chunk; stops at the limit, however far the chunk would expand.

        Yields after each `PIECE` of decoded bytes, that is after some milliseconds.
        """
        if self.is_closed:
            return
        room = self._max_bytes + WIRE_ALLOWANCE - self._wire_bytes
        self._wire_bytes += len(chunk)
        try:
            # One byte above the limit distinguishes a body that just fits from one that is cut.
            for piece in self._decoder.decode(chunk[:room], self._max_bytes + 1 - len(self._data)):
                self._data += piece
                if len(piece) >= PIECE:
                    yield
        except zlib.error:
            self._note = NOTE_CORRUPT
        except _TooManyMembersError:
            self._note = NOTE_MEMBERS
        if len(self._data) > self._max_bytes or len(chunk) > room:
            self._note = NOTE_SIZE

    def finish(self, note: str = "") -> Body:
        """Return the collected body.

        Args:
            note: why no more chunks came, if the body did not end.
        """
        note = self._note or note
        if not note and self._wire_bytes and not self._decoder.is_complete:
            note = NOTE_ENDED_EARLY
        del self._data[self._max_bytes :]
        return Body(bytes(self._data), bool(note), self._wire_bytes, (note,) if note else ())


class _TooManyMembersError(Exception):
    """A gzip body has more members than the limit."""


class _Decoder(Protocol):
    @property
    def is_complete(self) -> bool: ...

    def decode(self, chunk: bytes, budget: int) -> Iterator[bytes]:
        """Yield at most `budget` (> 0) decoded bytes, including those before an error.

        No piece is longer than `PIECE`, unless it is the chunk itself.
        """
        ...


class _Identity:
    is_complete = True

    def decode(self, chunk: bytes, budget: int) -> Iterator[bytes]:
        yield chunk[:budget]


class _Gzip:
    """RFC 1952: one or more members; like gzip(1), it ignores anything after them."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._members = 1
        self._has_ended = False

    @property
    def is_complete(self) -> bool:
        return self._member.eof

    def decode(self, chunk: bytes, budget: int) -> Iterator[bytes]:
        while chunk and budget and not self._has_ended:
            if self._member.eof:
                self._start_member(chunk)
            else:
                for piece in _inflated(self._member, chunk, budget):
                    yield piece
                    budget -= len(piece)
                chunk = self._member.unused_data

    def _start_member(self, chunk: bytes) -> None:
        if not chunk.startswith(b"\x1f"):
            self._has_ended = True
        elif self._members == MAX_MEMBERS:
            raise _TooManyMembersError
        else:
            self._member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            self._members += 1


class _Deflate:
    """RFC 9110 8.4.1.2: the zlib format of RFC 1950; some servers send raw RFC 1951 data."""

    def __init__(self) -> None:
        self._head = b""
        self._stream = zlib.decompressobj()

    @property
    def is_complete(self) -> bool:
        return self._stream.eof

    def decode(self, chunk: bytes, budget: int) -> Iterator[bytes]:
        if len(self._head) < _ZLIB_HEADER:
            self._head += chunk
            if len(self._head) < _ZLIB_HEADER:
                return
            chunk = self._head
            if not _has_zlib_header(chunk):
                self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
        if not self._stream.eof:
            yield from _inflated(self._stream, chunk, budget)


def _inflated(stream: "zlib._Decompress", chunk: bytes, budget: int) -> Iterator[bytes]:
    """Decompress up to the end of the chunk, the stream or the budget."""
    is_more = True
    while is_more and budget:
        piece = stream.decompress(chunk, min(budget, PIECE))
        yield piece
        budget -= len(piece)
        chunk = stream.unconsumed_tail
        # A full piece: zlib may hold more output although it has consumed the chunk.
        is_more = bool(chunk) or len(piece) == PIECE


def _has_zlib_header(data: bytes) -> bool:
    # RFC 1950 2.2: method 8 in the low half of the first byte, and a checksum over both bytes.
    return data[0] & 0x0F == 8 and int.from_bytes(data[:_ZLIB_HEADER], "big") % 31 == 0  # noqa: PLR2004 - the RFC's numbers


def _decoder(content_encoding: Sequence[str]) -> _Decoder:
    names = [
        name
        for value in content_encoding
        for part in value.split(",")
        if (name := part.strip().lower()) not in {"", "identity"}
    ]
    match names:
        case []:
            return _Identity()
        case ["gzip" | "x-gzip"]:
            return _Gzip()
        case ["deflate"]:
            return _Deflate()
        case _:
            raise ContentError(
                "The body is compressed in a way that we did not ask for.",
                code=ErrorCode.UNSUPPORTED_ENCODING,
            )
