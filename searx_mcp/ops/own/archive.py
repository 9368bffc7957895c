"""SearXNG's source as a zip archive, read within bounds."""

import posixpath
import stat
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.ops.own.failures import OwnInstanceError

MAX_ENTRIES: Final = 20_000
"""That of August 2026 has 1,214."""
MAX_FILE: Final = 33_554_432
MAX_DEPTH: Final = 32
_MAX_NAME: Final = 255
"""Bytes of a path in an archive; file systems take as many for each of its parts."""
_FILE, _PROGRAM, LINK = b"100644", b"100755", b"120000"
"""The modes that git knows of files."""

_END, _ENTRY, _LOCAL = (struct.Struct(f"<4s{fields}") for fields in ("4H2LH", "6H3L5H2L", "5H3L2H"))
"""Records of a zip archive, APPNOTE 4.3: its end, an entry of its directory, and one before a file."""
_END_MARK, _ENTRY_MARK, _LOCAL_MARK = b"PK\5\6", b"PK\1\2", b"PK\3\4"
_STORED: Final = 0
_DEFLATED: Final = 8
_UNIX: Final = 3
"""The system whose modes an entry has; git says so of links and programs alone."""
_TIME: Final = struct.Struct("<2sHBL")
"""The extra field of an entry in which git has the time of the commit, independent of time zones."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, or a link with its target for content."""

    path: PurePosixPath
    mode: bytes
    content: bytes
    changed_at: float


def read_archive(archive: bytes) -> tuple[str, Iterator[Entry]]:
    """The comment of a zip archive, and its files.

    Everything is in one folder, as git makes archives; paths are told below it.

    Raises:
        OwnInstanceError: `wrong_archive`; also while the files are read.
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


def _entries(archive: bytes, at: int, count: int) -> Iterator[Entry]:
    """Read the files of a zip archive, in time linear in its length.

    `zipfile` has no such bound: it makes an object of every entry, however many there are.
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
        yield Entry(path, mode, content, _time(extra))


def _inflated(packed: memoryview, method: int, size: int) -> bytes:
    """The content of a file, and one byte at most that should not be there."""
    if method == _STORED:
        return packed[: size + 1].tobytes()
    try:
        if method == _DEFLATED:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, size + 1)
    except zlib.error as exc:
        raise _damaged() from exc
    raise wrong("it is compressed in another way than git does")


def mode_of(described: int) -> bytes:
    """The mode that git has for what a system says of an entry; 0 is a plain file."""
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
    """The path of an entry below the one folder that everything is in."""
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
    """Refuse a link that leads out, although none is ever made: no archive of SearXNG has one."""
    if posixpath.normpath(posixpath.join("/top", path.parent, target))[:5] not in {"/top", "/top/"}:
        raise wrong("it has a link that leads elsewhere")


def wrong(why: str) -> OwnInstanceError:
    """The error for a source that is damaged, hostile or not SearXNG's."""
    return OwnInstanceError(
        f"The source of SearXNG cannot be used: {why}.",
        reason=NativeFailure.WRONG_ARCHIVE,
        advice="Choose another with --version, or leave it out.",
    )


def _damaged() -> OwnInstanceError:
    return wrong("it is damaged, or not a .zip archive")
