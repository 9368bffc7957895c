"""SearXNG's source: fetched or given, unpacked within bounds, told by git's hash of it."""

import asyncio
import gzip
import hashlib
import posixpath
import re
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from io import BytesIO, RawIOBase
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final
from urllib.parse import urljoin, urlsplit

from typing_extensions import Buffer, override

from searx_mcp.errors import FetchError, InvalidArgumentError
from searx_mcp.http.http import HttpSession
from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.sources.searxng.request import honest

PINNED: Final = "9fea41204fdfa7a5cfa15b0ebd12904c520478ce"
"""The commit of SearXNG that this release was tried with, of 22 August 2026."""
PINNED_TREE: Final = "4538dbf9f936e7b7bb97fb12dda746b7b588e93d"
"""The hash that git has of its files. Archives of one commit may differ by the byte, the files may not."""
LATEST: Final = "latest"
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_MAX_REDIRECTS: Final = 5
_HEADERS_TIMEOUT: Final = 30.0
"""Seconds; GitHub makes an archive when it is first asked for."""
MAX_ARCHIVE: Final = 67_108_864
"""Bytes of an archive; that of August 2026 has 6 million."""
_MAX_ENTRIES: Final = 20_000
"""That of August 2026 has 1,214."""
_MAX_UNPACKED: Final = 268_435_456
"""Bytes of all its files and of what describes them; that of August 2026 has 21 million."""
_MAX_FILE: Final = 33_554_432
_MAX_DEPTH: Final = 32
_NEEDED: Final = ("searx", "requirements.txt", "LICENSE")
"""Files that an instance runs with. The rest is hashed and left out: tests, documentation, tools."""
_APPLICATION: Final = PurePosixPath("searx/webapp.py")
_LEFT_OUT: Final = frozenset({".git", "__pycache__"})
_FILE, _PROGRAM, _LINK, _TREE = b"100644", b"100755", b"120000", b"40000"
"""The modes that git knows."""

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
        released_at: Unix seconds of the commit.
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

    async def get(self, version: str, target: Path, *, deadline: float) -> Source:
        """Get one version.

        Args:
            version: `latest`, a commit, or the path of an archive or a folder.
            target: the folder to unpack to; it does not exist.
            deadline: instant on the running loop's clock by which it must be fetched.

        Raises:
            InvalidArgumentError: `version` is none of these.
            OwnInstanceError: `no_network`, `not_found`, `wrong_archive` or `wrong_tree`.
            OSError: `target` cannot be written.
        """
        local = None if version == LATEST or _COMMIT.fullmatch(version) else Path(version)
        if local is None:
            ref = "HEAD" if version == LATEST else version
            data = await self._fetch(f"{self._repository}/archive/{ref}.tar.gz", deadline)
            source = await _to_its_end(partial(unpack, BytesIO(data), target))
        else:
            source = await _to_its_end(partial(_from_here, local.expanduser(), target))
        wanted = self._trees.get(version) or self._trees.get(source.commit)
        is_other = local is None and version not in {LATEST, source.commit}
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


def unpack(archive: BinaryIO, target: Path) -> Source:
    """Unpack what an instance needs of a `.tar.gz` as GitHub makes it.

    Args:
        archive: the compressed archive, from its beginning; everything is in one folder.
        target: a folder that does not exist.

    Raises:
        OwnInstanceError: `wrong_archive`.
        OSError: `target` cannot be written.
    """
    bounded = _Bounded(gzip.GzipFile(fileobj=archive))
    try:
        with tarfile.open(fileobj=bounded, mode="r|") as tar:
            entries = _entries(tar)
            first = next(entries, None)
            if first is None:
                raise _wrong("it is empty")
            comment = tar.pax_headers.get("comment", "")
            return _write(_chain(first, entries), target, commit=comment)
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile, UnicodeError) as exc:
        raise _wrong("it is damaged, or not a .tar.gz") from exc


def copy(folder: Path, target: Path) -> Source:
    """Copy what an instance needs of an unpacked source; links are left out.

    Raises:
        OwnInstanceError: `wrong_archive`.
        OSError: the folder cannot be read, or `target` not be written.
    """
    return _write(_files(folder), target, commit="")


async def _to_its_end(work: Callable[[], Source]) -> Source:
    """Run work in a thread; who is cancelled waits for it, so that nothing writes afterwards."""
    future = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        future.exception()  # its result is not wanted
        raise


def _from_here(path: Path, target: Path) -> Source:
    if path.is_dir():
        return copy(path, target)
    try:
        with path.open("rb") as file:
            return unpack(file, target)
    except FileNotFoundError as exc:
        raise InvalidArgumentError(
            "version",
            f"{str(path)[:200]!r} is neither latest, nor a commit of 40 hexadecimal digits, nor a"
            " file or folder that exists",
        ) from exc


