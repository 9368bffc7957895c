"""What benchmarks check without a clock, as many at a time as there are cores.

    python -m benchmarks NAME...

Runs `python -m benchmarks.NAME --quick` for each, in this order: the longest first. Exits with 1 if one misses a target,
and then prints all that it said.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Final

_ROOT: Final = Path(__file__).resolve().parent.parent
_DEADLINE: Final = 900.0
"""Seconds for one of them; the slowest takes a thirtieth of it, and a third on a machine with ten times the work it can do."""


def main() -> None:
    """Run those that are named."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        has_missed = [not holds for holds in pool.map(_holds, sys.argv[1:])]
    sys.exit(any(has_missed))


def _holds(name: str) -> bool:
    began = perf_counter()
    try:
        done = subprocess.run(  # noqa: S603 - a module of this package
            [sys.executable, "-m", f"benchmarks.{name}", "--quick"],
            cwd=_ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_DEADLINE,
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        code, said = "no end", (exc.output or b"").decode(errors="replace")
    else:
        code, said = str(done.returncode), done.stdout
    is_met = code == "0"
    verdict = "all targets met" if is_met else f"{code}\n{said}"
    print(f"{name}, {perf_counter() - began:.1f} s: {verdict}", flush=True)
    return is_met


if __name__ == "__main__":
    main()
