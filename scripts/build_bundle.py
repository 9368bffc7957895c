"""Build the bundle that Claude Desktop and other hosts install with a double click.

    python -m build && python scripts/build_bundle.py dist

The bundle, `searx-mcp-VERSION.mcpb`, has the wheel of the folder and a project that depends on it. The
host runs it with uv, which brings Python and the dependencies. The same wheel makes the same bundle, byte for byte.
"""

import argparse
import json
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any, Final

from searx_mcp import __version__
from searx_mcp.server.guidance import PURPOSES
from searx_mcp.settings.tools import PROFILES
from searx_mcp.sources.searxng.request import PROJECT_URL

ROOT: Final = Path(__file__).resolve().parent.parent
ENTRY_POINT: Final = "server.py"
SERVER: Final = '''"""Start the server that is installed beside this file."""

from searx_mcp.__main__ import main

if __name__ == "__main__":
    main()
'''
EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every file: the first that a ZIP can tell."""


def manifest(project: dict[str, Any]) -> dict[str, Any]:
    """Describe the bundle to a host.

    Args:
        project: the table of that name in `pyproject.toml`.
    """
    return {
        "manifest_version": "0.4",
        "name": project["name"],
        "display_name": "searx-mcp: web search",
        "version": __version__,
        "description": project["description"],
        "author": project["authors"][0],
        "repository": {"type": "git", "url": PROJECT_URL},
        "server": {
            "type": "uv",
            "entry_point": ENTRY_POINT,
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", ENTRY_POINT, "stdio"],
                "env": {"SEARXNG_URL": "${user_config.searxng_url}"},
            },
        },
        "tools": [
            {"name": tool, "description": f"{PURPOSES[tool].capitalize()}."}
            for tool in PROFILES["default"]
        ],
        "keywords": project["keywords"],
        "license": project["license"],
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": project["requires-python"]},
        },
        "user_config": {
            "searxng_url": {
                "type": "string",
                "title": "Your SearXNG instances",
                "description": "Addresses, separated by commas. Leave it empty to search public instances.",
                "required": False,
                "default": "",
            }
        },
    }


def environment(project: dict[str, Any], wheel: str) -> str:
    """Write the `pyproject.toml` of the bundle, which depends on the wheel beside it."""
    return f"""[project]
name = "{project["name"]}-bundle"
version = "{__version__}"
requires-python = "{project["requires-python"]}"
dependencies = ["{project["name"]}"]

[tool.uv]
package = false

[tool.uv.sources]
{project["name"]} = {{ path = "{wheel}" }}
"""


def build(folder: Path) -> Path:
    """Write the bundle beside the wheel.

    Args:
        folder: has the wheel of this version.

    Raises:
        FileNotFoundError: it does not.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wheel = folder / f"{project['name'].replace('-', '_')}-{__version__}-py3-none-any.whl"
    bundle = folder / f"{project['name']}-{__version__}.mcpb"
    files = {
        "manifest.json": json.dumps(manifest(project), indent=2).encode(),
        "pyproject.toml": environment(project, wheel.name).encode(),
        ENTRY_POINT: SERVER.encode(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        wheel.name: wheel.read_bytes(),
    }
    with zipfile.ZipFile(bundle, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    return bundle


def main() -> int:
    """Build the bundle; returns the exit code."""
    parser = argparse.ArgumentParser(description="Build the bundle of a wheel.")
    parser.add_argument("folder", type=Path, help="where the wheel is and the bundle goes")
    folder: Path = parser.parse_args().folder
    try:
        print(build(folder))
    except FileNotFoundError as error:
        print(f"{error.filename} is missing; build it: python -m build", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
