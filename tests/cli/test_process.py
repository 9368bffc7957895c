"""Garbage collection while modules are loaded."""

import gc

import pytest

from searx_mcp.cli.process import loading


def test_garbage_is_collected_again_after_the_outermost_loading():
    with loading():
        with loading():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_garbage_is_collected_again_after_loading_failed():
    with pytest.raises(ImportError), loading():
        raise ImportError
    assert gc.isenabled()
