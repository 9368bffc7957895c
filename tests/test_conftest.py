"""A test that does not end fails, and keeps nobody."""

import sys
from pathlib import Path

import pytest

HANGING = """
import asyncio

import pytest


@pytest.fixture
async def opened():
    yield
    print("closed")


async def test_a_wait_for_ever(opened):
    await asyncio.Event().wait()


async def test_what_comes_after(opened):
    pass
"""


@pytest.mark.slow
async def test_a_test_out_of_time_fails_and_the_next_one_runs(start_program, tmp_path):
    (tmp_path / "conftest.py").write_text(
        "from tests.conftest import anyio_backend, backend_at, pace"
    )
    (tmp_path / "test_hanging.py").write_text(HANGING)
    root = Path(__file__).parents[1]
    process = await start_program(
        *(sys.executable, "-m", "pytest", "-c", root / "pyproject.toml", "--rootdir", tmp_path),
        *("--timeout", "1", "-p", "no:cacheprovider", "test_hanging.py"),
        cwd=tmp_path,
        env={"PYTHONPATH": str(root)},
    )
    said, _ = await process.communicate()
    assert "Failed: Timeout" in said.decode()
    assert "1 passed" in said.decode()
