"""Build what a release publishes, and check that it fits together.

    python scripts/release.py FOLDER            # a dry run: builds and checks, publishes nothing
    python scripts/release.py FOLDER --publish  # then pushes the tag, which has the workflow publish it

Each check is one line. A check whose program is missing says so; with `--publish` it fails.
"""

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from searx_mcp import __version__

ROOT: Final = Path(__file__).resolve().parents[1]
_SECONDS: Final = 600.0


class Skipped(Exception):  # noqa: N818 - no error
    """A check cannot be made on this machine."""


def versions() -> dict[str, str]:
    """The version that each file names besides the package."""

    def read(path: str) -> dict[str, object]:
        found: dict[str, object] = json.loads((ROOT / path).read_text("utf-8"))
        return found

    server = (ROOT / "server.json").read_text("utf-8")
    named = dict(enumerate(re.findall(r'"version": "([^"]+)"', server), 1))
    plugin = re.search(r"searx-mcp@([^\"]+)", (ROOT / "plugin/.mcp.json").read_text("utf-8"))
    return {
        **{f"server.json, {number}": version for number, version in named.items()},
        "plugin/.mcp.json": plugin[1] if plugin else "",
        **{
            path: str(read(path)["version"])
            for path in ("plugin/.claude-plugin/plugin.json", "plugin/.codex-plugin/plugin.json")
        },
    }


def _version(_: Path) -> str:
    wrong = [f"{path} names {found}" for path, found in versions().items() if found != __version__]
    if wrong:
        raise ValueError("; ".join(wrong))
    return __version__


def _changes(_: Path) -> str:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    if not any(heading.lstrip("[").startswith(__version__) for heading in headings):
        raise Skipped(f"CHANGELOG.md has no section {__version__} yet")
    return f"CHANGELOG.md tells of {__version__}"


def _tree(_: Path) -> str:
    changed = _run("git", "status", "--porcelain")
    tags = _run("git", "tag", "--list", f"v{__version__}")
    if changed or tags:
        raise Skipped("there are changes that are not committed" if changed else f"{tags} exists")
    return "everything is committed, and there is no such tag"


def _distributions(folder: Path) -> str:
    _run(sys.executable, "-m", "hatchling", "build", "-d", str(folder))
    files = sorted(str(path) for path in folder.glob(f"*{__version__}*") if path.suffix != ".mcpb")
    _run(sys.executable, "-m", "twine", "check", "--strict", *files)
    return ", ".join(Path(file).name for file in files)


def _bundle(folder: Path) -> str:
    return _run(sys.executable, "-P", str(ROOT / "scripts/build_bundle.py"), str(folder))


def _image(_: Path) -> str:
    try:
        _run("docker", "info")
    except (OSError, subprocess.CalledProcessError) as error:
        raise Skipped("docker is missing, or does not run") from error
    _run("docker", "build", "--tag", f"searx-mcp:{__version__}", ".")
    return f"searx-mcp:{__version__}"


CHECKS: Final[dict[str, Callable[[Path], str]]] = {
    "version": _version,
    "changes": _changes,
    "tree": _tree,
    "wheel and source": _distributions,
    "bundle": _bundle,
    "image": _image,
}


def checked(folder: Path, *, strict: bool) -> Iterator[tuple[str, bool]]:
    """Make each check; gives a line of it, and whether it failed.

    Args:
        folder: where the files go.
        strict: whether a check that cannot be made has failed.
    """
    for name, check in CHECKS.items():
        try:
            yield f"ok       {name}: {check(folder)}", False
        except Skipped as missing:
            yield f"{'failed ' if strict else 'skipped'}  {name}: {missing}", strict
        except (ValueError, OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or getattr(error, "stdout", None) or str(error)
            yield f"failed   {name}: {said.strip()}", True


def _run(*command: str) -> str:
    done = subprocess.run(  # noqa: S603 - all are written above
        command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=_SECONDS
    )
    return done.stdout.strip()


def main() -> int:
    """Build, check, and publish if that is wanted; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the files go; made if it is missing")
    parser.add_argument("--publish", action="store_true", help="push the tag if all is well")
    options = parser.parse_args()
    folder: Path = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for line, is_failed in checked(folder, strict=options.publish):
        print(line, flush=True)
        failed += is_failed
    if failed or not options.publish:
        return 1 if failed else 0
    _run("git", "tag", f"v{__version__}")
    print(_run("git", "push", "origin", f"v{__version__}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
