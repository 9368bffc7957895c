"""The guard's own proof: the bundled vectors, and the recorded ones, through the real client."""

import asyncio
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override
from yarl import URL

from searx_mcp import SearxClient, Settings
from searx_mcp.http.dialling import Dialling
from searx_mcp.ops.selfcheck import (
    PUBLIC_ADDRESSES,
    AddressVerdict,
    Vector,
    bundled_vectors,
    parse_vectors,
    prove_guard,
)

VERDICTS = {"block": AddressVerdict.REFUSED, "allow": AddressVerdict.ALLOWED}
PRIVATE_HOP = {"url": "http://www.example.org/", "redirects": ["http://10.0.0.7/"]}


def client_for(settings: Settings, dialling: Dialling) -> SearxClient:
    return SearxClient(settings, dialling=dialling)


def vector(**fields: Any) -> Vector:
    row = {"id": "x-1", "kind": "x", "why": "a test", "verdict": "refused", **fields}
    return parse_vectors(json.dumps([row]))[0]


def recorded() -> tuple[Vector, ...]:
    """The recorded table in the folder SEARX_MCP_CAPTURES; nothing without it."""
    folder = os.environ.get("SEARX_MCP_CAPTURES")
    path = Path(folder) / "ssrf_vectors.json" if folder else None
    rows = json.loads(path.read_text("utf-8")) if path and path.exists() else []
    return parse_vectors(json.dumps([translated(row) for row in rows]))


def translated(row: dict[str, Any]) -> dict[str, Any]:
    verdict = VERDICTS[row["verdict"]]
    answers = row.get("dns") or {}
    dials = list(PUBLIC_ADDRESSES)
    if verdict is AddressVerdict.ALLOWED:
        dials += [address for each in answers.values() for address in each]
        dials.append(URL(row["url"]).host or "")
    return {
        **{name: row[name] for name in ("id", "kind", "url")},
        "verdict": verdict,
        "why": row["reason"],
        "dns": answers,
        "redirects": row.get("redirects") or [],
        "dials": dials,
    }


async def test_every_bundled_vector_is_judged_right():
    found = await prove_guard(bundled_vectors(), client_for)
    assert found.wrong == ()
    assert found.error_texts == 1
    assert found.passed


async def test_every_recorded_vector_is_judged_right():
    vectors = recorded()
    # A name that the recorded table says nothing about does not exist.
    found = await prove_guard(vectors, client_for, otherwise=())
    assert found.wrong == ()
    assert found.passed
    counts = Counter(vector.verdict for vector in vectors)
    assert counts in ({}, {AddressVerdict.REFUSED: 227, AddressVerdict.ALLOWED: 29})


def test_the_bundled_table_is_large_and_names_each_vector_once():
    vectors = bundled_vectors()
    counts = Counter(vector.verdict for vector in vectors)
    assert counts[AddressVerdict.REFUSED] >= 200
    assert counts[AddressVerdict.ALLOWED] >= 30
    assert len({vector.id for vector in vectors}) == len(vectors)
    tried = [(each.url, str(each.redirects), str(each.dns), each.robots) for each in vectors]
    assert len(set(tried)) == len(vectors)


@pytest.mark.parametrize(
    ("row", "came_to"),
    [
        ({"url": "http://www.example.org/"}, "allowed"),
        ({"url": "http://127.0.0.1/", "verdict": "allowed"}, "refused"),
        ({**PRIVATE_HOP, "verdict": "allowed"}, "refused"),
        ({"url": "http://8.8.8.8/", "verdict": "allowed"}, "a connection to 8.8.8.8"),
        (
            {
                "url": "http://gone.example.org/",
                "dns": {"gone.example.org": [[]]},
                "verdict": "allowed",
            },
            "refused",
        ),
    ],
)
async def test_a_vector_that_comes_to_something_else_is_reported(row, came_to):
    found = await prove_guard([vector(**row)], client_for)
    assert not found.passed
    (wrong,) = found.wrong
    assert (wrong.id, wrong.came_to) == ("x-1", came_to)
    (count,) = found.kinds
    assert (count.kind, count.wrong) == ("x", 1)


async def test_a_connection_that_a_vector_does_not_name_is_wrong_whatever_the_end():
    """The guard opens no such socket, so the vector's own list of addresses is made too short."""
    row = {"url": "http://www.example.org/", "verdict": "allowed", "dials": ["192.0.2.1"]}
    found = await prove_guard([vector(**row)], client_for)
    assert found.wrong[0].came_to == f"a connection to {PUBLIC_ADDRESSES[0]}"


async def test_half_a_character_can_be_a_vector():
    found = await prove_guard([vector(url="http://www.example.org/\ud83d")], client_for)
    assert found.passed


class AnotherLoop(asyncio.SelectorEventLoop):
    """A loop that would notice a look-up by the system."""

    @override
    async def getaddrinfo(self, host, *args, **kwargs):
        raise AssertionError(f"{host!r} was looked up outside")


def test_nothing_is_looked_up_or_connected_to_outside():
    with asyncio.Runner(loop_factory=AnotherLoop) as runner:
        found = runner.run(
            prove_guard([vector(url="http://localhost/"), vector(**PRIVATE_HOP)], client_for)
        )
    assert found.passed
