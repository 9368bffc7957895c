"""A secret of the user's processes."""

import os
import stat
import sys

import pytest

from searx_mcp.storage.secret import kept_secret


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
