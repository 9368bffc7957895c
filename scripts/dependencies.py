"""Show what an installation brings along, or look its packages up among known vulnerabilities.

    python scripts/dependencies.py            # packages and megabytes of the default installation
    python scripts/dependencies.py --audit    # with all extras; needs pip-audit and a source of advisories

Without byte code: pip compiles the modules, uv does not.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT: Final = "searx-mcp"
_SECONDS: Final = 300
_MEGABYTE: Final = 1_000_000


def installed(name: str, extras: Iterable[str] = ()) -> dict[str, Distribution]:
    """Find a package and everything that it needs in this environment, by canonical name."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, frozenset[str]]] = set()
    waiting = [(name, frozenset(extras))]
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        package, wanted = each
        found[canonicalize_name(package)] = here = distribution(package)
        for line in here.requires or ():
            needed = Requirement(line)
            if needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in ("", *wanted)
            ):
                waiting.append((needed.name, frozenset(needed.extras)))
    return found


def size(package: Distribution) -> int:
    """Count the bytes of a package's files that are there."""
    files = (Path(str(file.locate())) for file in package.files or () if file.suffix != ".pyc")
    return sum(file.stat().st_size for file in files if file.is_file())


def verdict(answer: str) -> tuple[int, str]:
    """Read what pip-audit found.

    Args:
        answer: its JSON; anything else where it could ask nobody.

    Returns:
        The exit code, and what to print. An index without advisories knows none of the packages: that
        is no clean result.
    """
    try:
        packages = json.loads(answer)["dependencies"]
    except ValueError:
        packages = []
    audited = [package for package in packages if "vulns" in package]
    if not audited:
        return 0, "skipped: no source of advisories can be reached from here"
    lines = [
        f"{package['name']} {package['version']}: {found['id']}, fixed in"
        f" {', '.join(found['fix_versions']) or 'no version'}"
        for package in audited
        for found in package["vulns"]
    ]
    unknown = [package["name"] for package in packages if "vulns" not in package]
    lines.append(f"{len(audited)} packages looked up; not known: {', '.join(unknown) or 'none'}")
    return int(len(lines) > 1), "\n".join(lines)


def audit() -> tuple[int, str]:
    """Look up the packages of an installation with all extras that are installed here."""
    extras = distribution(PROJECT).metadata.get_all("Provides-Extra") or ()
    packages: dict[str, Distribution] = {}
    for extra in ("", *extras):
        try:
            packages |= installed(PROJECT, [extra])
        except PackageNotFoundError as missing:
            print(f"left out: the extra {extra}, without {missing.name}")
    del packages[PROJECT]
    with tempfile.TemporaryDirectory() as folder:
        pinned = Path(folder, "requirements.txt")
        pinned.write_text(
            "".join(f"{name}=={d.version}\n" for name, d in packages.items()), "utf-8"
        )
        command = [
            *(sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "--format", "json"),
            *("--progress-spinner", "off", "--requirement", str(pinned)),
        ]
        try:
            ran = subprocess.run(  # noqa: S603 - this Python
                command, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return verdict("")
    return verdict(ran.stdout)


def table() -> str:
    """List the packages of the default installation, the largest first."""
    sizes = {name: size(package) for name, package in installed(PROJECT).items()}
    rows = [
        f"{sizes[name] / _MEGABYTE:6.1f}  {name}" for name in sorted(sizes, key=lambda n: -sizes[n])
    ]
    total = sum(sizes.values()) / _MEGABYTE
    return "\n".join([*rows, f"{total:6.1f}  MB in {len(sizes)} packages"])


def main() -> int:
    """Print the table or the verdict; returns the exit code."""
    parser = argparse.ArgumentParser(description="Show or audit what an installation brings along.")
    parser.add_argument("--audit", action="store_true", help="look for known vulnerabilities")
    code, text = audit() if parser.parse_args().audit else (0, table())
    print(text)
    return code


if __name__ == "__main__":
    sys.exit(main())
