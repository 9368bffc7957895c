"""What a process may use; set by itself, before it reads anything.

Windows has none of these limits, and macOS does not enforce the one on memory. There the wall clock
of the parent and `faulthandler` in the process itself are what ends a job.
"""

import faulthandler
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment] # - the one way to say that there is none

_STDERR: Final = 2
_OPEN_FILES: Final = 64
"""Imports need a few at a time; a job needs none."""


def limit(memory: int) -> None:
    """Limit this process for good: address space, open files, no core dumps.

    Args:
        memory: bytes of address space.
    """
    _lower("RLIMIT_AS", memory)
    _lower("RLIMIT_NOFILE", _OPEN_FILES)
    _lower("RLIMIT_CORE", 0)


@contextmanager
def watched(seconds: float) -> Iterator[None]:
    """End this process if what runs inside takes longer, even in C code that holds everything up.

    Args:
        seconds: of the wall clock, and of processor time.
    """
    _allow_cpu(seconds)
    # A thread written in C: it needs no turn of the interpreter.
    faulthandler.dump_traceback_later(seconds, exit=True, file=_STDERR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _allow_cpu(seconds: float) -> None:
    """Let this process use so much more processor time from now on; then the system ends it."""
    if resource is not None:
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        allowed = math.ceil(time.process_time() + seconds) + 1
        if most != resource.RLIM_INFINITY:
            allowed = min(allowed, most)
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, most))


def _lower(name: str, value: int) -> None:
    kind = getattr(resource, name, None)
    if kind is None:
        return
    _, most = resource.getrlimit(kind)
    allowed = value if most == resource.RLIM_INFINITY else min(value, most)
    try:
        resource.setrlimit(kind, (allowed, allowed))
    except (ValueError, OSError):
        # macOS refuses limits below what is in use already.
        return
