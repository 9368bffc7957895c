"""Sites that send more heads, fields and chunks than any answer needs, as fast as they are read.

    python -m benchmarks.flood_site

It prints its port and ends when its standard input does. The path of a request names the flood.
"""

import socketserver
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from typing_extensions import override

_BLOCK: Final = 1 << 18
"""Bytes sent at a time: what asyncio reads at a time."""

_OK: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
_CHUNKED: Final = _OK + b"Transfer-Encoding: chunked\r\n\r\n"
_LENGTH: Final = 1 << 30

MALFORMED, TRUNCATED, WHOLE = "malformed_response", "truncated", "whole"


@dataclass(frozen=True, slots=True)
class Flood:
    """An answer that begins, and then goes on and on.

    Attributes:
        outcome: what must become of a request for it: an error's code, or how much of a body came.
        begin: sent once.
        again: sent over and over.
    """

    outcome: str
    begin: bytes
    again: bytes


FLOODS: Final[Mapping[str, Flood]] = {
    "100 Continue": Flood(MALFORMED, b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "103 with fields": Flood(
        MALFORMED, b"", b"HTTP/1.1 103 Early Hints\r\n" + b"Link: </a>\r\n" * 100 + b"\r\n"
    ),
    "fields of a head": Flood(MALFORMED, _OK, b"X: y\r\n"),
    "one endless field": Flood(MALFORMED, _OK + b"X: ", b"y"),
    "chunks of one byte": Flood(TRUNCATED, _CHUNKED, b"1\r\na\r\n"),
    "chunks of two bytes": Flood(TRUNCATED, _CHUNKED, b"2\r\nab\r\n"),
    "one endless chunk extension": Flood("timeout", _CHUNKED + b"1;a=", b"b"),
    "trailers": Flood(MALFORMED, _CHUNKED + b"2\r\nab\r\n0\r\n", b"X: y\r\n"),
    "answers after the answer": Flood(
        WHOLE,
        _OK + b"Content-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ),
    "empty lines": Flood("timeout", b"", b"\r\n"),
    "a body of empty lines": Flood(TRUNCATED, _OK + b"Content-Length: %d\r\n\r\n" % _LENGTH, b"\n"),
    "a body of long lines": Flood(
        TRUNCATED, _OK + b"Content-Length: %d\r\n\r\n" % _LENGTH, b"a" * 4_000 + b"\n"
    ),
}


class _Site(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    @override
    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that leave: all of them do, in the middle."""


class _Answer(socketserver.StreamRequestHandler):
    @override
    def handle(self) -> None:
        path = self.rfile.readline().split(b" ")[1].decode()
        while self.rfile.readline().strip():
            pass
        flood = FLOODS[unquote(path).removeprefix("/")]
        block = flood.again * (_BLOCK // len(flood.again))
        self.request.sendall(flood.begin + block)
        while True:
            self.request.sendall(block)


def _main() -> None:
    with _Site(("127.0.0.1", 0), _Answer) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        print(site.server_address[1], flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    _main()
