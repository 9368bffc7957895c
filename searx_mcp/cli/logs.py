"""The log of a command: lines on standard error, one per event, that untrusted text cannot forge.

A line is `time LEVEL event call=N name=value …`. Untrusted values are quoted if they could be taken for a
field or a line, shortened, and stripped of secrets. A thread writes to standard error: a host that does not
read it must not block a server.
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
"""Maximum lines that wait to be written; more are counted and dropped."""
_PATIENCE: Final = 0.5
"""Seconds that the end of the command waits for its last lines to be read."""
_GATHERING: Final = 0.01
"""Seconds in which further lines wait for each other: to wake the thread for one costs more than to write it."""
_LONGEST: Final = 2_000
"""Maximum characters of a value."""
_LEAST_SECRET: Final = 6
"""Minimum characters of a secret that is masked; a shorter one would match inside words."""

_PLAIN = re.compile(r"[^\s\"'=\\]+")
_UNSHOWN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""Characters that end a line, move the cursor, or reverse the text direction."""
_PASSWORD = re.compile(r"://[^\s/:@]{0,500}:([^\s/]{1,500})@")
"""Credentials in the address of a proxy, an instance or a store."""
_NAMED = (
    *("key", "token", "secret", "password", "passwd", "pwd"),
    *("authorization", "cookie", "signature"),
)
_SECRETS = (
    (("@",), re.compile(r"://[^\s/\"'<>]{1,500}@"), "://…@"),
    (("bearer", "basic"), re.compile(r"(?i)\b(bearer|basic)\s{1,3}[\w.~+/=-]+"), r"\1 …"),
    (
        _NAMED,
        re.compile(
            rf"(?i)((?:{'|'.join(_NAMED)})"
            r"(?:\\?[\"'])?\s{0,3}[=:]\s{0,3}(?:\\?[\"'])?)[^\s&\"'\\,;}]+"
        ),
        r"\1…",
    ),
    (("session",), re.compile(r"(?i)(session(?: id)?:? )[0-9a-f]{32}"), r"\1…"),
)
"""Each with words of which an ASCII text must have one: they are looked up ten times as fast as it is matched. Other
texts are always matched, since letters such as the dotless i match without case."""


def configure(level: str) -> None:
    """Send the log to standard error, unless a program that runs this command has configured logging.

    Libraries log from WARNING on; unless the level is DEBUG, only where their messages come from is shown:
    the messages may contain a query.

    Args:
        level: lowest level of our own events.
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
    """Write each line within `aside`, which hides what else is on the terminal."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, StderrHandler):
            handler.aside = aside


def leave_out(event: str) -> None:
    """Write no lines of an event, as the command reports it itself."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, StderrHandler):
            handler.addFilter(lambda record: not str(record.msg).startswith(event))


def hide(settings: "BaseModel") -> None:
    """Mask the secrets of these settings from now on."""
    found = {text for text in _secrets_of(settings) if len(text) >= _LEAST_SECRET}
    as_json = {json.dumps(text, ensure_ascii=False)[1:-1] for text in found}
    secrets = sorted(found | as_json, key=len, reverse=True)  # one may contain another
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
            for name in value.model_fields_set:  # defaults are not secrets
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
    """Formats an event as a line.

    Args:
        shows_messages: whether to show messages of exceptions and libraries, which may contain a query.

    Attributes:
        secrets: matches what must not be written.
    """

    def __init__(self, *, shows_messages: bool) -> None:
        super().__init__()
        self._shows_messages = shows_messages
        self.secrets: re.Pattern[str] | None = None

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Return the line, followed by the lines of a traceback, each indented by four spaces."""
        from searx_mcp.server.events import call_number  # noqa: PLC0415 - few commands log anything

        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        event, fields = self._event(record)
        if (number := call_number()) is not None:
            event += f" call={number}"
        line = f"{at}.{int(record.msecs):03}Z {record.levelname} {event}{fields}"
        trace = self._trace(record.exc_info[1]) if record.exc_info else []
        return "\n    ".join(escaped(self._redacted(text)) for text in (line, *trace))

    def _event(self, record: logging.LogRecord) -> tuple[str, str]:
        """Return the name of a record's event and its fields, which begin with a space."""
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
        """Return a value without secrets; masking comes before quoting and cutting, which could hide them."""
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
        plain = text.lower() if text.isascii() else ""
        for words, pattern, replacement in _SECRETS:
            if not plain or any(word in plain for word in words):
                text = pattern.sub(replacement, text)
        return text


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # its values do not fit its text
        return str(record.msg)


def quoted(value: object) -> Any:  # noqa: ANN401 - numbers stay what they are, for their format
    """Format a value for a field: a number or a word as it is, anything else quoted and cut."""
    if isinstance(value, int | float):
        return value
    text = "-" if value is None else str(value)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def escaped(text: str) -> str:
    r"""Escape everything but letters, punctuation and spaces as `\x1b` or `\u202e`."""
    return _UNSHOWN.sub(lambda found: ascii(found[0])[1:-1], text)


def _places(error: BaseException, seen: set[int]) -> Iterator[str]:
    """Yield the types of an exception and of its causes, each with its code locations."""
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
        aside: context that hides what else is on the terminal while a line is written.
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
        """Wait briefly until the lines so far have been written."""
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
            if self._queue.empty():
                time.sleep(_GATHERING)

    @staticmethod
    def _write_out(line: bytes) -> None:
        while line:
            try:
                line = line[os.write(_STDERR, line) :]
            except BlockingIOError:  # the other end made the pipe non-blocking
                time.sleep(_PATIENCE)
            except OSError:
                break
