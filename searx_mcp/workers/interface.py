"""What runs a job away from the event loop."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from searx_mcp.errors import ContentError

Result = Mapping[str, Any]
"""What a job gives: strings, numbers, lists and mappings of them, as JSON has them."""

Job = Callable[[bytes, Mapping[str, Any]], Result]
"""Pure: takes a body and options. It raises a `ContentError` for a body that cannot be read."""

DANGEROUS: Final = frozenset({"pdf"})
"""Those that can end their process: PDFium takes all the memory there is, and aborts when it is refused
more. A file of 1.6 kB that is packed twice asks for 16.8 GB."""
MAX_BODY: Final = 64 << 20
"""Bytes of a body. A page has 10 MiB at most; the rest is room."""

MAX_RESULT: Final = 32 << 20
"""Bytes of a result as JSON. The text of a page of 10 MiB with every second character escaped fits;
reading 32 MiB of JSON would hold up the event loop for 0.1 s."""


class DefeatError(ContentError):
    """`extraction_failed`: a body was too much for its job.

    The job failed where it should not, crashed, took too long or too much memory. Nothing is known of
    the body then; another job may do better.
    """


class Workers(Protocol):
    """Runs jobs by name, several at a time, each by its own deadline."""

    async def run(
        self,
        job: str,
        body: bytes,
        options: Mapping[str, object],
        *,
        deadline: float,
        reserve: float = 0.0,
    ) -> Result:
        """Run a job on a body.

        Args:
            job: its name, such as `pdf`.
            body: what it reads.
            options: what it takes besides; JSON.
            deadline: the event loop's time by which to be done, waiting for a turn included.
            reserve: seconds before the deadline at which a job under way is given up, so that the
                caller can still do something else; one that has not begun by then may use them.

        Raises:
            DefeatError: `extraction_failed`; the job failed, crashed, took too long or too much memory.
            ContentError: `content_too_large`; `unsupported_content_type` for a job that needs a
                process where there are none; what the job raised; or `extraction_failed`: no process
                could be started, or these workers are closed.
            TransportError: `timeout`; the deadline came first.
            ValueError: the options are no JSON, or more than 1 MiB of it.
        """
        ...

    def warm(self) -> None:
        """Get ready for a job that will most likely come; returns at once and never raises.

        Needs a running event loop.
        """
        ...

    async def aclose(self) -> None:
        """End everything that runs, in bounded time; calls under way fail, later ones too."""
        ...
