"""What one gateway lets through at most, and what it remembers of what it did not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from searx_mcp.errors import FetchError, PolicyError

_MAX_REMEMBERED: Final = 256
"""Hosts; a page may name any number of them."""


@dataclass(frozen=True, slots=True)
class GatewayLimits:
    """What passes one gateway at most; it serves one page.

    Attributes:
        total_bytes: in both directions together.
        connection_bytes: likewise, of one connection.
        connections: over the life of the gateway.
        at_once: connections at the same time; Chromium opens 32 to one proxy.
        head_bytes: of a request or an answer without its body.
        head_time: seconds until a client has said what it wants.
    """

    total_bytes: int = 32 * 1024 * 1024
    connection_bytes: int = 16 * 1024 * 1024
    connections: int = 512
    at_once: int = 64
    head_bytes: int = 32 * 1024
    head_time: float = 10.0


@dataclass(slots=True)
class Meter:
    """What has passed one connection, in bytes."""

    passed: int = 0


@dataclass(slots=True)
class Record:
    """The account of one gateway.

    Attributes:
        limits: what may be spent.
        is_spent: whether something was cut off because it was too much.
    """

    limits: GatewayLimits
    is_spent: bool = False
    _connections: int = 0
    _passed: int = 0
    _refused: dict[str, int] = field(default_factory=dict)
    _errors: dict[tuple[str, int], FetchError] = field(default_factory=dict)

    @property
    def refused(self) -> Mapping[str, int]:
        """How often each host was refused by the rules."""
        return MappingProxyType(self._refused)

    def error(self, host: str, port: int) -> FetchError | None:
        """Why a host was not reached when it was last asked for, or `None` if it was."""
        return self._errors.get((host, port))

    @property
    def last_error(self) -> FetchError | None:
        """Why the host that was not reached last was not, if any."""
        return self._errors[next(reversed(self._errors))] if self._errors else None

    def open(self) -> bool:
        """Count a connection; whether there may be one more."""
        self._connections += 1
        if self._connections > self.limits.connections or self._passed >= self.limits.total_bytes:
            self.is_spent = True
            return False
        return True

    def spend(self, meter: Meter, count: int) -> bool:
        """Count what is about to pass a connection; whether it may."""
        meter.passed += count
        self._passed += count
        if self._passed > self.limits.total_bytes or meter.passed > self.limits.connection_bytes:
            self.is_spent = True
            return False
        return True

    def reached(self, host: str, port: int) -> None:
        """Remember that a host was reached."""
        self._errors.pop((host, port), None)

    def failed(self, host: str, port: int, error: FetchError) -> None:
        """Remember why a host was not reached; the oldest are forgotten."""
        self._errors.pop((host, port), None)
        self._errors[host, port] = error
        if len(self._errors) > _MAX_REMEMBERED:
            del self._errors[next(iter(self._errors))]
        if isinstance(error, PolicyError) and (
            host in self._refused or len(self._refused) < _MAX_REMEMBERED
        ):
            self._refused[host] = self._refused.get(host, 0) + 1
