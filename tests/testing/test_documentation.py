"""The Python blocks of the pages that need no network run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCKS = [
    (page, block)
    for page in ("docs/corpus.md", "docs/guides/testing.md", "tests/doubles/README.md")
    for block in re.findall(
        r"^```python\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
]
BEHIND_EVERYTHING = f"import sys\nsys.path.append({str(ROOT)!r})\n"
"""As the tests have it: `tests.doubles` is found, and the package stays the one that is installed."""


def test_the_pages_have_examples():
    assert len(BLOCKS) == 9


@pytest.mark.slow
@pytest.mark.parametrize(("page", "block"), BLOCKS)
def test_an_example_runs(page: str, block: str):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", BEHIND_EVERYTHING + block],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, f"{page}: {result.stderr}"