def _unfetched(why: str) -> OwnInstanceError:
    return OwnInstanceError(
        f"The source of SearXNG cannot be fetched: {why}.",
        reason=NativeFailure.NO_NETWORK,
        advice="Check the network and network.proxy, or fetch the archive"
        " elsewhere and pass its path with --version.",
    )


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file, or a link with its target for content."""

    path: PurePosixPath
    mode: bytes
    content: bytes
    changed_at: float


def _chain(first: _Entry, rest: Iterator[_Entry]) -> Iterator[_Entry]:
    yield first
    yield from rest


def _entries(tar: tarfile.TarFile) -> Iterator[_Entry]:
    count = 0
    for member in tar:
        count += 1
        if count > _MAX_ENTRIES:
            raise _wrong(f"it has more than {_MAX_ENTRIES:,} entries")
        path = _inside(member.name)
        if member.isdir():
            continue
        if member.size > _MAX_FILE:
            raise _wrong(f"it has a file of more than {_MAX_FILE:,} bytes")
        if member.issym():
            _check_link(path, member.linkname)
            mode, content = _LINK, member.linkname.encode("utf-8", "surrogateescape")
        elif member.isreg() and (file := tar.extractfile(member)) is not None:
            mode, content = _PROGRAM if member.mode & stat.S_IXUSR else _FILE, file.read()
        else:
            raise _wrong("it has an entry that is neither a file nor a folder")
        yield _Entry(path, mode, content, member.mtime)


def _inside(name: str) -> PurePosixPath:
    """The path of an entry below the one folder that everything is in."""
    parts = name.rstrip("/").split("/")
    is_plain = all(part not in {"", ".", ".."} for part in parts)
    if not is_plain or len(parts) > _MAX_DEPTH or "\\" in name or "\0" in name:
        raise _wrong("it has a path that leads elsewhere")
    return PurePosixPath(*parts[1:])


def _check_link(path: PurePosixPath, target: str) -> None:
    """Refuse a link that leads out, although none is ever made: no archive of SearXNG has one."""
    if posixpath.normpath(posixpath.join("/top", path.parent, target))[:5] not in {"/top", "/top/"}:
        raise _wrong("it has a link that leads elsewhere")


def _files(folder: Path) -> Iterator[_Entry]:
    count = 0
    for needed in _NEEDED:
        start = folder / needed
        for path in [start] if start.is_file() else sorted(start.rglob("*")):
            inside = path.relative_to(folder)
            is_file = path.is_file() and not path.is_symlink()
            if not is_file or _LEFT_OUT.intersection(inside.parts):
                continue
            count += 1
            described = path.stat()
            if count > _MAX_ENTRIES or described.st_size > _MAX_FILE:
                raise _wrong("it is too large for SearXNG's source")
            mode = _PROGRAM if described.st_mode & stat.S_IXUSR else _FILE
            place = PurePosixPath(*inside.parts)
            yield _Entry(place, mode, path.read_bytes(), described.st_mtime)


def _write(entries: Iterable[_Entry], target: Path, *, commit: str) -> Source:
    target.mkdir(mode=0o700)
    root: _Tree = {}
    changed_at, size = 0.0, 0
    for entry in entries:
        size += len(entry.content)
        if size > _MAX_UNPACKED:
            raise _wrong(f"it unpacks to more than {_MAX_UNPACKED:,} bytes")
        _plant(root, entry)
        changed_at = max(changed_at, entry.changed_at)
        if entry.path.parts[0] in _NEEDED:
            _put(target, entry)
    if not target.joinpath(*_APPLICATION.parts).is_file():
        raise _wrong("there is no searx/webapp.py in it")
    source = Source(commit, _hash_of(root).hex(), changed_at)
    frozen = target / "searx" / "version_frozen.py"
    if not frozen.exists():
        version = source.version
        frozen.write_text(
            _FROZEN.format(version=version, tag=version.replace("+", "-")), encoding="utf-8"
        )
    return source


def _put(target: Path, entry: _Entry) -> None:
    if entry.mode == _LINK:
        raise _wrong("it has a link among the files that are run")
    path = target.joinpath(*entry.path.parts)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(entry.content)
    except (FileExistsError, NotADirectoryError) as exc:  # names may differ by case alone
        raise _wrong("it has two entries with the same name") from exc


_Tree = dict[str, "tuple[bytes, bytes] | _Tree"]
"""The entries of a folder by name: mode and hash of a file, or a folder."""


def _plant(root: _Tree, entry: _Entry) -> None:
    if not entry.path.parts:
        raise _wrong("not everything is in one folder")
    *folders, name = entry.path.parts
    here = root
    for folder in folders:
        below = here.setdefault(folder, {})
        if isinstance(below, tuple):
            raise _wrong("it has two entries with the same name")
        here = below
    if name in here:
        raise _wrong("it has two entries with the same name")
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


class _Bounded(RawIOBase):
    """A stream that ends with an error after so many bytes, whatever a few compressed ones become."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self._left = 2 * _MAX_UNPACKED  # headers and padding of the format besides the files

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Buffer, /) -> int:
        view = memoryview(buffer)
        piece = self._stream.read(len(view))
        self._left -= len(piece)
        if self._left < 0:
            raise _wrong("it unpacks to too much")
        view[: len(piece)] = piece
        return len(piece)


def _wrong(why: str) -> OwnInstanceError:
    return OwnInstanceError(
        f"The source of SearXNG cannot be used: {why}.",
        reason=NativeFailure.WRONG_ARCHIVE,
        advice="Choose another with --version, or leave it out.",
    )
