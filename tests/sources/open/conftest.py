"""Questions to engines, and their answers as documented, written by hand."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from searx_mcp.sources.open.engine import Engine, OpenQuery, Parsed
from searx_mcp.sources.open.table import ENGINES, KEYED

ANSWERS = Path(__file__).parent / "answers"
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@pytest.fixture
def ask() -> Callable[..., OpenQuery]:
    """Give a function that makes a query; the keywords are the words of the text unless given."""

    def make(text: str = "red panda", **fields: object) -> OpenQuery:
        values = {"keywords": tuple(text.split()), "now": NOW, **fields}
        return OpenQuery(text=text, **values)  # type: ignore[arg-type]  # any field, by name

    return make


@pytest.fixture
def engine() -> Callable[[str], Engine]:
    """Give a function that finds a row of the table."""
    rows = {row.name: row for row in (*ENGINES, *KEYED)}
    return rows.__getitem__


@pytest.fixture
def read(ask: Callable[..., OpenQuery], engine: Callable[[str], Engine]) -> Callable[..., Parsed]:
    """Give a function that has an engine read an answer: bytes, or a value to send as JSON."""

    def parse(name: str, body: object, **fields: object) -> Parsed:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return engine(name).parse(sent, ask(**fields))

    return parse


@pytest.fixture
def answer() -> Callable[[str], bytes]:
    """Give a function that reads an answer by the name of its file."""
    return lambda name: (ANSWERS / name).read_bytes()
