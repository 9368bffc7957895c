"""What runs a job away from the event loop."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

Result = Mapping[str, Any]
"""What a job gives: strings, numbers, lists and mappings of them, as JSON has them."""

Job = Callable[[bytes, Mapping[str, Any]], Result]
"""Pure: takes a body and options. It raises a `ContentError` for a body that cannot be read."""

MAX_BODY: Final = 64 << 20
"""Bytes of a body, and of a result as JSON. A page has 10 MiB at most; the rest is room."""


class Workers(Protocol):
    """Runs jobs by name, several at a time, each by its own deadline."""

    async def run(
        self, job: str, body: bytes, options: Mapping[str, object], *, deadline: float
    ) -> Result:
        """Run a job on a body.

        Args:
            job: its name, such as `pdf`.
            body: what it reads.
            options: what it takes besides; JSON.
            deadline: the event loop's time by which to be done, waiting for a turn included.

        Raises:
            ContentError: `content_too_large`; what the job raised, such as
                `unsupported_content_type`; or `extraction_failed`: it failed, crashed, took too
                long or too much memory, or too many jobs wait (then with `retry_after`).
            TransportError: `timeout`; the deadline came first.
            ValueError: the options are no JSON, or more than 1 MiB of it.
        """
        ...

    async def aclose(self) -> None:
        """End everything that runs, in bounded time; calls under way fail, later ones too."""
        ...
