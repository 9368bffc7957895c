"""The interface of what shares answers among processes."""

from dataclasses import dataclass
from typing import Final, Protocol

from searx_mcp.search.answers.cache import CacheKey
from searx_mcp.search.providers.interface import Found

KEY_FILE: Final = "answers.key"
"""Name of the file with their secret, in the state folder."""


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """An answer that some process was given.

    Attributes:
        found: the answer.
        at: when it was given, Unix seconds.
    """

    found: Found
    at: float


class SharedAnswers(Protocol):
    """Answers of all processes. Nothing is raised: what cannot be had now is a miss."""

    async def get(self, key: CacheKey) -> SharedAnswer | None:
        """The answer to `key`, or `None`."""
        ...

    async def put(self, key: CacheKey, answer: SharedAnswer, *, seconds: float) -> None:
        """Keep an answer for so many seconds at most."""
        ...

    async def aclose(self) -> None:
        """Let go of connections; harmless when called twice."""
        ...
