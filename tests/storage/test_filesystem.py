"""Private files, and folders that are not on this machine."""

import os
import stat
import sys
from pathlib import Path, PureWindowsPath

import pytest

from searx_mcp.storage.filesystem import (
    make_private_file,
    make_private_folder,
    network_filesystem,
)

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
