"""SearXNG's source: fetched or given, unpacked within bounds, told by git's hash of it."""

import asyncio
import hashlib
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import urljoin, urlsplit

from searx_mcp.errors import FetchError, InvalidArgumentError
from searx_mcp.files import read_bytes
from searx_mcp.http.http import HttpSession
from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.ops.own.archive import (
    LINK,
    Entry,
    read_archive,
    wrong,
)
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.sources.searxng.request import honest

PINNED: Final = "9fea41204fdfa7a5cfa15b0ebd12904c520478ce"
"""The commit of SearXNG that this release was tried with, of 22 August 2026."""
PINNED_TREE: Final = "4538dbf9f936e7b7bb97fb12dda746b7b588e93d"
"""The hash that git has of its files. Archives of one commit may differ by the byte, the files may not."""
LATEST: Final = "latest"
COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_MAX_REDIRECTS: Final = 5
_HEADERS_TIMEOUT: Final = 30.0
"""Seconds; GitHub makes an archive when it is first asked for."""
MAX_ARCHIVE: Final = 67_108_864
"""Bytes of an archive; that of August 2026 has 7 million."""
_MAX_UNPACKED: Final = 268_435_456
"""Bytes of all its files; that of August 2026 has 21 million."""
_MAX_SECONDS: Final = 2**32 - 1
"""Unix seconds; an archive has no room for more, and a file system may claim any year."""
_NEEDED: Final = ("searx", "requirements.txt", "LICENSE")
"""Files that an instance runs with. The rest is hashed and left out: tests, documentation, tools."""
_APPLICATION: Final = PurePosixPath("searx/webapp.py")
_TREE: Final = b"40000"
"""The mode that git has for a folder."""

_FROZEN: Final = """\
# Written by searx-mcp: without it SearXNG asks git for its version when it starts.
VERSION_STRING = "{version}"
VERSION_TAG = "{version}"
DOCKER_TAG = "{tag}"
GIT_URL = "https://github.com/searxng/searxng"
GIT_BRANCH = "master"
"""


@dataclass(frozen=True, slots=True)
class Source:
    """SearXNG's source, unpacked.

    Attributes:
        commit: as the archive says; empty if it does not.
        tree: git's hash of all that was in it.
        released_at: Unix seconds of the commit; 0 if the archive does not say.
    """

    commit: str
    tree: str
    released_at: float

    @property
    def version(self) -> str:
        """The version as SearXNG itself makes it of date and commit."""
        day = datetime.fromtimestamp(self.released_at, UTC)
        return f"{day.year}.{day.month}.{day.day}+{(self.commit or self.tree)[:9]}"


class Sources:
    """Gets SearXNG's source and unpacks it.

    Args:
        session: for public addresses, guarded.
        repository: where archives are fetched from, as GitHub has them.
        trees: git's hash of the files by commit, where it is known.
    """

    def __init__(
        self,
        session: Callable[[], HttpSession],
        repository: str,
        trees: dict[str, str] | None = None,
    ) -> None:
        self._session = session
        self._repository = repository.rstrip("/")
        self._trees = {PINNED: PINNED_TREE} if trees is None else trees

    async def get(self, version: str, target: Path | None, *, deadline: float) -> Source:
        """Get one version.

        Args:
            version: `latest`, a commit, or the path of an archive.
            target: the folder to unpack to, which does not exist; `None` only to identify the version.
            deadline: instant on the running loop's clock by which it must be fetched.

        Raises:
            InvalidArgumentError: `version` is none of these, or cannot be read.
            OwnInstanceError: `no_network`, `not_found`, `wrong_archive` or `wrong_tree`.
            OSError: `target` cannot be written.
        """
        is_local = version != LATEST and not COMMIT.fullmatch(version)
        if is_local:
            source = await _to_its_end(partial(_from_here, version, target))
        else:
            ref = "HEAD" if version == LATEST else version
            data = await self._fetch(f"{self._repository}/archive/{ref}.zip", deadline)
            source = await _to_its_end(partial(unpack, data, target))
        wanted = self._trees.get(version) or self._trees.get(source.commit)
        is_other = not is_local and version not in {LATEST, source.commit}
        if is_other or (wanted and wanted != source.tree):
            raise OwnInstanceError(
                f"The files do not match the commit {(source.commit or version)[:12]}.",
                reason=NativeFailure.WRONG_TREE,
                advice="Something between here and the repository changed them: do"
                " not run them. Try again from another network.",
            )
        return source

    async def _fetch(self, url: str, deadline: float) -> bytes:
        if not self._repository:
            raise _unfetched("own.source is empty")
        scheme, host = urlsplit(url).scheme, urlsplit(url).hostname
        for _ in range(_MAX_REDIRECTS):
            loop = asyncio.get_running_loop()
            timeout = min(_HEADERS_TIMEOUT, max(0.0, deadline - loop.time()))
            try:
                async with self._session().open(url, headers=honest(), timeout=timeout) as reply:
                    if reply.status == HTTPStatus.OK:
                        body = await reply.read(max_bytes=MAX_ARCHIVE, deadline=deadline)
                        if body.truncated:
                            raise _unfetched(body.notes[0])
                        return body.data
                    location = reply.headers.get("Location", "")
                    status = reply.status
            except FetchError as exc:
                why = re.sub("^The ", "the ", exc.message.rstrip("."))
                raise _unfetched(f"{host}: {why}") from exc
            if status == HTTPStatus.NOT_FOUND:
                raise OwnInstanceError(
                    "The repository does not have this version.",
                    reason=NativeFailure.NOT_FOUND,
                    advice="Give all 40 digits of the commit, or leave out --version.",
                )
            url = urljoin(url, location)
            is_downgrade = scheme == "https" and urlsplit(url).scheme != "https"
            if not location or is_downgrade:
                raise _unfetched(f"status {status}")
        raise _unfetched("too many redirects")


