"""Serves SearXNG from a folder, until a signal or a time without searches ends it.

Run by path with the interpreter of the instance's environment, never with ours: `python -I launcher.py FOLDER
SOURCE PORT IDLE`, with `SEARXNG_SETTINGS_PATH` in the environment. `FOLDER` contains the lock, `run.json` and
the log. Exit codes: 75 another one runs, 76 port taken.
"""

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

BUSY: Final = 75
PORT_TAKEN: Final = 76
THREADS: Final = 64
"""One thread per request: 32 concurrent searches, each as slow as its engines, do not wait for each other."""
CONNECTIONS: Final = 256
LOG_SIZE: Final = 1_000_000
"""Bytes after which the log is rotated; the last one is kept."""
LOOK: Final = 15.0
"""Seconds between two checks of the log's size and the last search."""
_ENDED: Final = frozenset("ZX")
"""States of a process that has ended and still has its number, proc_pid_stat(5)."""
TRIES: Final = 5
"""Tries for the lock: a process that checks whether an instance runs also holds it for a moment."""
TRY: Final = 0.02
"""Seconds between two tries."""

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def birth(pid: int) -> str:
    """Return a process's start time in the system's unit; empty if it has ended, or if unknown."""
    try:
        described = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        fields = described.rpartition(")")[2].split()
        return "" if fields[0] in _ENDED else fields[19]
    except (OSError, IndexError):
        return ""


def write_run(folder: Path, source: Path, port: int) -> None:
    """Write atomically which process this is, its source and its port; port 0 for not yet."""
    draft = folder / "run.json.new"
    pid = os.getpid()
    described = {"pid": pid, "birth": birth(pid), "source": str(source), "port": port}
    draft.write_text(json.dumps(described), encoding="utf-8")
    draft.replace(folder / "run.json")


class Watch:
    """WSGI middleware that records searches; rotates the log and ends an idle process."""

    def __init__(self, application: Application, folder: Path, idle: float) -> None:
        self.application = application
        self.log = folder / "log.txt"
        self.idle = idle
        self.searched_at = _now()
        self.searching = 0

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Pass a request on."""
        if environ.get("PATH_INFO") != "/search":
            return self.application(environ, start_response)
        self.searching += 1
        try:
            return self.application(environ, start_response)
        finally:
            self.searching -= 1
            self.searched_at = _now()

    def look_after(self) -> None:
        """Check periodically, for as long as the process lives."""
        while True:
            time.sleep(min(LOOK, self.idle or LOOK))
            self.turn_log()
            if self.idle and not self.searching and _now() - self.searched_at >= self.idle:
                os._exit(0)

    def turn_log(self) -> None:
        """Rotate the log if it is long."""
        try:
            if self.log.stat().st_size > LOG_SIZE:
                self.log.replace(self.log.with_suffix(".old.txt"))
                fresh = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                os.dup2(fresh, 1)
                os.dup2(fresh, 2)
                os.close(fresh)
        except OSError:
            pass  # the disk may be full; searches continue


def main(folder: Path, source: Path, port: int, idle: float) -> int:
    """Serve; return the exit code."""
    import fcntl  # noqa: PLC0415 - POSIX alone, as SearXNG is

    os.umask(0o077)
    lock = (folder / "run.lock").open("ab")  # held open for as long as the process lives
    for _ in range(TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except OSError:
            time.sleep(TRY)
    else:
        return BUSY
    write_run(folder, source, 0)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        sys.stderr.write(f"port {port}: {error.strerror}\n")
        return PORT_TAKEN
    sys.path.insert(0, str(source))
    import waitress  # noqa: PLC0415 - of the instance's environment, as the next one
    from searx.webapp import app  # noqa: PLC0415 - starts SearXNG

    watch = Watch(app, folder, idle)
    threading.Thread(target=watch.look_after, daemon=True).start()
    listener.listen(CONNECTIONS)
    write_run(folder, source, listener.getsockname()[1])
    waitress.serve(
        watch, sockets=[listener], threads=THREADS, connection_limit=CONNECTIONS, ident=None
    )
    return 0


def _now() -> float:
    return time.monotonic()  # noqa: TID251 - a process of its own, with no clock to inject


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
