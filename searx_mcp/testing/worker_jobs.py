"""Jobs that misbehave in every way a document reader can.

`ChildWorkers(config, module="searx_mcp.testing.worker_jobs")` runs them in processes, each named like
its function; some of them must never run anywhere else.
"""

import contextlib
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.workers.child import main
from searx_mcp.workers.jobs import Job, Result


def echo(body: bytes, options: Mapping[str, Any]) -> Result:
    """Return the body, and the process ID."""
    return {"text": body.decode(), "options": dict(options), "pid": os.getpid()}


def refuse(_body: bytes, _options: Mapping[str, Any]) -> Result:
    """Refuse the body properly."""
    raise ContentError(
        "needs a \u202epassword", code=ErrorCode.UNSUPPORTED_CONTENT_TYPE, advice="Ask its author."
    )


def fail(_body: bytes, _options: Mapping[str, Any]) -> Result:
    """Raise an exception that no job should raise."""
    raise ZeroDivisionError("a secret of the page")


def segfault(_body: bytes, _options: Mapping[str, Any]) -> Result:
    """Read from an invalid address."""
    return {"read": ctypes.string_at(0).decode()}


def abort(_body: bytes, _options: Mapping[str, Any]) -> Result:
    """Abort, as C code does."""
    os.abort()


def leave(_body: bytes, _options: Mapping[str, Any]) -> Result:
    """Exit without a message."""
    os._exit(3)


def die(body: bytes, options: Mapping[str, Any]) -> Result:
    """Die by the signal `by`, unless the file `deaths` already records `times` deaths; then act as `echo`."""
    deaths = Path(options["deaths"])
    with deaths.open("a", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
    if len(deaths.read_text(encoding="ascii").splitlines()) <= options["times"]:
        os.kill(os.getpid(), options["by"])
        threading.Event().wait()
    return echo(body, {})


def quit_politely(_body: bytes, _options: Mapping[str, Any]) -> Result:
    """Exit as a script does."""
    sys.exit(0)


def eat(_body: bytes, _options: Mapping[str, Any]) -> Result:
    """Allocate memory until there is none."""
    eaten = []
    while True:
        eaten.append(bytearray(1 << 26))


def spin(_body: bytes, _options: Mapping[str, Any]) -> Result:
    """Compute forever."""
    while True:
        pass


def hang(_body: bytes, options: Mapping[str, Any]) -> Result:
    """Wait forever and ignore polite signals; first write the process ID to `fifo`."""
    if fifo := options.get("fifo"):
        Path(fifo).write_text(str(os.getpid()), encoding="ascii")
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        with contextlib.suppress(AttributeError):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    threading.Event().wait()
    return {}


def hang_beyond_a_fork(_body: bytes, _options: Mapping[str, Any]) -> Result:
    """Leave behind a process that keeps standard error open, and exit."""
    if os.fork() == 0:
        threading.Event().wait(20)
    os._exit(3)


def chatter(_body: bytes, _options: Mapping[str, Any]) -> Result:
    """Print more than a pipe holds, and read standard input, which never has data."""
    for _ in range(4_000):
        sys.stdout.write("out " * 32 + "\n")
        sys.stderr.write("err " * 32 + "\n")
    sys.stdout.flush()
    os.write(1, b"\x00\x00\x00\x02\x00\x00\x00\x00{}")
    return {"read": sys.stdin.read()}


def forge(body: bytes, options: Mapping[str, Any]) -> Result:
    """Write unrequested frames to any open file."""
    for descriptor in range(3, 16):
        with contextlib.suppress(OSError):
            os.write(descriptor, body)
    return echo(b"", options)


def flood(_body: bytes, options: Mapping[str, Any]) -> Result:
    """Return the given number of characters."""
    return {"text": "x" * int(options["chars"])}


def no_json(_body: bytes, _options: Mapping[str, Any]) -> Result:
    """Return something that is not JSON."""
    return {"text": b"bytes"}


def surroundings(_body: bytes, _options: Mapping[str, Any]) -> Result:
    """Report the process's environment, open files, limits and path."""
    import resource  # noqa: PLC0415 - Windows does not have it

    return {
        "environment": dict(os.environ),
        "files": sorted(int(file.name) for file in Path("/proc/self/fd").iterdir()),
        "memory": resource.getrlimit(resource.RLIMIT_AS),
        "open_files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "core": resource.getrlimit(resource.RLIMIT_CORE),
        "cpu": resource.getrlimit(resource.RLIMIT_CPU)[0],
        "path": sys.path,
    }


JOBS: Final[Mapping[str, Job]] = MappingProxyType({
    job.__name__: job
    for job in (
        echo, refuse, fail, segfault, abort, leave, die, quit_politely, eat, spin, hang,
        hang_beyond_a_fork, chatter, forge, flood, no_json, surroundings,
    )
})  # fmt: skip

if __name__ == "__main__":
    main(JOBS)
