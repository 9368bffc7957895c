"""Limits how much of a connection's data the HTTP library parses in one turn of the event loop.

A transport reads 256 KiB or more at a time, and the library parses all of it at once: ten thousand interim
answers, or forty thousand chunks of one byte, in a sixth of a second.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import RawResponseMessage
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.streams import StreamReader
from typing_extensions import override

MAX_INTERIM: Final = 8
"""Interim answers (1xx) to one request; a site that sends early hints sends one or two."""

LINES_A_TURN: Final = 256
"""Lines parsed in one turn; a head or a chunk has at least two. Measured: eight connections with chunks of one
byte, the slowest case, take 7 ms of the 25 ms allowed for one turn (`benchmarks.flood`)."""

BYTES_A_TURN: Final = 65_536
"""Bytes parsed in one turn. Measured: eight connections with chunk extensions, the slowest, take 6 ms."""

READ_BUFFER: Final = 65_536
"""Bytes of a body buffered for its reader. Twice as many pause the connection, and so do 4,096 chunks (a
sixteenth): the library keeps some 90 bytes for each."""

_SWITCHING: Final = 101
_FINAL: Final = 200


class UnaskedAnswerError(HttpProcessingError):
    """A host sends more answers than requests, or wants to switch protocols."""


class PacedHandler(ResponseHandler):
    """One connection: received data is parsed in pieces, one in each turn of the event loop.

    The transport is paused while there is data left to parse. Any answer beyond the requested one and
    `MAX_INTERIM` interim ones closes the connection, even while it waits for its next request.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._unparsed = b""
        self._position = 0
        self._next_turn: asyncio.Handle | None = None
        self._is_full = False
        self._tell_loss: Callable[[], None] | None = None
        self._interim = 0
        self._is_answered = False

    @property
    @override
    def should_close(self) -> bool:
        """Whether the connection can take no further request."""
        return self._position < len(self._unparsed) or super().should_close

    @override
    def set_response_params(self, **params: Any) -> None:
        """Expect an answer to one more request."""
        self._interim = 0
        self._is_answered = False
        super().set_response_params(**params)

    @override
    def data_received(self, data: bytes) -> None:
        """Take received data; without data, let the parser continue with what it has buffered."""
        if not data:
            super().data_received(data)
            return
        self._unparsed = self._unparsed[self._position :] + data
        self._position = 0
        if self._next_turn is None:
            self._take_turn()
        if self._unparsed and self.transport is not None:
            self.transport.pause_reading()

    @override
    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Take the head of an answer."""
        status = data[0].code
        is_final = status >= _FINAL
        self._interim += not is_final
        if self._is_answered or self._interim > MAX_INTERIM or status == _SWITCHING:
            self._refuse()
        else:
            self._is_answered = is_final
            super().feed_data(data, size)

    @override
    def pause_reading(self) -> None:
        """Stop parsing until the reader of the body has caught up."""
        self._is_full = True
        super().pause_reading()

    @override
    def resume_reading(self, resume_parser: bool = True) -> None:
        """Resume; the transport reads again when everything is parsed."""
        self._is_full = False
        if self._unparsed:
            self._go_on()
        else:
            super().resume_reading(resume_parser)

    @override
    def connection_lost(self, exc: BaseException | None) -> None:
        """Handle the end of the connection, after the data that arrived before it."""
        if self._unparsed:
            self._tell_loss = partial(super().connection_lost, exc)
        else:
            super().connection_lost(exc)

    @override
    def close(self) -> None:
        """Close the connection."""
        super().close()
        self._have_parsed()

    @override
    def abort(self) -> None:
        """Close the connection without flushing."""
        super().abort()
        self._have_parsed()

    def _go_on(self) -> None:
        if self._next_turn is None:
            self._next_turn = self._loop.call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._next_turn = None
        start = self._position
        self._position = _end_of_piece(self._unparsed, start)
        super().data_received(self._unparsed[start : self._position])
        if self._position == len(self._unparsed) or self.exception() is not None:
            self._have_parsed()
        elif not self._is_full:
            self._go_on()

    def _have_parsed(self) -> None:
        """Drop the received data: it is parsed, or no longer needed."""
        self._unparsed = b""
        self._position = 0
        if self._next_turn is not None:
            self._next_turn.cancel()
            self._next_turn = None
        if self._tell_loss is not None:
            self._tell_loss()
            self._tell_loss = None
        elif not self._is_full:
            super().resume_reading(resume_parser=False)

    def _refuse(self) -> None:
        if self.exception() is None:
            self.set_exception(UnaskedAnswerError(message="more answers than requests"))
        if self.transport is not None:
            self.transport.close()


class PacedConnector(aiohttp.TCPConnector):
    """Opens connections that are parsed at this pace; options as in its base class."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - the library's
        super().__init__(**options)
        self._factory = partial(self._handler)

    def _handler(self) -> ResponseHandler:
        return PacedHandler(self._loop)


def _end_of_piece(data: bytes, start: int) -> int:
    """Return where the piece from `start` ends: after a number of lines or bytes, or with the data."""
    end = min(start + BYTES_A_TURN, len(data))
    for _ in range(LINES_A_TURN):
        start = data.find(b"\n", start, end) + 1
        if not start:
            return end
    return start
