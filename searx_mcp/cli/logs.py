"""The log of a command: lines on standard error, one per event, that no stranger can forge.

A line is `time LEVEL event call=N name=value …`. What a stranger chose is quoted where it could pass
for a field or a line of its own, cut, and freed of secrets. Standard error is written by a thread: a
host that does not read it must not stop a server.
"""

import json
import logging
import os
import queue
import re
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import override

if TYPE_CHECKING:
    from pydantic import BaseModel

OURS: Final = "searx_mcp"
_STDERR: Final = 2
_LINES: Final = 1_000
"""Lines that wait to be written; further ones are counted and dropped."""
_PATIENCE: Final = 0.5
"""Seconds that the end of the command waits for its last lines to be read."""
_LONGEST: Final = 2_000
"""Characters of a value that are written."""
_LEAST_SECRET: Final = 6
"""Characters from which on a value is looked for; a shorter one would be found in words."""

_PLAIN = re.compile(r"[^\s\"'=\\]+")
_UNSHOWN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""What ends a line, moves a cursor, or turns a line around."""
_PASSWORD = re.compile(r"://[^\s/:@]{0,500}:([^\s/]{1,500})@")
"""In an address of a proxy, an instance or a store."""
_SECRETS = (
    (re.compile(r"://[^\s/\"'<>]{1,500}@"), "://…@"),
    (re.compile(r"(?i)\b(bearer|basic)\s{1,3}[\w.~+/=-]+"), r"\1 …"),
    (
        re.compile(
            r"(?i)((?:key|token|secret|password|passwd|pwd|authorization|cookie|signature)"
            r"(?:\\?[\"'])?\s{0,3}[=:]\s{0,3}(?:\\?[\"'])?)[^\s&\"'\\,;}]+"
        ),
        r"\1…",
    ),
    (re.compile(r"(?i)(session(?: id)?:? )[0-9a-f]{32}"), r"\1…"),
)


def configure(level: str) -> None:
    """Send the log to standard error, unless a program that runs this command has set up its own.

    Libraries are heard from WARNING on; below DEBUG only where they speak: what they say may hold a query.

    Args:
        level: from which on events of ours are written.
    """
    root = logging.getLogger()
    if root.handlers:
        return
    handler = StderrHandler()
    handler.setFormatter(LineFormatter(shows_messages=level == "DEBUG"))
    root.addHandler(handler)
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[level]))
    logging.getLogger(OURS).setLevel(level)
    logging.captureWarnings(capture=True)


def share_terminal(aside: Callable[[], AbstractContextManager[None]]) -> None:
    """Write each line within `aside`, which makes way for it."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, StderrHandler):
            handler.aside = aside


def hide(settings: "BaseModel") -> None:
    """Let no secret of these settings be written from now on."""
    found = {text for text in _secrets_of(settings) if len(text) >= _LEAST_SECRET}
    as_json = {json.dumps(text, ensure_ascii=False)[1:-1] for text in found}
    secrets = sorted(found | as_json, key=len, reverse=True)  # one may hold another
    for handler in logging.getLogger().handlers:
        if secrets and isinstance(handler.formatter, LineFormatter):
            handler.formatter.secrets = re.compile("|".join(map(re.escape, secrets)))


def _secrets_of(value: object) -> Iterator[str]:
    from urllib.parse import quote, unquote  # noqa: PLC0415 - help needs none of these

    from pydantic import BaseModel, SecretStr  # noqa: PLC0415 - as above

    match value:
        case SecretStr():
            yield value.get_secret_value()
            yield from _secrets_of(value.get_secret_value())
        case str() if found := _PASSWORD.search(value):
            yield found[1]
            yield unquote(found[1])
        case BaseModel():
            for name in value.model_fields_set:  # no default is a secret
                yield from _secrets_of(getattr(value, name))
        case object(password=str(password)):  # of a proxy
            yield password
            yield quote(password, safe="")
        case dict():
            for item in value.values():
                yield from _secrets_of(item)
        case list() | tuple():
            for item in value:
                yield from _secrets_of(item)
        case _:
            pass


