"""Change the code in small ways and see whether a test fails; print the changes that no test notices.

    python -m scripts.mutate searx_mcp/pool --most 100 --seed 1
    python -m scripts.mutate searx_mcp/pool/life.py:160       # of one line only
    python -m scripts.mutate --changed main --minutes 20      # of the modules a branch touches

A change is run against the fast tests of its room that reach its line: for `searx_mcp/pool/life.py` those
in `tests/pool` (or `tests/test_pool.py`), and first those in `test_life.py`. Everything happens in a copy
of the repository in a temporary folder.
"""

import argparse
import difflib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import coverage
import pytest

from scripts.mutants import Mutant, mutants_of

_ROOT: Final = Path(__file__).resolve().parent.parent
_PACKAGE: Final = "searx_mcp"

_START_SECONDS: Final = 60.0
"""What pytest may take to start: three seconds on a quiet machine."""
_SLOWER: Final = 8.0
"""How many times longer than unchanged the tests may take before they count as hanging."""
_MEMORY_BYTES: Final = 6 << 30
"""What a run may have, so that a change that takes out a limit ends itself and not the machine."""
_TIMES: Final = "MUTATE_TIMES"
"""Names the file to which a run writes how long each test took."""


@dataclass(slots=True)
class _Reach:
    """Which tests of a room reach which code.

    Attributes:
        by_line: the tests that run a line of a module, by module and line.
        seconds: how long each took, run alone.
    """

    by_line: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def tests(self, module: str, mutant: Mutant) -> list[str]:
        """The tests that may notice a change, those written for the module first."""
        lines = self.by_line.get(module, {})
        tests = set[str]().union(*(lines.get(line, ()) for line in mutant.lines or lines))
        others = set() if mutant.lines else {*self.seconds} - tests  # a constant goes far
        own = f"/test_{Path(module).stem}.py::"
        return sorted(tests, key=lambda test: (own not in test, test)) + sorted(others)

    def limit(self, tests: Collection[str]) -> float:
        """Seconds after which they hang."""
        return _START_SECONDS + _SLOWER * sum(self.seconds.get(test, 0.0) for test in tests)


class _Copy:
    """A copy of the repository in which code is changed and tested.

    Args:
        folder: an empty one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.root = folder / "repository"
        self._data = folder / "coverage"
        listed = _git("ls-files", "--cached", "--others", "--exclude-standard", "-z")
        for name in filter(None, listed.split("\0")):
            if (_ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(_ROOT / name, self.root / name)

    def measure(self, room: str) -> _Reach:
        """Run the tests of a room unchanged; ends the program if one fails."""
        settings, times = self._folder / "coveragerc", self._folder / "times"
        settings.write_text("[run]\ncore = ctrace\n")
        self._data.unlink(missing_ok=True)
        times.unlink(missing_ok=True)
        options = [f"--rcfile={settings}", f"--data-file={self._data}"]
        include = f"--include={self.root / _PACKAGE}/*"
        program = ["-m", "coverage", "run", *options, include, "-m", "pytest"]
        if not self._run(program, [room], limit=3_600, times=times):
            sys.exit(f"The tests of {room} fail without a change.")
        reach = _Reach()
        data = coverage.CoverageData(str(self._data))
        data.read()
        for file in data.measured_files():
            module = Path(file).relative_to(self.root.resolve()).as_posix()
            reach.by_line[module] = {
                line: set(filter(None, contexts))
                for line, contexts in data.contexts_by_lineno(file).items()
            }
        for line in times.read_text("utf-8").splitlines():
            test, seconds = line.rsplit(" ", 1)
            reach.seconds[test] = reach.seconds.get(test, 0.0) + float(seconds)
        return reach

    def mutants(self, name: str) -> Iterator[tuple[str, Mutant]]:
        """The changes that the name of a folder, a module or a line stands for, by module."""
        name, _, line = name.partition(":")
        path = self.root / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path] * path.is_file():
            for mutant in mutants_of(file.read_text("utf-8")):
                if not line or mutant.line == int(line):
                    yield file.relative_to(self.root).as_posix(), mutant

    def is_noticed(
        self, module: str, mutant: Mutant, tests: Sequence[str], *, limit: float
    ) -> bool:
        """Whether one of the tests fails, or hangs, with a change."""
        file = self.root / module
        source, was = file.read_text("utf-8"), file.stat()
        file.write_text(mutant.apply(source), "utf-8")
        try:
            return bool(tests) and not self._run(["-m", "pytest"], tests, limit=limit, times=None)
        finally:
            file.write_text(source, "utf-8")
            os.utime(
                file, ns=(was.st_atime_ns, was.st_mtime_ns)
            )  # so that its bytecode holds again

    def difference(self, module: str, mutant: Mutant, *, is_reached: bool) -> str:
        """A change, for a person."""
        source = (self.root / module).read_text("utf-8")
        lines = source.splitlines(), mutant.apply(source).splitlines()
        changed = list(difflib.unified_diff(*lines, lineterm="", n=0))[2:]
        reach = "" if is_reached else ", reached by no test"
        shown = [line for line in changed if not line.startswith("@@")]
        return "\n".join([f"{module}:{mutant.line}: {mutant.kind}{reach}", *shown, ""])

    def _run(
        self, program: Sequence[str], tests: Sequence[str], *, limit: float, times: Path | None
    ) -> bool:
        """Whether the tests pass in time."""
        names = self._folder / "tests"
        names.write_text("\n".join(tests), "utf-8")
        home = self._folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        environment = os.environ | {
            "CI": "1",  # Hypothesis draws the same examples every time
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "" if times else "1",  # that of changed code is of no use
            _TIMES: str(times or ""),
        }
        options = [
            "-q",
            "-x",
            "--no-header",
            "--tb=line",
            "-p",
            "no:cacheprovider",
            "-p",
            "scripts.mutate",
        ]
        command = [sys.executable, *program, *options, "-m", "not slow and not live", f"@{names}"]
        with subprocess.Popen(  # noqa: S603 - pytest with the tests of this repository
            command,
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if times is None else None,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            try:
                process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                _end(process)
            except BaseException:
                _end(process)
                raise
        return process.returncode == 0


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a run and, where the system can, what its tests have started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def pytest_configure() -> None:
    """Limit the memory of a run, where the system can: this file is a plugin of pytest as well."""
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_BYTES, _MEMORY_BYTES))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Tell coverage which test runs, and write down how long it took."""
    test = item.nodeid.partition("[")[0]
    measured = coverage.Coverage.current()
    if measured is not None:
        measured.switch_context(test)
    began = time.perf_counter()
    result = yield
    if os.environ.get(_TIMES):
        with Path(os.environ[_TIMES]).open("a", encoding="utf-8") as file:
            file.write(f"{test} {time.perf_counter() - began}\n")
    return result


