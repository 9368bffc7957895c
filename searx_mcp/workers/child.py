"""The process in which jobs run: `python -m searx_mcp.workers.child MEMORY SECONDS`.

It reads frames from its standard input and answers each on its standard output, one at a time, until its
input ends, which also happens whenever its parent ends. It sets its own limits before it reads anything.

Windows has none of these limits, and macOS does not enforce the one on memory. There, the wall clock of the
parent and `faulthandler` in the process itself end a job.
"""

import faulthandler
import json
import math
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import BinaryIO, Final, NoReturn

from searx_mcp.errors import ContentError
from searx_mcp.workers.failures import OUT_OF_MEMORY, as_header, broken, unexpected
from searx_mcp.workers.jobs import (
    MAX_RESULT,
    FrameError,
    Job,
    document_jobs,
    encode_head,
    read_frame,
)

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment] # - the one way to say that there is none

_STDERR: Final = 2
_OPEN_FILES: Final = 64
"""Open files: imports need a few at a time; a job needs none."""


def limit(memory: int) -> None:
    """Limit this process permanently: address space, open files, no core dumps.

    Args:
        memory: bytes of address space.
    """
    _lower("RLIMIT_AS", memory)
    _lower("RLIMIT_NOFILE", _OPEN_FILES)
    _lower("RLIMIT_CORE", 0)


@contextmanager
def watched(seconds: float) -> Iterator[None]:
    """End this process if the block takes longer, even in C code that holds the interpreter.

    Args:
        seconds: of wall-clock time, and of processor time.
    """
    _allow_cpu(seconds)
    # A thread written in C: it does not need the interpreter.
    faulthandler.dump_traceback_later(seconds, exit=True, file=_STDERR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _allow_cpu(seconds: float) -> None:
    """Allow this process that much more processor time; after that the system ends it."""
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
        # macOS refuses limits below the current use.
        return


GREETING: Final[Mapping[str, object]] = {"ready": True}
"""Header of the first frame: everything is imported, and the limits are set."""

_GRACE: Final = 2.0
"""Seconds the parent has to end a job that takes too long, before the process ends itself."""


def main(jobs: Mapping[str, Job]) -> NoReturn:
    """Take over the standard streams, set the limits given as arguments, and serve.

    Args:
        jobs: the jobs by name.
    """
    memory, seconds = int(sys.argv[1]), float(sys.argv[2])
    # Ctrl-C in a terminal reaches all its processes; the parent decides what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    requests, answers = _take_streams()
    limit(memory)
    serve(requests, answers, jobs, watch=partial(watched, seconds + _GRACE))
    # There is nothing to clean up, and a normal exit would wait for threads that a job left behind.
    os._exit(0)


def serve(
    requests: BinaryIO,
    answers: BinaryIO,
    jobs: Mapping[str, Job],
    *,
    watch: Callable[[], AbstractContextManager[None]],
) -> None:
    """Answer requests until there are no more.

    Args:
        requests: frames with the header `{"job": name, "options": {...}}`.
        answers: receives frames: a header `{}` with the result as JSON in its body, or the header of an
            error.
        jobs: the jobs by name.
        watch: context in which each job runs; ends the process if it takes too long.
    """
    try:
        _answer(answers, GREETING)
        while (request := read_frame(requests)) is not None:
            with watch():
                header, text = _done(jobs, request.header, request.body)
            _answer(answers, header, text)
    except (FrameError, OSError):
        # The parent is gone, or it is not our parent.
        return
    except MemoryError:
        # What else failed for lack of memory is unknown, so this process takes no further job.
        os._exit(OUT_OF_MEMORY)


def _take_streams() -> tuple[BinaryIO, BinaryIO]:
    """Keep both pipes for frames; a job that prints or reads uses replacements."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def _done(
    jobs: Mapping[str, Job], header: Mapping[str, object], body: bytes
) -> tuple[Mapping[str, object], bytes]:
    """Run one job and return the header and the body of the answer."""
    options = header.get("options")
    try:
        job = jobs[str(header.get("job"))]
        result = dict(job(body, options if isinstance(options, dict) else {}))
        text = json.dumps(result, ensure_ascii=False).encode()
    except ContentError as error:
        return as_header(error), b""
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - whatever a reader raises, the next job has another body
        traceback.print_exc()
        return as_header(unexpected()), b""
    return ({}, text) if len(text) <= MAX_RESULT else (as_header(broken()), b"")


def _answer(answers: BinaryIO, header: Mapping[str, object], body: bytes = b"") -> None:
    answers.write(encode_head(header, len(body)))
    answers.write(body)
    answers.flush()


if __name__ == "__main__":
    main(document_jobs())
