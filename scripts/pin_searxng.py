"""Write `searx_mcp/ops/own/constraints.txt`: a version for every package of the pinned SearXNG.

    python scripts/pin_searxng.py ARCHIVE

SearXNG pins what it needs itself, but not what these packages need in turn. `ARCHIVE` is its source at
the commit `PINNED`, as `https://github.com/searxng/searxng/archive/COMMIT.zip`. uv resolves it for all
Pythons and systems, with the package index that it is set to. Run it when `PINNED` changes, then try
`searx-mcp instances own up` with uv and with pip.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from searx_mcp.ops.own.packages import CONSTRAINTS, SERVER, WHEELS
from searx_mcp.ops.own.source import PINNED, PINNED_TREE, unpack

PYTHON: Final = "3.11"
"""The oldest Python that we run on."""
_SECONDS: Final = 300.0
_LINE: Final = re.compile(r"[a-z0-9-]+==[0-9a-z.]+(?: ; [a-z_0-9 .'<>=!()]+)?")


def main() -> None:
    """Resolve, and write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("archive", type=Path, help="SearXNG's source at the pinned commit")
    archive = parser.parse_args().archive
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source")
        if unpack(archive.read_bytes(), source).tree != PINNED_TREE:
            sys.exit(f"{archive} is not the commit {PINNED}.")
        needed = (source / "requirements.txt").read_text("utf-8")
        CONSTRAINTS.write_text(constraints(resolve(f"{needed}\n{SERVER}\n")), encoding="utf-8")


def resolve(requirements: str) -> str:
    """The newest versions of packages, and of those that they need, as uv prints them."""
    command = (
        *(sys.executable, "-m", "uv", "pip", "compile", "-", "--quiet", "--universal"),
        *("--python-version", PYTHON, "--no-header", "--no-annotate", *WHEELS),
    )
    ran = subprocess.run(  # noqa: S603 - uv, with arguments of ours
        command, input=requirements, stdout=subprocess.PIPE, text=True, check=True, timeout=_SECONDS
    )
    return ran.stdout


def constraints(resolved: str) -> str:
    """A file of constraints, which pip and uv read alike.

    Args:
        resolved: a package in each line, with its version and perhaps the environments that it is for.
    """
    lines = resolved.splitlines()
    for line in lines:
        if not _LINE.fullmatch(line):
            sys.exit(f"not a name with a version: {line}")
    return "\n".join([f"# SearXNG {PINNED}, by scripts/pin_searxng.py", *lines, ""])


if __name__ == "__main__":
    main()
