"""What a hostile body costs, and how many pages come through at once.

    python -m benchmarks.fetch [--json] [--quick] [--seed N] [--peer-python PATH]

Sites and clients are processes of their own on loopback; `docs/decisions/benchmarks.md` says what it shows.
"""

import statistics
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from benchmarks.fetching import memory
from benchmarks.fetching.bombs import BOMBS, TRUNCATED
from benchmarks.fetching.load import CONCURRENCY, Load
from benchmarks.fetching.pages import make_pages
from benchmarks.fetching.processes import (
    Sites,
    open_bombs,
    open_sites,
    run_client,
    run_peer,
)
from benchmarks.measure import Ratio, Table, command_line, report

SEED: Final = 1
MEGABYTES, QUICK_MEGABYTES = 200, 50
ROUNDS: Final = 3
PASSES: Final = 5

OURS, THREADS, BARE = "searx-mcp", "searx-mcp in threads", "aiohttp, read only"
PEER: Final = "mcp-server-fetch"

_BOMB_MEMORY: Final = 16.0  # MB, of what keeps next to nothing; 2.6 is the most measured
_BOMB_MORE: Final = (
    8.0  # MB, above the good answer; single runs differ by 3, a bomb held whole is 50
)
_STALL: Final = 25.0  # ms
_SPEED: Final = 5.0
_MEMORY: Final = 160.0  # MB
_GROWTH: Final = 8.0  # MB
_SIZE: Final = 1 << 20
"""Bytes of web_fetch.max_content_size."""
_SENT: Final = 64 << 20
"""Bytes of a body without end that may leave its site: what is read, and the buffers of two sockets."""

_GOOD: Final = frozenset(bomb.like for bomb in BOMBS.values())

Jobs = Sequence[tuple[str, str]]
Part = tuple[list[Ratio], Table]


def main() -> None:
    """Measure and report."""
    options = command_line(
        "What a hostile body costs, and how many pages come through at once.",
        seed=SEED,
        texts={"--peer-python": "a Python with mcp-server-fetch installed, to compare with"},
    )
    if not memory.IS_MEASURED:
        sys.exit("Memory is read from /proc, which only Linux has.")
    megabytes = QUICK_MEGABYTES if options.quick else MEGABYTES
    with open_sites(options.seed, megabytes) as sites:
        jobs = sites.jobs(make_pages(options.seed))
        with open_bombs() as run_bomb:
            targets, table = _bombs(sites, megabytes, run_bomb)
        tables = [table]
        targets += _counted(sites, jobs)
        if not options.quick:
            for part in (_compared(jobs, options.peer_python), _repeated(jobs)):
                targets += part[0]
                tables.append(part[1])
    report(targets, as_json=options.json, tables=tables)


def _bombs(sites: Sites, megabytes: int, run_bomb: Callable[[str, str], dict[str, Any]]) -> Part:
    targets: list[Ratio] = []
    rows: list[tuple[str | float, ...]] = []
    grown: dict[str, float] = {}
    for name, bomb in BOMBS.items():
        url = f"{sites.origins[0]}/bomb/{quote(name)}"
        if bomb.is_robots:
            url = f"{sites.robots[name]}/small"
        sites.counts()
        found = run_bomb(sites.small, url)
        sent = sites.counts()["bytes of bombs"]
        grown[name] = found["grown"]
        rows.append((name, found["outcome"], found["size"], sent, round(grown[name], 1)))
        targets.append(_none(f"{name}: not {bomb.outcome}", found["outcome"] != bomb.outcome))
        if bomb.like:
            more = grown[name] - grown[bomb.like]
            targets.append(_at_most(f"{name}: MB more than {bomb.like}", more, _BOMB_MORE))
        elif name not in _GOOD:
            targets.append(_at_most(f"{name}: MB more", grown[name], _BOMB_MEMORY))
        if bomb.outcome == TRUNCATED:
            targets.append(_at_most(f"{name}: bytes kept", found["size"], _SIZE))
        if bomb.is_endless:
            targets.append(_at_most(f"{name}: bytes sent", sent, _SENT))
    table = Table(
        f"Bombs of {megabytes} MB, each in a process that has fetched a small page before",
        ("bomb", "outcome", "bytes kept", "bytes sent", "MB more"),
        tuple(rows),
        (
            "bytes kept: of the decoded body. bytes sent: by the site, those left in buffers included.",
            "MB more: the peak of resident memory over what there was before the bomb.",
        ),
    )
    return targets, table


