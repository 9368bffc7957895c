"""Change the code in small ways and see whether a test fails; print the changes that no test notices.

    python -m scripts.mutate searx_mcp/pool --most 100 --seed 1
    python -m scripts.mutate searx_mcp/pool/life.py:160       # of one line only
    python -m scripts.mutate --changed main --minutes 20      # of the modules a branch touches

A change is run against the tests of its room that reach its line: for `searx_mcp/pool/life.py` those in
`tests/pool` (or `tests/test_pool.py`), first those in `test_life.py`, the cheapest first, and no more of
them once a minute is spent. Everything happens in a copy of the repository in a temporary folder.

    python -m scripts.mutate searx_mcp/verbs --reach reach    # the tests of every folder

Then a change that its room misses meets the other tests that reach its line, the cheapest first. Which
these are is measured once, kept in the file `reach`, and holds until lines move.
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
from collections.abc import Collection, Generator, Iterator, Sequence
from itertools import accumulate
from math import inf, isfinite
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
_MEASURING: Final = "MUTATE_MEASURING"
"""Names the settings with which a process that a test starts measures itself."""
_SETTINGS: Final = """
[run]
core = ctrace
parallel = true
patch = subprocess
relative_files = true
include = {root}/searx_mcp/*
data_file = {data}
context = ${{PYTEST_CURRENT_TEST-}}
"""
"""For coverage, of this process and of those that tests start."""
_BESIDE: Final = ("benchmarks", "interop", "packaging", "scripts")
"""Folders of tests that look at what is not in the package, or at the package from afar."""
_MOST_SECONDS: Final = 60.0
"""After so long no more tests start for one change: lines at the heart are reached by thousands."""


class _Reach:
    """Which tests reach which code.

    Args:
        data: what coverage measured, by test.
        times: how long the parts of each test took.
    """

    def __init__(self, data: Path, times: Path) -> None:
        self._data = coverage.CoverageData(str(data))
        self._data.read()
        seconds = defaultdict[str, float](float)
        for line in times.read_text("utf-8").splitlines():
            test, took = line.rsplit(" ", 1)
            seconds[test] += float(took)
        self._seconds = {test: took for test, took in seconds.items() if isfinite(took)}

    def tests(self, module: str, mutant: Mutant) -> Iterator[list[str]]:
        """The tests that may notice a change: those of its room, then others."""
        lines = self._lines(module)
        tests = set[str]().union(*(lines.get(line, ()) for line in mutant.lines or lines))
        own, room = f"/test_{Path(module).stem}.py::", _tests_of(module)
        near = {test for test in tests if test.startswith(room)}
        far = tests - near
        if not mutant.lines:  # a constant goes far
            near |= {test for test in self._seconds if test.startswith(room)}
        for some in filter(None, (near, far)):
            ordered = sorted(
                some, key=lambda test: (own not in test, test not in tests, self._seconds[test])
            )
            spent = accumulate((self._seconds[test] for test in ordered), initial=0.0)
            pairs = zip(ordered, spent, strict=False)
            yield [test for test, before in pairs if before <= _MOST_SECONDS]

    def limit(self, tests: Collection[str]) -> float:
        """Seconds after which they hang."""
        return _START_SECONDS + _SLOWER * sum(self._seconds[test] for test in tests)

    def _lines(self, module: str) -> dict[int, set[str]]:
        """The tests that run each line of a module, and pass without a change."""
        found = defaultdict[int, set[str]](set)
        for line, contexts in self._data.contexts_by_lineno(module).items():
            # A process that a test starts has the test and its phase for a context.
            names = {context.partition("[")[0].partition(" (")[0] for context in contexts}
            found[line] = names & self._seconds.keys()
        return found


class _Copy:
    """A copy of the repository in which code is changed and tested.

    Args:
        folder: an empty one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.root = folder / "repository"
        listed = _git("ls-files", "--cached", "--others", "--exclude-standard", "-z")
        for name in filter(None, listed.split("\0")):
            if (_ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(_ROOT / name, self.root / name)

    def measure(self, *tests: str, kept: Path | None = None, processes: int = 0) -> _Reach:
        """Run tests unchanged, unless a file has what was measured; those that fail do not count."""
        data, settings = kept or self._folder / "coverage", self._folder / "coveragerc"
        times = data.with_name(f"{data.name}-times")
        if kept and kept.is_file():
            return _Reach(kept, times)
        data.unlink(missing_ok=True)
        times.unlink(missing_ok=True)
        settings.write_text(_SETTINGS.format(root=self.root.resolve(), data=data.resolve()))
        program = ["-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest"]
        if processes:
            program += ["-n", f"{processes}"]
        self._run(program, tests, limit=7_200, times=times.resolve())
        if not times.is_file():
            sys.exit(f"The tests of {' '.join(tests)} do not run without a change.")
        combine = ["-m", "coverage", "combine", "--quiet", f"--rcfile={settings}"]
        subprocess.run([sys.executable, *combine], cwd=self.root, check=True)  # noqa: S603 - our own
        return _Reach(data, times)

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
            return not self._run(["-m", "pytest"], tests, limit=limit)
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
        self,
        program: Sequence[str],
        tests: Sequence[str],
        *,
        limit: float,
        times: Path | None = None,
    ) -> bool:
        """Whether the tests pass in time; those that are measured run to their end."""
        names = self._folder / "tests"
        names.write_text("\n".join(tests), "utf-8")
        home = self._folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        environment = os.environ | {
            "CI": "1",  # Hypothesis draws the same examples every time
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTEST_CURRENT_TEST": "",
            "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "" if times else "1",  # that of changed code is of no use
            _TIMES: str(times or ""),
            _MEASURING: str(self._folder / "coveragerc"),
        }
        options = [
            "-q",
            *([] if times else ["-x"]),
            "--no-header",
            "--tb=line",
            "-p",
            "no:cacheprovider",
            "-p",
            "scripts.mutate",
            "-m",
            "not live",
            *(f"--ignore=tests/{folder}" for folder in _BESIDE),
        ]
        command = [sys.executable, *program, *options, f"@{names}"]
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
    """Tell coverage which test runs."""
    measured = coverage.Coverage.current()
    if measured is not None:
        measured.switch_context(item.nodeid.partition("[")[0])
        # The patch gives processes the settings as read here, before any test had a name.
        os.environ.pop("COVERAGE_PROCESS_CONFIG", None)
        os.environ["COVERAGE_PROCESS_START"] = os.environ[_MEASURING]
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write down how long a test took: for ever, if it fails."""
    report = yield
    if os.environ.get(_TIMES):
        seconds = inf if report.failed else report.duration
        with Path(os.environ[_TIMES]).open("a", encoding="utf-8") as file:
            file.write(f"{item.nodeid.partition('[')[0]} {seconds}\n")
    return report


def main() -> None:
    """Choose changes, try them, print the ones that no test notices."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("modules", nargs="*", help="files, folders, or file:line")
    parser.add_argument("--changed", metavar="REV", help="the modules that differ from a revision")
    parser.add_argument("--most", type=int, default=100, help="try so many, drawn by lot")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--minutes", type=float, default=60.0, help="start no more after this time")
    parser.add_argument(
        "--reach", type=Path, metavar="FILE", help="run the tests of every folder; made if absent"
    )
    parser.add_argument("--tests", nargs="+", default=["tests"], help="those that FILE is to know")
    parser.add_argument("--processes", type=int, default=0, help="measure in so many")
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
        reach = None
        for room, mutants in by_room.items():
            if arguments.reach is None:
                reach = copied.measure(room)
            elif reach is None:
                reach = copied.measure(
                    *arguments.tests, kept=arguments.reach, processes=arguments.processes
                )
            tried = noticed = 0
            for module, mutant in mutants:
                if time.perf_counter() > ends:
                    break
                tests = [*reach.tests(module, mutant)]
                tried += 1
                if any(
                    copied.is_noticed(module, mutant, some, limit=reach.limit(some))
                    for some in tests
                ):
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
