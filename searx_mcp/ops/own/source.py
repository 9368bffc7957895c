"""SearXNG's source: fetched or given, unpacked within limits, identified by git's tree hash."""

import asyncio
import hashlib
import os
import posixpath
import re
import stat
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
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
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.sources.searxng.request import honest

MAX_ENTRIES: Final = 20_000
"""Maximum number of files; that of August 2026 has 1,214."""
MAX_FILE: Final = 33_554_432
MAX_DEPTH: Final = 32
_MAX_NAME: Final = 255
"""Maximum bytes of a path in an archive; file systems allow as many for each of its parts."""
_FILE, _PROGRAM, LINK = b"100644", b"100755", b"120000"
"""The file modes of git."""

_END, _ENTRY, _LOCAL = (struct.Struct(f"<4s{fields}") for fields in ("4H2LH", "6H3L5H2L", "5H3L2H"))
"""Records of a zip archive, APPNOTE 4.3: its end, an entry of its directory, and one before a file."""
_END_MARK, _ENTRY_MARK, _LOCAL_MARK = b"PK\5\6", b"PK\1\2", b"PK\3\4"
_STORED: Final = 0
_DEFLATED: Final = 8
_UNIX: Final = 3
"""The system of an entry's modes; git sets it for links and programs only."""
_TIME: Final = struct.Struct("<2sHBL")
"""The extra field in which git stores the commit's time, independent of time zones."""


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """A file, or a link with its target as content."""

    path: PurePosixPath
    mode: bytes
    content: bytes
    changed_at: float


def read_archive(archive: bytes) -> tuple[str, Iterator[ArchiveEntry]]:
    """Read the comment of a zip archive, and its files.

    All files are in one folder, as in git's archives; paths are relative to it.

    Raises:
        OwnInstanceError: `wrong_archive`; also while iterating over the files.
    """
    end = archive.rfind(_END_MARK)
    if end < 0 or end + _END.size > len(archive):
        raise _damaged()
    *_, count, _, start, _ = _END.unpack_from(archive, end)
    if not count:
        raise wrong("it is empty")
    if count > MAX_ENTRIES:
        raise wrong(f"it has more than {MAX_ENTRIES:,} entries")
    comment = archive[end + _END.size :].decode("ascii", "replace")
    return comment, _entries(archive, start, count)


def _entries(archive: bytes, at: int, count: int) -> Iterator[ArchiveEntry]:
    """Yield the files of a zip archive, in time linear in its length.

    `zipfile` has no such bound: it creates an object for every entry, however many there are.
    """
    unread = len(archive)
    for _ in range(count):
        try:
            mark, made, _, _, method, _, _, crc, packed, size, *more = _ENTRY.unpack_from(
                archive, at
            )
            name_size, extra_size, comment_size, _, _, attributes, place = more
            local, *_, local_name, local_extra = _LOCAL.unpack_from(archive, place)
        except struct.error as exc:
            raise _damaged() from exc
        unread -= packed
        if mark != _ENTRY_MARK or local != _LOCAL_MARK or unread < 0:  # below 0, files overlap
            raise _damaged()
        at += _ENTRY.size
        name = archive[at : at + name_size]
        at += name_size
        extra = archive[at : at + extra_size]
        at += extra_size + comment_size
        path = _inside(name)
        if name.endswith(b"/"):
            continue
        if size > MAX_FILE:
            raise wrong(f"it has a file of more than {MAX_FILE:,} bytes")
        start = place + _LOCAL.size + local_name + local_extra
        content = _inflated(memoryview(archive)[start : start + packed], method, size)
        if len(content) != size or zlib.crc32(content) != crc:
            raise _damaged()
        mode = mode_of(attributes >> 16 if made >> 8 == _UNIX else 0)
        if mode == LINK:
            _check_link(path, _text(content))
        yield ArchiveEntry(path, mode, content, _time(extra))


def _inflated(packed: memoryview, method: int, size: int) -> bytes:
    """Decompress a file, and at most one byte more than declared."""
    if method == _STORED:
        return packed[: size + 1].tobytes()
    try:
        if method == _DEFLATED:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, size + 1)
    except zlib.error as exc:
        raise _damaged() from exc
    raise wrong("it is compressed in another way than git does")


def mode_of(described: int) -> bytes:
    """Convert the file mode of an entry to git's; 0 is a plain file."""
    if stat.S_ISLNK(described):
        return LINK
    if stat.S_IFMT(described) not in {0, stat.S_IFREG}:
        raise wrong("it has an entry that is neither a file nor a folder")
    return _PROGRAM if described & stat.S_IXUSR else _FILE


def _time(extra: bytes) -> float:
    if len(extra) < _TIME.size:
        return 0.0
    mark, _, flags, seconds = _TIME.unpack_from(extra)
    return float(seconds) if mark == b"UT" and flags & 1 else 0.0


def _inside(raw: bytes) -> PurePosixPath:
    """Return the path of an entry relative to the archive's one folder."""
    name = _text(raw[: _MAX_NAME + 1])
    parts = name.rstrip("/").split("/")
    is_plain = all(part not in {"", ".", ".."} for part in parts)
    is_long = len(raw) > _MAX_NAME or len(parts) > MAX_DEPTH
    if not is_plain or is_long or "\\" in name or "\0" in name:
        raise wrong("it has a path that leads elsewhere")
    return PurePosixPath(*parts[1:])


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _check_link(path: PurePosixPath, target: str) -> None:
    """Refuse a link that leads outside, although no link is ever created: SearXNG has none."""
    if posixpath.normpath(posixpath.join("/top", path.parent, target))[:5] not in {"/top", "/top/"}:
        raise wrong("it has a link that leads elsewhere")


