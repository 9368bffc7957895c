"""The Python blocks of docs/testing.md run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_the_page_has_examples():
    assert len(BLOCKS) == 10


@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"block{BLOCKS.index(block)}")
def test_an_example_runs(block: str):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", block],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
