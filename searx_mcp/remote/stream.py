"""Server-sent events of a service of ours: the progress of a call, then its result or its error.

Only services of ours are asked for them. They end lines with a line feed and write the JSON of an event in one
line, as `searx_mcp.server.rest.stream` writes them.
"""

from typing import Any, Final

import pydantic_core

from searx_mcp.content.clean import clean_line
from searx_mcp.models.service import Progress
from searx_mcp.remote import errors
from searx_mcp.remote.words import progress_of

EVENTS: Final = "text/event-stream"

_END: Final = b"\n\n"
_PROGRESS: Final = b"event: progress\ndata: "
_RESULT: Final = b"event: result\ndata: "
_ERROR: Final = b"event: error\ndata: "
_MOST: Final = 1_000
"""Most events read from one call; a call that reads fifty pages sends some two hundred."""
_LONGEST: Final = 2_000
"""Most bytes of a progress event."""
_SENTENCE_CHARS: Final = 200


class Events:
    """Passes the progress of a call on while its answer arrives, and finds the last event in the whole of it.

    Args:
        progress: is told each message, in words of ours.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._begin = 0
        self._searched = 0
        self._left = _MOST

    def __call__(self, body: bytearray) -> None:
        """Read the events that have arrived; each byte is read once, and none behind the last event that counts.

        Args:
            body: from its beginning.
        """
        while self._left and (end := body.find(_END, self._searched)) >= 0:
            self._left -= 1
            if end - self._begin < _LONGEST:
                self._tell(bytes(body[self._begin : end]))
            self._begin = self._searched = end + len(_END)
        self._searched = max(self._searched, len(body) - 1)

    def _tell(self, event: bytes) -> None:
        if not event.startswith(_PROGRESS):
            return
        try:
            told: Any = pydantic_core.from_json(event[len(_PROGRESS) :])
        except ValueError:
            return
        message = told.get("message") if isinstance(told, dict) else None
        if isinstance(message, str) and (line := clean_line(message, _SENTENCE_CHARS)):
            self._progress(progress_of(line))


def last_event(body: bytes) -> tuple[bool, bytes]:
    """Find the event that ends an answer.

    Returns:
        Whether it is a result, and its JSON.

    Raises:
        SearxMcpError: there is none.
    """
    if body.endswith(_END):
        before = body.rfind(_END, 0, -len(_END))
        event = body[before + len(_END) if before >= 0 else 0 : -len(_END)]
        for head in (_RESULT, _ERROR):
            if event.startswith(head):
                return head == _RESULT, event[len(head) :]
    raise errors.unreadable("ends without a result")