def wrong(why: str) -> OwnInstanceError:
    """Return the error for a source that is damaged, hostile or not SearXNG's."""
    return OwnInstanceError(
        f"The source of SearXNG cannot be used: {why}.",
        reason=NativeFailure.WRONG_ARCHIVE,
        advice="Choose another with --version, or leave it out.",
    )


def _damaged() -> OwnInstanceError:
    return wrong("it is damaged, or not a .zip archive")


PINNED: Final = "9fea41204fdfa7a5cfa15b0ebd12904c520478ce"
"""The SearXNG commit that this release was tested with, of 22 August 2026."""
PINNED_TREE: Final = "4538dbf9f936e7b7bb97fb12dda746b7b588e93d"
"""Git's hash of its files. Archives of one commit may differ in bytes, the files may not."""
LATEST: Final = "latest"
COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_MAX_REDIRECTS: Final = 5
_HEADERS_TIMEOUT: Final = 30.0
"""Seconds; GitHub creates an archive when it is first requested."""
MAX_ARCHIVE: Final = 67_108_864
"""Maximum bytes of an archive; that of August 2026 has 7 million."""
_MAX_UNPACKED: Final = 268_435_456
"""Maximum bytes of all its files; that of August 2026 has 21 million."""
_MAX_SECONDS: Final = 2**32 - 1
"""Maximum Unix seconds; archives have no room for more, and a file system may claim any year."""
_NEEDED: Final = ("searx", "requirements.txt", "LICENSE")
"""Files that an instance needs. Tests, documentation and tools are hashed, but not unpacked."""
_APPLICATION: Final = PurePosixPath("searx/webapp.py")
_TREE: Final = b"40000"
"""Git's mode of a folder."""

_FROZEN: Final = """\
# Written by searx-mcp: without it SearXNG asks git for its version when it starts.
VERSION_STRING = "{version}"
VERSION_TAG = "{version}"
DOCKER_TAG = "{tag}"
GIT_URL = "https://github.com/searxng/searxng"
GIT_BRANCH = "master"
"""


@dataclass(frozen=True, slots=True)
class UnpackedSource:
    """SearXNG's source, unpacked.

    Attributes:
        commit: from the archive; empty if it has none.
        tree: git's hash of all files.
        released_at: Unix seconds of the commit; 0 if the archive has none.
    """

    commit: str
    tree: str
    released_at: float

    @property
    def version(self) -> str:
        """The version as SearXNG itself derives it from date and commit."""
        day = datetime.fromtimestamp(self.released_at, UTC)
        return f"{day.year}.{day.month}.{day.day}+{(self.commit or self.tree)[:9]}"


class Sources:
    """Fetches SearXNG's source and unpacks it.

    Args:
        session: for public addresses, guarded.
        repository: source of the archives, with GitHub's paths.
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

    async def get(self, version: str, target: Path | None, *, deadline: float) -> UnpackedSource:
        """Get one version.

        Args:
            version: `latest`, a commit, or the path of an archive.
            target: the folder to create and unpack to; `None` only to identify the version.
            deadline: loop time by which it must be fetched.

        Raises:
            InvalidArgumentError: `version` has none of these forms, or cannot be read.
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


def unpack(archive: bytes, target: Path | None) -> UnpackedSource:
    """Unpack the needed files of a zip archive made by git.

    Args:
        archive: all files are in one folder.
        target: a folder that does not exist; `None` only to identify the version.

    Raises:
        OwnInstanceError: `wrong_archive`.
        OSError: `target` cannot be written.
    """
    comment, entries = read_archive(archive)
    commit = comment if COMMIT.fullmatch(comment) else ""
    return _write(entries, target, commit=commit)


async def _to_its_end(work: Callable[[], UnpackedSource]) -> UnpackedSource:
    """Run work in a thread; a cancelled caller waits for it, so that nothing is written afterwards."""
    future = asyncio.get_running_loop().run_in_executor(None, work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        future.exception()  # its result is not needed
        raise


def _from_here(version: str, target: Path | None) -> UnpackedSource:
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
        advice="Check the network and network.proxy. Without a network, fetch the archive elsewhere and run"
        " `searx-mcp instances own up --version PATH`.",
    )


def _write(entries: Iterable[ArchiveEntry], target: Path | None, *, commit: str) -> UnpackedSource:
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
    source = UnpackedSource(commit, _hash_of(root).hex(), min(changed_at, _MAX_SECONDS))
    if target is not None:
        _finish(target, source)
    return source


def _finish(target: Path, source: UnpackedSource) -> None:
    """Check that it is SearXNG, and write its version."""
    if not target.joinpath(*_APPLICATION.parts).is_file():
        raise wrong("there is no searx/webapp.py in it")
    frozen = target / "searx" / "version_frozen.py"
    if not frozen.exists():
        version = source.version
        frozen.write_text(
            _FROZEN.format(version=version, tag=version.replace("+", "-")), encoding="utf-8"
        )


def _put(target: Path, entry: ArchiveEntry) -> None:
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


def _plant(root: _Tree, entry: ArchiveEntry) -> None:
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
