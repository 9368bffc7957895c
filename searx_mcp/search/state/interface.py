"""The interface of the store that remembers what was asked of whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from searx_mcp.models.attempt import Format


@dataclass(frozen=True, slots=True)
class Window:
    """A sliding window: at most `limit` requests in `seconds`.

    Attributes:
        limit: requests allowed.
        seconds: the window's length.
        format: which requests count; `None` counts all.
    """

    limit: int
    seconds: float
    format: Format | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    """Whether a request may leave.

    Attributes:
        granted: whether it may; it is then already charged.
        retry_at: Unix seconds at which it may, when not granted.
    """

    granted: bool
    retry_at: float | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """What the windows of one instance still allow.

    Attributes:
        left: requests allowed now; `None` for no limit.
        free_at: Unix seconds from which on at least one is allowed; not in the future if one is
            allowed now.
    """

    left: int | None
    free_at: float


class StateStore(Protocol):
    """What must be remembered about instances across calls.

    `reserve` is atomic, charges before the request leaves, and a charge is never refunded: the
    instance counts refused and abandoned requests too.
    """

    async def reserve(
        self,
        instance: str,
        format: Format,  # noqa: A002 - the field's word for JSON or HTML
        windows: Sequence[Window],
        now: float,
    ) -> Reservation:
        """Charge one request to `instance` if every window allows it.

        Args:
            instance: base URL.
            format: what will be asked for.
            windows: the limits to keep; none means unlimited.
            now: Unix seconds.
        """
        ...

    async def budget(self, instance: str, windows: Sequence[Window], now: float) -> Budget:
        """What the windows still allow; charges nothing."""
        ...

    async def aclose(self) -> None:
        """Let go of files and connections; harmless when called twice."""
        ...
