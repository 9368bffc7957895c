"""What is read of files that others may have replaced."""

import os
from pathlib import Path

import pytest

from searx_mcp.files import read_bytes, read_text

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