class LineFormatter(logging.Formatter):
    """Writes an event as a line.

    Args:
        shows_messages: whether to show what exceptions and libraries say; it may hold a query.

    Attributes:
        secrets: finds what must not be written.
    """

    def __init__(self, *, shows_messages: bool) -> None:
        super().__init__()
        self._shows_messages = shows_messages
        self.secrets: re.Pattern[str] | None = None

    @override
    def format(self, record: logging.LogRecord) -> str:
        """The line, and below it, each behind four blanks, the lines of a traceback."""
        from searx_mcp.server.events import call_number  # noqa: PLC0415 - few commands log anything

        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        event, fields = self._event(record)
        if (number := call_number()) is not None:
            event += f" call={number}"
        line = f"{at}.{int(record.msecs):03}Z {record.levelname} {event}{fields}"
        trace = self._trace(record.exc_info[1]) if record.exc_info else []
        return "\n    ".join(escaped(self._redacted(text)) for text in (line, *trace))

    def _event(self, record: logging.LogRecord) -> tuple[str, str]:
        """The name of the event of a record and its fields, which begin with a blank."""
        if record.name.partition(".")[0] != OURS:
            fields = f" logger={quoted(record.name)} at={quoted(record.filename)}:{record.lineno}"
            if self._shows_messages:
                fields += f" text={self._value(_message(record))}"
            return "library.message", fields
        args = record.args if isinstance(record.args, tuple) else ()
        text = str(record.msg) % tuple(map(self._value, args))
        event, blank, fields = text.partition(" ")
        return event, blank + fields

    def _value(self, value: object) -> Any:  # noqa: ANN401 - as of quoted()
        """A value without secrets, which neither quotes nor the cut may hide from what finds them."""
        if value is None or isinstance(value, int | float):
            return quoted(value)
        return quoted(self._redacted(str(value)[: 2 * _LONGEST]))

    def _trace(self, error: BaseException | None) -> list[str]:
        if error is None:
            return []
        if self._shows_messages:
            lines = "".join(traceback.format_exception(error)).splitlines()
            return [text[:_LONGEST] for text in lines]
        return [*_places(error, set())]

    def _redacted(self, text: str) -> str:
        if self.secrets is not None:
            text = self.secrets.sub("…", text)
        for pattern, replacement in _SECRETS:
            text = pattern.sub(replacement, text)
        return text


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # its values do not fit its text
        return str(record.msg)


def quoted(value: object) -> Any:  # noqa: ANN401 - numbers stay what they are, for their format
    """Write a value as a field has it: a number or a word as it is, all else in quotes, cut."""
    if isinstance(value, int | float):
        return value
    text = "-" if value is None else str(value)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def escaped(text: str) -> str:
    r"""Write what is no letter, sign or blank as `\x1b` or `\u202e`."""
    return _UNSHOWN.sub(lambda found: ascii(found[0])[1:-1], text)


def _places(error: BaseException, seen: set[int]) -> Iterator[str]:
    """The types of an exception and of those behind it, each with the places it came through."""
    seen.add(id(error))
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and id(cause) not in seen:
        yield from _places(cause, seen)
    yield type(error).__name__
    for frame in traceback.extract_tb(error.__traceback__):
        yield f"{frame.filename}:{frame.lineno} {frame.name}"
    if isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from _places(part, seen)


class StderrHandler(logging.Handler):
    """Writes lines to standard error from a thread, so that an unread pipe blocks nothing else.

    Attributes:
        aside: makes way for a line, for the length of the block.
    """

    def __init__(self) -> None:
        super().__init__()
        self.aside: Callable[[], AbstractContextManager[None]] = nullcontext
        self._queue: queue.Queue[bytes | threading.Event] = queue.Queue(_LINES)
        self._thread: threading.Thread | None = None
        self._dropped = 0

    @override
    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, name="searx-mcp log", daemon=True)
            self._thread.start()
        if self._dropped:
            line = f"{line}\n    {self._dropped} lines before this one had no room"
        try:
            self._queue.put_nowait(f"{line}\n".encode("utf-8", "backslashreplace"))
        except queue.Full:
            self._dropped += 1
        else:
            self._dropped = 0

    @override
    def flush(self) -> None:
        """Wait until the lines so far have been written, but not for long."""
        written = threading.Event()
        if self._thread is not None:
            try:
                self._queue.put(written, timeout=_PATIENCE)
            except queue.Full:
                return
            written.wait(_PATIENCE)

    def _write(self) -> None:
        while True:
            item = self._queue.get()
            if isinstance(item, threading.Event):
                item.set()
                continue
            with self.aside():
                self._write_out(item)

    @staticmethod
    def _write_out(line: bytes) -> None:
        while line:
            try:
                line = line[os.write(_STDERR, line) :]
            except BlockingIOError:  # the other end made the pipe so
                time.sleep(_PATIENCE)
            except OSError:
                break