def unpack(archive: bytes, target: Path | None) -> Source:
    """Unpack what an instance needs of a zip archive as git makes it.

    Args:
        archive: everything in it is in one folder.
        target: a folder that does not exist; `None` only to identify the version.

    Raises:
        OwnInstanceError: `wrong_archive`.
        OSError: `target` cannot be written.
    """
    comment, entries = read_archive(archive)
    commit = comment if COMMIT.fullmatch(comment) else ""
    return _write(entries, target, commit=commit)


async def _to_its_end(work: Callable[[], Source]) -> Source:
    """Run work in a thread; who is cancelled waits for it, so that nothing writes afterwards."""
    future = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        future.exception()  # its result is not wanted
        raise


def _from_here(version: str, target: Path | None) -> Source:
    path = Path(os.path.expanduser(version))  # noqa: PTH111 - that of `Path` raises for unknown users
    try:
        archive = read_bytes(path, MAX_ARCHIVE)
    except FileNotFoundError as exc:
        raise InvalidArgumentError(
            "version",
            f"{version[:200]!r} is neither latest, nor a commit of 40 hexadecimal digits, nor a"
            " file that exists",
        ) from exc
    except OSError as exc:
        raise InvalidArgumentError(
            "version", f"{str(path)[:200]!r} cannot be read: {exc.strerror}"
        ) from exc
    return unpack(archive, target)


def _unfetched(why: str) -> OwnInstanceError:
    return OwnInstanceError(
        f"The source of SearXNG cannot be fetched: {why}.",
        reason=NativeFailure.NO_NETWORK,
        advice="Check the network and network.proxy, or fetch the archive"
        " elsewhere and pass its path with --version.",
    )


def _write(entries: Iterable[Entry], target: Path | None, *, commit: str) -> Source:
    if target is not None:
        target.mkdir(mode=0o700)
    root: _Tree = {}
    changed_at, size = 0.0, 0
    for entry in entries:
        size += len(entry.content)
        if size > _MAX_UNPACKED:
            raise wrong(f"it unpacks to more than {_MAX_UNPACKED:,} bytes")
        _plant(root, entry)
        changed_at = max(changed_at, entry.changed_at)
        if target is not None and entry.path.parts[0] in _NEEDED:
            _put(target, entry)
    source = Source(commit, _hash_of(root).hex(), min(changed_at, _MAX_SECONDS))
    if target is not None:
        _finish(target, source)
    return source


def _finish(target: Path, source: Source) -> None:
    """Check that it is SearXNG, and write its version."""
    if not target.joinpath(*_APPLICATION.parts).is_file():
        raise wrong("there is no searx/webapp.py in it")
    frozen = target / "searx" / "version_frozen.py"
    if not frozen.exists():
        version = source.version
        frozen.write_text(
            _FROZEN.format(version=version, tag=version.replace("+", "-")), encoding="utf-8"
        )


def _put(target: Path, entry: Entry) -> None:
    if entry.mode == LINK:
        raise wrong("it has a link among the files that are run")
    path = target.joinpath(*entry.path.parts)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(entry.content)
    except (FileExistsError, NotADirectoryError) as exc:  # names may differ by case alone
        raise wrong("it has two entries with the same name") from exc


_Tree = dict[str, "tuple[bytes, bytes] | _Tree"]
"""The entries of a folder by name: mode and hash of a file, or a folder."""


def _plant(root: _Tree, entry: Entry) -> None:
    if not entry.path.parts:
        raise wrong("not everything is in one folder")
    *folders, name = entry.path.parts
    here = root
    for folder in folders:
        below = here.setdefault(folder, {})
        if isinstance(below, tuple):
            raise wrong("it has two entries with the same name")
        here = below
    if name in here:
        raise wrong("it has two entries with the same name")
    here[name] = (entry.mode, _hashed(b"blob", entry.content))


def _hash_of(tree: _Tree) -> bytes:
    rows = []
    for name, entry in tree.items():
        mode, digest = entry if isinstance(entry, tuple) else (_TREE, _hash_of(entry))
        raw = name.encode("utf-8", "surrogateescape")
        # git sorts a folder as if its name ended in a slash.
        key = raw + b"/" if mode == _TREE else raw
        rows.append((key, b"%b %b\0%b" % (mode, raw, digest)))
    return _hashed(b"tree", b"".join(row for _, row in sorted(rows)))


def _hashed(kind: bytes, content: bytes) -> bytes:
    head = b"%b %d\0" % (kind, len(content))
    return hashlib.sha1(head + content, usedforsecurity=False).digest()