def _counted(sites: Sites, jobs: Jobs) -> list[Ratio]:
    """Every page comes by one request, after one for the robots.txt of each site."""
    sites.counts()
    load = run_client("ours", jobs)
    counts = sites.counts()
    robots = counts.pop("/robots.txt", 0)
    counts.pop("/small")
    return [
        Ratio("pages that came whole", load.pages, len(jobs), at_least=True),
        _none("pages not asked for once", sum(count != 1 for count in counts.values())),
        _none("pages not asked for", len(jobs) - len(counts)),
        _none("robots.txt not asked for once a site", abs(robots - len(sites.origins))),
    ]


def _compared(jobs: Jobs, peer_python: str | None) -> Part:
    clients: dict[str, Callable[[], Load]] = {
        OURS: partial(run_client, "ours", jobs),
        THREADS: partial(run_client, "threads", jobs),
        BARE: partial(run_client, "aiohttp", jobs),
    }
    if peer_python:
        clients[PEER] = partial(run_peer, peer_python, jobs)
    runs: dict[str, list[Load]] = {name: [] for name in clients}
    for _ in range(ROUNDS):
        for name, run in clients.items():
            runs[name].append(run())
    speeds = {name: _speed(loads) for name, loads in runs.items()}
    targets = [
        _none(f"{name}: pages lost", sum(len(jobs) - load.pages for load in runs[name]))
        for name in (OURS, THREADS, BARE)
    ]
    targets += [
        _at_most("stall, ms, 99 of 100 moments", _median(runs[OURS], "stall_p99"), _STALL),
        _at_most("stall, ms, the longest", _median(runs[OURS], "stall_max"), _STALL),
        _at_most("in threads, 99 of 100 moments", _median(runs[THREADS], "stall_p99"), _STALL),
    ]
    rows = [_row(name, loads, speeds[name] / speeds[BARE]) for name, loads in runs.items()]
    if peer_python:
        faster = speeds[OURS] / speeds[PEER]
        targets.append(Ratio(f"pages/s, ours / {PEER}", faster, _SPEED, at_least=True))
    else:
        rows.append((PEER, "not measured: --peer-python names no Python", *[""] * 8))
    table = Table(
        f"{len(jobs)} pages, {CONCURRENCY} at a time, medians of {ROUNDS} rounds",
        (
            *("client", "pages/s", "of bare", "CPU ms/page", "in children"),
            *("stall p99 ms", "stall max ms", "MB before", "MB peak", "lost"),
        ),
        tuple(rows),
        (
            "CPU: of the process with the event loop, and of its children, their start included.",
            "MB: of the process with the event loop.",
        ),
    )
    return targets, table


def _row(name: str, loads: Sequence[Load], share: float) -> tuple[str | float, ...]:
    failures = sum((Counter(load.failures) for load in loads), Counter[str]())
    return (
        name,
        round(_speed(loads), 1),
        round(share, 3),
        round(statistics.median(1_000 * load.cpu / load.pages for load in loads), 1),
        round(statistics.median(1_000 * load.children / load.pages for load in loads), 1),
        *(round(_median(loads, each), 1) for each in ("stall_p99", "stall_max", "before", "peak")),
        ", ".join(f"{count} {failure}" for failure, count in failures.items()),
    )


def _repeated(jobs: Jobs) -> Part:
    """Fetch all pages again and again, in one process."""
    load = run_client("ours", jobs, passes=PASSES)
    table = Table(
        f"{PASSES * len(jobs)} fetches in one process",
        ("MB before", *(f"after {(number + 1) * len(jobs)}" for number in range(PASSES)), "peak"),
        ((round(load.before, 1), *(round(each, 1) for each in load.after), round(load.peak, 1)),),
    )
    targets = [
        _at_most("MB at the peak", load.peak, _MEMORY),
        _at_most("MB more after the last pass than after the second", _grown(load), _GROWTH),
    ]
    return targets, table


def _grown(load: Load) -> float:
    return load.after[-1] - load.after[1]


def _speed(loads: Sequence[Load]) -> float:
    return statistics.median(load.pages / load.seconds for load in loads)


def _median(loads: Sequence[Load], name: str) -> float:
    values: list[float] = [getattr(load, name) for load in loads]
    return statistics.median(values)


def _none(name: str, count: float) -> Ratio:
    return _at_most(name, count, 0)


def _at_most(name: str, value: float, limit: float) -> Ratio:
    return Ratio(name, value, limit, at_least=False)


if __name__ == "__main__":
    main()
