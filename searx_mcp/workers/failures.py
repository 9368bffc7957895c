"""Failures of a job, passed from a process to the caller."""

import signal
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from searx_mcp.content.clean import clean_line
from searx_mcp.errors import ContentError, ErrorCode, FetchError, SkeletonError, TransportError
from searx_mcp.models.coercion import MAX_URL_LENGTH


class DefeatError(ContentError):
    """`extraction_failed`: a body was too much for its job.

    The job failed unexpectedly, crashed, took too long or too much memory. Nothing is known of the body then;
    another job may be able to read it.
    """


OUT_OF_MEMORY: Final = 77
"""Exit code of a process that ran out of memory: it can no longer be relied on to report that."""

_MAX_TEXT: Final = 300
_KINDS: Final[Mapping[str, type[ContentError]]] = MappingProxyType(
    {kind.__name__: kind for kind in (SkeletonError, DefeatError)}
)
"""Errors that callers distinguish; any other is a `ContentError`."""


def as_header(error: ContentError) -> Mapping[str, object]:
    """Convert an error to the header of a frame."""
    return {
        "failed": error.code,
        "kind": type(error).__name__,
        "message": error.message,
        "advice": error.advice,
        "url": error.url,
    }


def from_header(header: Mapping[str, Any]) -> ContentError:
    """Convert a header, which may come from a hostile process, to an error."""
    code = next((code for code in ContentError.codes if code == header.get("failed")), None)
    kind = _KINDS.get(str(header.get("kind")), ContentError)
    return kind(
        clean_line(str(header.get("message", "")), _MAX_TEXT) or "it could not be read",
        code=code or ErrorCode.EXTRACTION_FAILED,
        advice=clean_line(str(header.get("advice", "")), _MAX_TEXT),
        url=clean_line(str(header.get("url", "")), MAX_URL_LENGTH),
    )


def unexpected() -> DefeatError:
    """Make the error for an unexpected exception in a job."""
    return _defeated("the document could not be read: its reader failed on it")


def short_of_memory() -> DefeatError:
    """Make the error for a job that needed more memory than a process may have."""
    return _defeated("the document could not be read: it needs more memory than allowed")


def too_complex() -> DefeatError:
    """Make the error for a body with more parts than a parser may create objects for."""
    return _defeated("the document could not be read: it has too many parts")


def too_slow(seconds: float) -> DefeatError:
    """Make the error for a job that took too long."""
    return _defeated(f"the document could not be read within {seconds:.3g} s")


_FROM_OUTSIDE: Final = frozenset(
    -getattr(signal, name)
    for name in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")
    if hasattr(signal, name)
)
"""Exit codes of a process that something else killed: an operator, or a system short of memory. A reader that
fails dies of other signals, or exits."""


def was_killed(code: int | None) -> bool:
    """Return whether something else killed a process, which says nothing about its document."""
    return code in _FROM_OUTSIDE


def is_over_limit(code: int | None) -> bool:
    """Return whether a process ended at one of its own limits, as it would again with the same document."""
    return code == OUT_OF_MEMORY or _is_out_of_time(code)


def _is_out_of_time(code: int | None) -> bool:
    return code is not None and -code == getattr(signal, "SIGXCPU", None)


def ended(code: int | None) -> FetchError:
    """Make the error for a job whose process ended, and so did every replacement.

    Args:
        code: its exit code; negative for the signal that ended it.

    Returns:
        A `DefeatError`, unless something else killed the process: that may be temporary.
    """
    if was_killed(code):
        return _ours("its reader was killed each time")
    if code == OUT_OF_MEMORY:
        return short_of_memory()
    if _is_out_of_time(code):
        return _defeated("the document could not be read: it needs more time than allowed")
    return _defeated("the document could not be read: its reader crashed")


def broken() -> DefeatError:
    """Make the error for a protocol violation, or for a malformed result."""
    return _defeated("the document could not be read: its reader returned no valid answer")


def too_large() -> ContentError:
    """Make the error for a body that is too large for a job."""
    return ContentError("the document is too large to be read", code=ErrorCode.CONTENT_TOO_LARGE)


def no_start() -> FetchError:
    """Make the error for when there is no process to run the job in."""
    return _ours("no process could be started for it")


def closed() -> FetchError:
    """Make the error for closed workers."""
    return FetchError(
        "the document could not be read: the client is closing", code=ErrorCode.CONNECTION_ERROR
    )


def needs_process() -> ContentError:
    """Make the error for a job that could end its process, which here is the caller's."""
    return ContentError(
        "such a document is read only in a child process, and this client may not start one",
        code=ErrorCode.UNSUPPORTED_CONTENT_TYPE,
        advice="Open the client with processes=True, or use another result.",
    )


def late() -> TransportError:
    """Make the error for a caller whose deadline came first."""
    return TransportError(
        "the document was not read in time",
        code=ErrorCode.TIMEOUT,
    )


def _ours(why: str) -> FetchError:
    """Make the error for a failure of this machine, which says nothing about the document."""
    return FetchError(
        f"the document could not be read: {why}",
        code=ErrorCode.INTERNAL,
        advice="If it fails again, the operator must look at the memory and processes of this server's machine.",
    )


def _defeated(message: str) -> DefeatError:
    return DefeatError(message, code=ErrorCode.EXTRACTION_FAILED)
