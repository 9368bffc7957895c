"""What is read of files that others may have replaced."""

import os
import stat
import sys
from pathlib import Path, PureWindowsPath

import pytest

from searx_mcp.files import (
    kept_secret,
    make_private_file,
    make_private_folder,
    network_filesystem,
    read_bytes,
    read_text,
)

posix = pytest.mark.skipif(os.name != "posix", reason="such a file exists on POSIX alone")


def missing(place: Path) -> Path:
    return place


def folder(place: Path) -> Path:
    place.mkdir()
    return place


def pipe(place: Path) -> Path:
    os.mkfifo(place)
    return place


def link_to_a_pipe(place: Path) -> Path:
    os.mkfifo(place.with_name("pipe"))
    place.symlink_to("pipe")
    return place


def link_to_itself(place: Path) -> Path:
    place.symlink_to(place)
    return place


def device(place: Path) -> Path:
    place.symlink_to("/dev/full")
    return place


def too_long(place: Path) -> Path:
    place.write_bytes(b"x" * 11)
    return place


def sparse(place: Path) -> Path:
    with place.open("wb") as file:
        file.truncate(1 << 40)
    return place


def binary(place: Path) -> Path:
    place.write_bytes(b"\xff\xfe\x00")
    return place


def with_nul(place: Path) -> Path:
    return Path(f"{place}\0")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (missing, "No such file"),
        (folder, "Is a directory|Permission denied"),
        pytest.param(pipe, "not a regular file", marks=posix),
        pytest.param(link_to_a_pipe, "not a regular file", marks=posix),
        pytest.param(link_to_itself, "symbolic links", marks=posix),
        pytest.param(device, "not a regular file", marks=posix),
        (too_long, "it is longer than 10 bytes"),
        (sparse, "it is longer than 10 bytes"),
        (binary, "it is not UTF-8 text"),
        (with_nul, "it is not a usable path"),
    ],
)
def test_what_is_no_short_text_file_is_an_error_with_its_reason(tmp_path, make, reason):
    with pytest.raises(OSError, match=reason) as caught:
        read_text(make(tmp_path / "file"), 10)
    assert caught.value.strerror
    assert caught.value.filename


def test_a_file_of_the_longest_length_is_read_without_its_mark(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb")
    assert read_bytes(path, 7) == b"\xef\xbb\xbfa\r\nb"
    assert read_text(path, 7) == "a\r\nb"


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/srv /srv nfs4 rw,vers=4.2 0 0
/dev/sdb1 /srv/local\\040disk ext4 rw 0 0
//nas/share /mnt/nas cifs rw 0 0
sshfs#host: /mnt/far fuse.sshfs rw 0 0
/dev/sdc1 /mnt/nas/again xfs rw 0 0
server:/other /mnt/nas/again nfs rw 0 0
nothing
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/var/lib/x", None),
        ("/srv", "nfs4"),
        ("/srv/anna/state", "nfs4"),
        ("/srvs/anna", None),
        ("/srv/local disk/state", None),
        ("/mnt/nas/state", "cifs"),
        ("/mnt/far", "fuse.sshfs"),
        ("/mnt/nas/again/x", "nfs"),
    ],
)
def test_the_innermost_mount_decides_and_of_two_on_a_place_the_last(tmp_path, folder, kind):
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS)
    assert network_filesystem(Path(folder), mounts) == kind


@pytest.mark.parametrize("folder", [PureWindowsPath(r"\\nas\share\state")])
def test_a_windows_share_is_told_by_its_name(folder):
    assert network_filesystem(folder) == "Windows share"


def test_where_no_list_of_mounts_exists_nothing_is_known(tmp_path):
    assert network_filesystem(tmp_path, tmp_path / "none") is None


def test_a_new_folder_and_file_are_for_the_user_alone(tmp_path):
    folder = tmp_path / "a" / "b"
    make_private_folder(folder)
    make_private_file(folder / "x.db")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "x.db")]
    assert modes == ([0o700, 0o600] if os.name == "posix" else modes)


def test_what_exists_is_left_as_it_is(tmp_path):
    path = tmp_path / "x.db"
    path.write_text("content")
    path.chmod(0o644)
    make_private_folder(tmp_path)
    make_private_file(path)
    assert path.read_text() == "content"
    assert sys.platform == "win32" or stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_secret_is_made_once_and_stays(tmp_path):
    path = tmp_path / "state" / "answers.key"
    made = kept_secret(path)
    assert len(made) == 32
    assert kept_secret(path) == made
    assert kept_secret(tmp_path / "other.key") != made
    assert [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize("place", ["state", "state/answers.key"])
def test_the_user_alone_may_read_it(tmp_path, place):
    kept_secret(tmp_path / "state" / "answers.key")
    mode = stat.S_IMODE((tmp_path / place).stat().st_mode)
    assert sys.platform == "win32" or mode & 0o077 == 0


def test_whoever_comes_second_takes_the_secret_of_the_first(tmp_path, monkeypatch):
    path = tmp_path / "answers.key"
    link = os.link

    def overtaken(draft, target):
        target.write_bytes(b"of the first")
        link(draft, target)

    monkeypatch.setattr(os, "link", overtaken)
    assert kept_secret(path) == b"of the first"
    assert [*tmp_path.iterdir()] == [path]


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        kept_secret(tmp_path / "file" / "answers.key")


def test_a_secret_that_was_emptied_is_an_error(tmp_path):
    path = tmp_path / "answers.key"
    path.touch()
    with pytest.raises(OSError, match="it is empty"):
        kept_secret(path)
