"""Failures of a job, on their way from a process to the caller."""

import signal
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from searx_mcp.content.clean import clean_line
from searx_mcp.errors import ContentError, ErrorCode, FetchError, SkeletonError, TransportError
from searx_mcp.models.fetch_request import MAX_URL_LENGTH


class DefeatError(ContentError):
    """`extraction_failed`: a body was too much for its job.

    The job failed where it should not, crashed, took too long or too much memory. Nothing is known of
    the body then; another job may do better.
    """


OUT_OF_MEMORY: Final = 77
"""Exit code of a process that ran out of memory: it can no longer be relied on to say so."""

_MAX_TEXT: Final = 300
_CODES: Final = frozenset({
    ErrorCode.UNSUPPORTED_CONTENT_TYPE, ErrorCode.UNSUPPORTED_ENCODING, ErrorCode.CONTENT_TOO_LARGE,
    ErrorCode.EXTRACTION_FAILED,
})  # fmt: skip
"""What a job may say; the others are not its to say."""

_KINDS: Final[Mapping[str, type[ContentError]]] = MappingProxyType(
    {kind.__name__: kind for kind in (SkeletonError, DefeatError)}
)
"""Errors that callers tell apart; any other is a `ContentError`."""


def as_header(error: ContentError) -> Mapping[str, object]:
    """An error as the header of a frame."""
    return {
        "failed": error.code,
        "kind": type(error).__name__,
        "message": error.message,
        "advice": error.advice,
        "url": error.url,
    }


def from_header(header: Mapping[str, Any]) -> ContentError:
    """The error of a header, which may come from a hostile process."""
    code = next((code for code in _CODES if code == header.get("failed")), None)
    kind = _KINDS.get(str(header.get("kind")), ContentError)
    return kind(
        clean_line(str(header.get("message", "")), _MAX_TEXT) or "it could not be read",
        code=code or ErrorCode.EXTRACTION_FAILED,
        advice=clean_line(str(header.get("advice", "")), _MAX_TEXT),
        url=clean_line(str(header.get("url", "")), MAX_URL_LENGTH),
    )


def unexpected() -> DefeatError:
    """The job raised what it should not."""
    return _defeated("the document could not be read: its reader failed on it")


def short_of_memory() -> DefeatError:
    """The job needed more memory than a process may have."""
    return _defeated("the document could not be read: it needs more memory than allowed")


def too_complex() -> DefeatError:
    """The body has more parts than a parser may make objects of."""
    return _defeated("the document could not be read: it has too many parts")


def too_slow(seconds: float) -> DefeatError:
    """The job took too long."""
    return _defeated(f"the document could not be read within {seconds:.3g} s")


_FROM_OUTSIDE: Final = frozenset(
    -getattr(signal, name)
    for name in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")
    if hasattr(signal, name)
)
"""Exit codes of a process that something else ended: an operator, or a system that is short of memory. A reader that
fails dies of other signals, or exits."""


def was_killed(code: int | None) -> bool:
    """Tell whether something else ended a process, which says nothing about its document."""
    return code in _FROM_OUTSIDE


def is_over_limit(code: int | None) -> bool:
    """Tell whether a process ended at one of its own limits, as it would with the same document again."""
    return code == OUT_OF_MEMORY or _is_out_of_time(code)


def _is_out_of_time(code: int | None) -> bool:
    return code is not None and -code == getattr(signal, "SIGXCPU", None)


def ended(code: int | None) -> FetchError:
    """The process of a job ended in the middle of it, and so did those that the job was given after it.

    Args:
        code: its exit code; negative for the signal that ended it.

    Returns:
        A `DefeatError`, unless something else killed the process: that may be over soon.
    """
    if was_killed(code):
        return _ours("its reader was killed each time")
    if code == OUT_OF_MEMORY:
        return short_of_memory()
    if _is_out_of_time(code):
        return _defeated("the document could not be read: it needs more time than allowed")
    return _defeated("the document could not be read: its reader crashed")


def broken() -> DefeatError:
    """A process said what it should not, or a result has no form."""
    return _defeated("the document could not be read: its reader returned no valid answer")


def too_large() -> ContentError:
    """The body is more than a job takes."""
    return ContentError("the document is too large to be read", code=ErrorCode.CONTENT_TOO_LARGE)


def no_start() -> FetchError:
    """There is no process to run the job in."""
    return _ours("no process could be started for it")


def closed() -> FetchError:
    """The workers are closed."""
    return FetchError(
        "the document could not be read: the client is closing", code=ErrorCode.CONNECTION_ERROR
    )


def needs_process() -> ContentError:
    """The job could end the process it runs in, and this one is the caller's."""
    return ContentError(
        "such a document is read only in a child process, and this client may not start one",
        code=ErrorCode.UNSUPPORTED_CONTENT_TYPE,
        advice="Open the client with processes=True, or use another result.",
    )


def late() -> TransportError:
    """The caller's time was over first."""
    return TransportError(
        "the document was not read in time",
        code=ErrorCode.TIMEOUT,
    )


def _ours(why: str) -> FetchError:
    """A failure of this machine, which says nothing about the document."""
    return FetchError(
        f"the document could not be read: {why}",
        code=ErrorCode.INTERNAL,
        advice="If it fails again, the operator must look at the memory and processes of this server's machine.",
    )


def _defeated(message: str) -> DefeatError:
    return DefeatError(message, code=ErrorCode.EXTRACTION_FAILED)