def main() -> None:
    """Choose changes, try them, print the ones that no test notices."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="*", help="files, folders, or file:line")
    parser.add_argument("--changed", metavar="REV", help="the modules that differ from a revision")
    parser.add_argument("--most", type=int, default=100, help="try so many, drawn by lot")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--minutes", type=float, default=60.0, help="start no more after this time")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that a run ends its tests
    names = arguments.modules
    if arguments.changed:
        names += _git("diff", "--name-only", arguments.changed, "--", f"{_PACKAGE}/*.py").split()
    ends = time.perf_counter() + arguments.minutes * 60
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        copied = _Copy(Path(folder))
        choices = [each for name in names for each in copied.mutants(name)]
        dice = random.Random(arguments.seed)  # noqa: S311 - a draw to repeat, no secret
        drawn = dice.sample(choices, min(arguments.most, len(choices)))
        by_room = defaultdict[str, list[tuple[str, Mutant]]](list)
        for module, mutant in sorted(drawn, key=lambda each: (each[0], each[1].start)):
            by_room[_tests_of(module)].append((module, mutant))
        for room, mutants in by_room.items():
            reach = copied.measure(room)
            tried = noticed = 0
            for module, mutant in mutants:
                if time.perf_counter() > ends:
                    break
                tests = reach.tests(module, mutant)
                tried += 1
                if copied.is_noticed(module, mutant, tests, limit=reach.limit(tests)):
                    noticed += 1
                else:
                    print(copied.difference(module, mutant, is_reached=bool(tests)), flush=True)
            print(
                f"{room}: {noticed} of {tried} changes noticed ({noticed / max(tried, 1):.0%}); "
                f"drawn with seed {arguments.seed} from {len(choices)}",
                flush=True,
            )


def _tests_of(module: str) -> str:
    """The tests of the room that a module is in."""
    room = Path(module).with_suffix("").parts[1]
    return f"tests/{room}" if (_ROOT / "tests" / room).is_dir() else f"tests/test_{room}.py"


def _git(*arguments: str) -> str:
    return subprocess.run(  # noqa: S603 - our own arguments
        ["git", *arguments],  # noqa: S607 - the one on the path
        cwd=_ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
