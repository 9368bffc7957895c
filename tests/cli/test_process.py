"""Garbage collection while modules are loaded."""

import gc

from searx_mcp.cli.process import loading


def test_garbage_is_collected_again_after_the_outermost_loading():
    with loading():
        with loading():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
