"""What counts as a test through public names."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

PUBLIC = "from searx_mcp import SearxClient\n"
DEEP = "from searx_mcp.pool.pool import Pool\n"
FIXTURE = "@pytest.fixture\ndef pool():\n    return {}\n"


@pytest.fixture(scope="module")
def proofs(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("proofs")


@pytest.mark.parametrize(
    ("conftest", "source", "past"),
    [
        ("", f"{PUBLIC}def test_one():\n    SearxClient()\n", 0),
        ("", "from searx_mcp.errors import NetworkError\ndef test_one():\n    NetworkError()\n", 0),
        ("", f"{DEEP}def test_one():\n    Pool()\n", 2),
        ("", f"{DEEP}def test_one():\n    pass\n", 0),
        ("", f"{DEEP}async def test_one():\n    Pool()\n", 2),
        ("", f"{DEEP}@row([\n    Pool,\n])\ndef test_one(each):\n    each()\n", 5),
        ("", f"{DEEP}MADE = Pool()\ndef test_one():\n    MADE\n", 2),
        ("", f"{DEEP}def make():\n    return Pool()\ndef test_one():\n    make()\n", 2),
        (
            "",
            (
                f"{DEEP}def a():\n    b()\ndef b():\n    a(), Pool()\n"
                "def test_one():\n    b()\ndef test_two():\n    a()\n"
            ),
            4,
        ),
        ("", "def test_one():\n    from searx_mcp.pool.pool import Pool\n", 2),
        ("", "from searx_mcp.pool import pool as of\ndef test_one():\n    of.Pool()\n", 2),
        ("", "import searx_mcp.pool.pool\ndef test_one():\n    searx_mcp.pool.pool.Pool()\n", 2),
        ("", f"{DEEP}class TestPool:\n    def test_one(self):\n        Pool()\n", 2),
        ("", f"{PUBLIC}def test_one():\n    SearxClient()._service\n", 2),
        ("", "from searx_mcp.errors import _FIX\ndef test_one():\n    _FIX\n", 2),
        (DEEP + FIXTURE.format("Pool()"), "def test_one(pool):\n    pool\n", 2),
        (DEEP + FIXTURE.format("Pool()"), '@uses("pool")\ndef test_one():\n    pass\n', 3),
        (DEEP + FIXTURE.format("Pool()"), "def test_one(tmp_path):\n    pass\n", 0),
        (
            DEEP + FIXTURE.format("Pool()"),
            f"{FIXTURE.format('1')}def test_one(pool):\n    pool\n",
            0,
        ),
        ("", "from tests.doubles.made import double\ndef test_one():\n    double()\n", 2),
        ("", "from tests.doubles.made import plain\ndef test_one():\n    plain()\n", 0),
    ],
    ids=[
        "a public name",
        "a module of public names",
        "a deep name",
        "a deep name that another test uses",
        "a coroutine function",
        "a deep name in its table",
        "what a constant holds",
        "what a helper uses",
        "what helpers use that use each other",
        "an import in the test",
        "a module under another name",
        "a module by its path",
        "a method",
        "a private attribute",
        "a private name of a public module",
        "what a fixture uses",
        "a fixture by its name",
        "a fixture that is not used",
        "a fixture of the file instead",
        "what a double uses",
        "another name of that double's module",
    ],
)
def test_a_test_is_past_public_names_if_anything_it_uses_is(
    proofs: ModuleType, tmp_path: Path, conftest: str, source: str, past: int
):
    doubles = tmp_path / "tests" / "doubles"
    doubles.mkdir(parents=True)
    (doubles / "__init__.py").touch()
    (doubles / "made.py").write_text(f"{DEEP}def double():\n    Pool()\ndef plain():\n    pass\n")
    (tmp_path / "tests" / "conftest.py").write_text(conftest)
    (tmp_path / "tests" / "test_it.py").write_text(source)
    assert proofs.lines_of(tmp_path / "tests")[1] == past
