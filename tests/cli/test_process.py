"""Garbage collection and Ctrl-C while modules are loaded."""

import gc
import signal
import subprocess
import sys

import pytest

from searx_mcp.cli.process import loading

LOADING = """
import signal
from searx_mcp.cli.process import loading
with loading():
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise ValueError("A model cannot be built")
"""


def test_ctrl_c_while_loading_ends_the_process_without_a_word():
    ended = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (130, b"")


def test_ctrl_c_after_loading_is_heard_as_usual():
    with loading():
        pass
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_garbage_is_collected_again_after_the_outermost_loading():
    with loading():
        with loading():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
