"""The processes of the benchmark: sites, clients, one for each bomb."""

import json
import subprocess
import sys
import tempfile
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.fetching.load import Load
from benchmarks.fetching.pages import Page

_ROOT: Final = Path(__file__).resolve().parent.parent.parent
_DEADLINE: Final = 300.0
"""Seconds after which a process is given up; the slowest takes a tenth of it."""


@dataclass(frozen=True, slots=True)
class Sites:
    """The sites while they run.

    Attributes:
        origins: those that share the pages.
        robots: those with a bomb as robots.txt, by its name.
    """

    origins: Sequence[str]
    robots: Mapping[str, str]

    @property
    def small(self) -> str:
        """The address of a small page."""
        return f"{self.origins[0]}/small"

    def jobs(self, pages: Sequence[Page]) -> list[tuple[str, str]]:
        """Give the addresses of the pages, and what must be in them."""
        at = len(self.origins)
        return [
            (f"{self.origins[number % at]}{page.path}", page.mark)
            for number, page in enumerate(pages)
        ]

    def counts(self) -> Counter[str]:
        """Give how often each path was asked for since the last time, and forget it."""
        counts: Counter[str] = Counter()
        for origin in (*self.origins, *self.robots.values()):
            with urllib.request.urlopen(f"{origin}/-/counts", timeout=10) as reply:  # noqa: S310 - our own
                counts.update(json.load(reply))
        return counts


@contextmanager
def open_sites(seed: int, megabytes: int) -> Iterator[Sites]:
    """Run the sites.

    Args:
        seed: of the pages.
        megabytes: what a bomb is worth.
    """
    command = [sys.executable, "-m", "benchmarks.fetching.site", str(seed), str(megabytes)]
    # Leaving closes the site's standard input, which ends it.
    with subprocess.Popen(  # noqa: S603 - a module of this package
        command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdout is None:
            raise RuntimeError("the sites have no output")
        yield Sites(**json.loads(process.stdout.readline()))


@contextmanager
def open_bombs() -> Iterator[Callable[[str, str], dict[str, Any]]]:
    """Give what fetches a small page and then a bomb, each time in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.fetching.bomb_run"]
    with subprocess.Popen(  # noqa: S603 - a module of this package
        command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        given, answers = process.stdin, process.stdout
        if given is None or answers is None:
            raise RuntimeError("the process has no streams")

        def run(small: str, bomb: str) -> dict[str, Any]:
            print(json.dumps([small, bomb]), file=given, flush=True)
            line = answers.readline()
            if not line:
                sys.exit(f"{bomb}: no answer")
            found: dict[str, Any] = json.loads(line)
            return found

        yield run


def run_client(name: str, jobs: Sequence[tuple[str, str]], *, passes: int = 1) -> Load:
    """Fetch pages with one of `clients.CLIENTS`, in a fresh process."""
    return Load(**_run(sys.executable, "clients", name, str(passes), given=json.dumps(jobs)))


def run_peer(python: str, jobs: Sequence[tuple[str, str]]) -> Load:
    """Fetch pages with mcp-server-fetch, in a fresh process of its own Python.

    It finds no Node there, as on most machines, and extracts pages by its own means.
    """
    with tempfile.TemporaryDirectory() as empty:
        return Load(**_run(python, "peer", given=json.dumps(jobs), environ={"PATH": empty}))


def _run(
    python: str,
    module: str,
    *arguments: str,
    given: str = "",
    environ: Mapping[str, str] | None = None,
) -> Any:  # noqa: ANN401 - JSON
    command = [python, "-m", f"benchmarks.fetching.{module}", *arguments]
    done = subprocess.run(  # noqa: S603 - a module of this package
        command,
        cwd=_ROOT,
        env=environ,
        input=given,
        capture_output=True,
        text=True,
        timeout=_DEADLINE,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{module} failed:\n{done.stderr[-2_000:]}")
    return json.loads(done.stdout)
