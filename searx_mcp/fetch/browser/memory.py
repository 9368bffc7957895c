"""How much memory a group of processes takes, where the kernel tells."""

import os
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")

# proc(5): in `stat` after the name, which may hold anything, the state is followed by the parent and
# the group; in `statm` the second field counts resident pages, and the third those among them that
# belong to files, such as the program, which all processes share.
_GROUP: Final = 2
_RESIDENT, _OF_FILES = 1, 2


def private_memory(group: int, *, proc: Path = _PROC) -> int | None:
    """Bytes that the processes of a group take for themselves, or `None` if nobody tells.

    Processes that end meanwhile do not count.

    Args:
        group: its number.
        proc: where the kernel describes processes, on Linux.
    """
    try:
        folders = [entry.path for entry in os.scandir(proc) if entry.name.isdigit()]
    except OSError:
        return None
    if not folders:
        return None
    return sum(_pages(folder) for folder in folders if _group(folder) == group) * _page_size()


def _group(folder: str) -> int | None:
    try:
        said = Path(folder, "stat").read_bytes()
        return int(said.rpartition(b")")[2].split()[_GROUP])
    except (OSError, ValueError, IndexError):
        return None


def _pages(folder: str) -> int:
    try:
        counts = Path(folder, "statm").read_bytes().split()
        return int(counts[_RESIDENT]) - int(counts[_OF_FILES])
    except (OSError, ValueError, IndexError):
        return 0


def _page_size() -> int:
    return os.sysconf("SC_PAGE_SIZE")
