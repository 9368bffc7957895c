"""How long it takes from nothing to the first answer of an instance of one's own, by step.

    python -m benchmarks.own [--json] [--version VERSION] [--installer pip|uv]

By hand: it fetches SearXNG and its packages, and installs them in a folder that it removes. With
`--version`, the path of an archive, only the packages are fetched. It installs twice and counts the
second time, so that the caches of the installer are warm.
"""

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.measure import Ratio, Table, command_line, report
from searx_mcp.client.stores import open_state
from searx_mcp.models.own_instance import NativeInstanceUp
from searx_mcp.ops.own.native import NativeOptions, open_native
from searx_mcp.ops.own.packages import for_uv
from searx_mcp.settings.values import Settings

SECONDS: Final = {"pip": 30.0, "uv": 6.0}
"""From nothing to the first answer at most, the fetching of the source apart."""
_STEPS: Final = ("source", "environment", "start", "search")


def main() -> None:
    """Measure and report."""
    options = command_line(
        "How long it takes from nothing to the first answer of an instance of one's own.",
        texts={
            "--version": "latest, a commit, or the path of an archive",
            "--installer": "pip or uv; uv where it is installed",
        },
    )
    uv = None if for_uv(os.environ).untold else shutil.which("uv")
    chosen = options.installer or ("uv" if uv else "pip")
    if chosen == "pip" and uv:
        os.environ["PATH"] = _path_without(uv)
    if chosen == "uv" and not uv:
        sys.exit("uv is not installed, or cannot be told what pip is")
    times = 1 if options.quick else 2
    *_, up = [asyncio.run(_install(options.version)) for _ in range(times)]
    spent = sum(up.seconds[step] for step in _STEPS[1:])
    limit = SECONDS[chosen]
    megabytes = (up.memory or 0) / 1e6
    table = Table(
        f"From nothing to the first answer with {chosen}, SearXNG {up.version}",
        ("step", "s"),
        tuple((step, up.seconds[step]) for step in _STEPS),
        (f"{megabytes:.0f} MB of memory after the first search.", *up.notes),
    )
    target = Ratio(f"seconds with {chosen}, the source apart", spent, limit, at_least=False)
    report([target], as_json=options.json, tables=[table])


async def _install(version: str | None) -> NativeInstanceUp:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.model_validate({"storage": {"folder": str(Path(folder, "state"))}})
        async with open_native(settings, open_state(settings), progress=lambda _: None) as runner:
            try:
                return await runner.up(NativeOptions(version))
            finally:
                await runner.down()


def _path_without(program: str) -> str:
    """The path on which a program is not found."""
    kept = os.environ["PATH"].split(os.pathsep)
    while shutil.which(Path(program).name, path=os.pathsep.join(kept)):
        found = Path(shutil.which(Path(program).name, path=os.pathsep.join(kept)) or "").parent
        kept = [folder for folder in kept if Path(folder) != found]
    return os.pathsep.join(kept)


if __name__ == "__main__":
    main()
