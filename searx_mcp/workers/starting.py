"""How a process is started: its command line, and an environment without secrets."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import searx_mcp

_KEPT: Final = (
    "PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH",
    "PYTHONHOME",
)  # fmt: skip
"""What an interpreter may need to start at all. Tokens and proxies with passwords are elsewhere."""


def command(module: str, *arguments: str) -> Sequence[str]:
    """The command line that runs a module with this interpreter.

    `-P` keeps the current folder off the path, UTF-8 is used whatever the locale.

    Raises:
        FileNotFoundError: this program is not run by an interpreter that could run a module: it is
            frozen into one file, or embedded in another program.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise FileNotFoundError("no Python interpreter to start")
    return [sys.executable, "-P", "-X", "utf8", "-m", module, *arguments]


def environment(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The environment of the process.

    Its imports find what ours find, however this package was installed. `-I` would hide packages
    of a user and of `PYTHONPATH`.

    Args:
        environ: that of this process.
    """
    kept = {name: environ[name] for name in _KEPT if name in environ}
    package = str(Path(searx_mcp.__file__).resolve().parents[1])
    # An empty or relative entry would be the current folder, whatever lies there.
    paths = [path for path in sys.path if Path(path).is_absolute() and os.pathsep not in path]
    if package not in paths:
        paths.append(package)
    return {**kept, "PYTHONPATH": os.pathsep.join(paths)}
