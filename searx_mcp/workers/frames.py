"""Messages between a process and its parent: a JSON header and a body of bytes.

A frame is the length of the header and the length of the body, four bytes each, big-endian; then the header,
then the body. Both ends refuse anything too long before they allocate memory, since a process that reads
untrusted documents may be compromised.
"""

import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, Final, NamedTuple

from pydantic_core import from_json

from searx_mcp.workers.jobs import MAX_BODY

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
