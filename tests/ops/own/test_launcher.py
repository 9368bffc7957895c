"""What the launcher does besides serving: it notes searches, and begins its log anew."""

import os

import pytest

from searx_mcp.ops.own.launcher import LOG_SIZE, Watch, birth


@pytest.fixture
def watch(tmp_path):
    return Watch(lambda environ, _: [environ["PATH_INFO"].encode()], tmp_path, 60.0)


@pytest.mark.parametrize(("path", "counts"), [("/search", True), ("/healthz", False)])
def test_searches_alone_put_off_its_end(watch, path, counts):
    watch.searched_at = 0.0
    assert watch({"PATH_INFO": path}, lambda *_: None) == [path.encode()]
    assert (watch.searched_at > 0) is counts
    assert watch.searching == 0


def test_a_long_log_is_begun_anew(watch, tmp_path):
    before = os.dup(1), os.dup(2)
    log = tmp_path / "log.txt"
    log.write_bytes(b"x" * (LOG_SIZE + 1))
    try:
        watch.turn_log()
        os.write(2, b"after\n")
    finally:
        for number, copy in enumerate(before, 1):
            os.dup2(copy, number)
            os.close(copy)
    assert log.read_bytes() == b"after\n"
    assert (tmp_path / "log.old.txt").stat().st_size == LOG_SIZE + 1


def test_a_short_log_or_none_is_left_alone(watch, tmp_path):
    watch.turn_log()
    (tmp_path / "log.txt").write_text("short")
    watch.turn_log()
    assert (tmp_path / "log.txt").read_text() == "short"


def test_a_process_that_is_not_there_has_no_birth():
    assert birth(2**22 + 1) == ""
