"""Events for the log and for the listeners of a call: counters, traces.

An event is one line of the log: a name and fields, such as `fetch.cache_hit age_s=%d kind=%s`.
`docs/reference/log.md` lists them. Listeners get every event, whatever the level of the log.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from typing_extensions import override


class Listener(Protocol):
    """Receives events; it must return at once and must not raise."""

    def __call__(self, event: str, fields: Mapping[str, Any], /) -> None:
        """Receive one event."""
        ...


_LISTENERS: ContextVar[tuple[Listener, ...]] = ContextVar("searx_mcp.listeners", default=())


@contextmanager
def heard_by(listeners: tuple[Listener, ...]) -> Iterator[None]:
    """Send every event of the block, and of the tasks that it starts, to listeners.

    Args:
        listeners: replace those outside the block.
    """
    token = _LISTENERS.set(listeners)
    try:
        yield
    finally:
        _LISTENERS.reset(token)


if TYPE_CHECKING:
    _Adapter = logging.LoggerAdapter[logging.Logger]
else:
    _Adapter = logging.LoggerAdapter


class EventLog(_Adapter):
    """A logger whose lines also go to the listeners of the current call.

    Args:
        name: of the logger.
    """

    def __init__(self, name: str) -> None:
        super().__init__(logging.getLogger(name))

    @override
    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """Write one event, and send it to the listeners."""
        if listeners := _LISTENERS.get():
            name, *keys = _parsed(str(msg))
            fields = dict(zip(keys, args, strict=True))
            for listener in listeners:
                listener(name, fields)
        if self.logger.isEnabledFor(level):
            self.logger.log(level, msg, *args, **{"stacklevel": 2, **kwargs})


@lru_cache(maxsize=256)
def _parsed(message: str) -> tuple[str, ...]:
    """Return the name of an event and the names of its fields."""
    name, *fields = message.split()
    return (name, *(field.partition("=")[0] for field in fields))
