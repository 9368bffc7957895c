"""Lists every stored file, and deletes them."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from searx_mcp.evidence.storage.sqlite import FILE_NAME as CORPUS_NAME
from searx_mcp.evidence.storage.store import CorpusStore
from searx_mcp.models.base import Frozen
from searx_mcp.ops.own.installation import VERSIONS
from searx_mcp.pool.config import NATIVE_FOLDER
from searx_mcp.search.background.discovery import FILE_NAME as LIST_NAME
from searx_mcp.storage.config import KEY_FILE
from searx_mcp.storage.pages import PageStore
from searx_mcp.storage.sqlite_pages import FILE_NAME as PAGES_NAME
from searx_mcp.storage.sqlite_pages import KEY_FILE as PAGES_KEY_FILE
from searx_mcp.storage.sqlite_state import FILE_NAME as STATE_NAME
from searx_mcp.storage.state import StateStore


class FileKind(StrEnum):
    """Kinds of files."""

    SETTINGS = "settings"
    STATE = "state"
    PAGES = "pages"
    CORPUS = "corpus"
    COMPANION = "companion"
    """Exists beside a database while it is used."""
    DAMAGED = "damaged"
    LIST = "list"
    KEY = "key"
    PAGES_KEY = "pages_key"
    OWN_INSTANCE = "own_instance"
    OTHER = "other"


class KeptFile(Frozen):
    """One file, for a person who wants to know what is stored.

    Attributes:
        path: of the file.
        kind: of the file.
        what: its content and how long it is kept, a sentence.
        size: bytes.
        age: seconds since the last write.
    """

    path: str
    kind: FileKind
    what: str
    size: int
    age: float


class KeptFiles(Frozen):
    """Every stored file, and the folder.

    Attributes:
        folder: of the state, or `None` if nothing outlives a process.
        files: sorted by path.
        size: bytes of all of them.
    """

    folder: str | None
    files: tuple[KeptFile, ...] = ()
    size: int = 0


class Purged(Frozen):
    """The outcome of a purge.

    Attributes:
        emptied: files whose contents were deleted, so that running servers continue.
        deleted: files that were deleted.
        left: files that remain, by path, and why.
    """

    emptied: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    left: Mapping[str, str] = {}

    def emptying(self, name: str) -> "Purged":
        """Return the same with one more place whose contents were deleted."""
        return self.model_copy(update={"emptied": (*self.emptied, name)})


_WHAT: Final = {
    FileKind.SETTINGS: "Your settings; searx-mcp never writes this file.",
    FileKind.STATE: (
        "Requests by instance and time (80 days), what was learned about instances, your choices by command. No"
        " queries, no results."
    ),
    FileKind.PAGES: (
        "Cached pages, with their addresses; compressed, not encrypted; 7 days and 100 MB"
        " unless configured otherwise."
    ),
    FileKind.CORPUS: (
        "The corpus: pages read for questions, with their addresses;"
        " compressed, not encrypted; 90 days and 512 MB unless configured otherwise."
    ),
    FileKind.COMPANION: "Lock of the file with the same name.",
    FileKind.DAMAGED: "A damaged file that was set aside; you can delete it.",
    FileKind.LIST: "The list of public instances from searx.space, updated twice a day.",
    FileKind.OWN_INSTANCE: (
        "Made by `instances own up` for your own instance: settings with its secret key, its log,"
        " SearXNG itself."
    ),
    FileKind.KEY: "The secret that hides queries and addresses on Redis; see `docs/guides/scaling.md`.",
    FileKind.PAGES_KEY: "The secret under which the addresses of kept pages are looked up.",
    FileKind.OTHER: "Unknown to this version.",
}
_WHY_LEFT: Final = {
    FileKind.LIST: "It holds nothing about you; `--all` deletes it too.",
    FileKind.KEY: "Without it, data shared so far cannot be found; `--all` deletes it too.",
    FileKind.PAGES_KEY: "It holds nothing about you; `--all` deletes it too.",
    FileKind.OWN_INSTANCE: "`searx-mcp instances own down` removes it.",
    FileKind.OTHER: "Not a file of searx-mcp.",
}
_WITH_ALL: Final = frozenset({FileKind.LIST, FileKind.KEY, FileKind.PAGES_KEY})
_DATABASES: Final = (STATE_NAME, PAGES_NAME, CORPUS_NAME)
_KINDS: Final = {
    STATE_NAME: FileKind.STATE,
    PAGES_NAME: FileKind.PAGES,
    CORPUS_NAME: FileKind.CORPUS,
    LIST_NAME: FileKind.LIST,
    KEY_FILE: FileKind.KEY,
    PAGES_KEY_FILE: FileKind.PAGES_KEY,
    **{
        f"{name}{end}": FileKind.COMPANION
        for name in _DATABASES
        for end in ("-wal", "-shm", "-journal", ".lock")
    },
    f"{NATIVE_FOLDER}.lock": FileKind.COMPANION,
}
_MANY: Final = 1_000
"""Maximum number of files; there are never more than a dozen of ours."""


def kept_files(folder: Path | None, *, config: Path | None, now: float) -> KeptFiles:
    """List every stored file; changes nothing.

    Args:
        folder: of the state, or `None` if nothing outlives a process.
        config: the settings file in use, or `None`.
        now: Unix seconds.
    """
    paths = [(config, FileKind.SETTINGS)] if config is not None else []
    if folder is not None:
        paths += [(path, _kind(path, folder)) for path in _inside(folder)]
    files = [file for path, kind in paths if (file := _look(path, kind, now)) is not None]
    files.sort(key=lambda file: file.path)
    return KeptFiles(
        folder=None if folder is None else str(folder),
        files=tuple(files),
        size=sum(file.size for file in files),
    )


async def delete_kept(
    folder: Path | None,
    state: StateStore,
    pages: PageStore,
    corpus: CorpusStore,
    *,
    everything: bool,
) -> Purged:
    """Delete what was learned and read; with `everything`, also the list of instances and the keys.

    The files of state, pages and corpus are emptied and not removed, since other processes may be using them.
    The settings and an own instance made here are the user's and stay.

    Args:
        folder: of the state, or `None` if nothing outlives a process.
        state: the store in that folder; the caller closes it.
        pages: likewise.
        corpus: likewise, of any namespace; all namespaces are deleted.
        everything: whether to delete the list of public instances and the keys, too.

    Raises:
        StorageError: one of them could not be deleted.
    """
    if folder is None:
        for kept in (corpus, pages, state):
            await kept.purge()
        return Purged()
    found = await asyncio.to_thread(lambda: {path: _kind(path, folder) for path in _inside(folder)})
    emptied, deleted, left = [], [], {}
    for name, store in ((CORPUS_NAME, corpus), (PAGES_NAME, pages), (STATE_NAME, state)):
        if folder / name in found:
            await store.purge()
            emptied.append(str(folder / name))
    for path, kind in found.items():
        if kind is FileKind.DAMAGED or (everything and kind in _WITH_ALL):
            await asyncio.to_thread(path.unlink, missing_ok=True)
            deleted.append(str(path))
        elif kind in _WHY_LEFT:
            left[str(path)] = _WHY_LEFT[kind]
    return Purged(emptied=tuple(emptied), deleted=tuple(deleted), left=left)


def _inside(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder; SearXNG itself, thousands of files, is one entry."""
    found = []
    for place, folders, names in os.walk(folder):
        if VERSIONS in folders and Path(place) == folder / NATIVE_FOLDER:
            folders.remove(VERSIONS)
            found.append(Path(place, VERSIONS))
        found += [Path(place, name) for name in names]
        if len(found) >= _MANY:
            break
    yield from sorted(path for path in found[:_MANY] if path.is_file() or path.name == VERSIONS)


def _kind(path: Path, folder: Path) -> FileKind:
    if folder / NATIVE_FOLDER in path.parents:
        return FileKind.OWN_INSTANCE
    if path.parent != folder:
        return FileKind.OTHER
    if path.name.startswith(tuple(f"{name}.damaged-" for name in _DATABASES)):
        return FileKind.DAMAGED
    return _KINDS.get(path.name, FileKind.OTHER)


def _look(path: Path, kind: FileKind, now: float) -> KeptFile | None:
    try:
        found = path.stat()
        size = found.st_size
        if path.is_dir():
            size = sum(file.lstat().st_size for file in path.rglob("*") if not file.is_dir())
    except OSError:
        return None
    age = max(0.0, round(now - found.st_mtime, 1))
    return KeptFile(path=str(path), kind=kind, what=_WHAT[kind], size=size, age=age)
