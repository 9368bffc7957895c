"""The wiring of the open sources."""

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_whoever_imports_the_client_loads_no_engine() -> None:
    code = (
        "import sys; from searx_mcp import SearxClient;"
        "print([name for name in sys.modules if 'sources.open' in name or name == 'lxml'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "['searx_mcp.sources.open', 'searx_mcp.sources.open.config']"
