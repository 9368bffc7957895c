"""Rows of SearXNG's templates as a model meets them, in either channel alone.

`tests/sources/searxng` reads every template, and `tests/render/test_entry.py` writes the fields of each.
"""

import re
from typing import Any

import pytest

from searx_mcp.models.hits import Code, Fact, Link, Media, Place, Torrent
from searx_mcp.models.response import SearchResult
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng

SNIPPET = (
    "Bees dance to tell the others where the flowers are, how far it is to get there and how much is"
    " left of them. The dance was first described by Karl von Frisch, who watched bees in a hive with"
    " walls of glass for years; others had seen it before him and had taken it for joy."
)
MAGNET = "magnet:?xt=urn:btih:" + "0123456789abcdef" * 2 + "01234567"

ROWS: dict[str, tuple[str, dict[str, Any], str]] = {
    "default": (
        "general",
        {"author": "A. Writer", "published_at": "2026-01-02T03:04:05"},
        f"{SNIPPET} [alpha; 2026-01-02; by A. Writer]",
    ),
    "default with sound": (
        "music",
        {
            "media": Media(length="3:46", audio_url="https://m.example/bee.mp3"),
            "author": "A. Singer",
        },
        f"{SNIPPET} [alpha; 3:46; by A. Singer]\naudio https://m.example/bee.mp3",
    ),
    "torrent": (
        "files",
        {
            "torrent": Torrent(
                seeds=12,
                leeches=0,
                size="1.5 GiB",
                files=2,
                magnet=MAGNET,
                torrent_url="https://t.example/bee.torrent",
            )
        },
        (
            f"{SNIPPET} [alpha; 1.5 GiB; 12 seeds; 0 leeches; 2 files]"
            f"\n{MAGNET}\ntorrent https://t.example/bee.torrent"
        ),
    ),
    "map": (
        "map",
        {
            "place": Place(
                latitude=52.5,
                longitude=13.4,
                name="Bee House",
                road="Main Street",
                house_number="5",
                locality="Town",
                postcode="12345",
                country="Country",
                facts=(Fact(label="Phone", value="1"),),
                links=(Link(title="Site", url="https://bee.example/"),),
            )
        },
        (
            f"{SNIPPET} [alpha; at 52.5000 13.4000; Bee House; Main Street 5; 12345 Town; Country;"
            " Phone: 1]\nSite https://bee.example/"
        ),
    ),
    "code": (
        "it",
        {
            "code": Code(
                repository="https://git.example/bee",
                filename="bee.py",
                lines=((10, "def dance(bee):"), (11, "    return bee.turn()")),
            )
        },
        (
            f"{SNIPPET} [alpha; bee.py]\nhttps://git.example/bee"
            "\n10: def dance(bee):\n11:     return bee.turn()"
        ),
    ),
    "keyvalue": (
        "general",
        {"facts": (Fact(label="Legs", value="six"), Fact(label="Wings", value="four"))},
        f"{SNIPPET} [alpha; Legs: six; Wings: four]",
    ),
}


@pytest.mark.parametrize("name", ROWS)
async def test_a_row_of_a_template_is_whole_in_both_channels(connect, settings_for, text_of, name):
    category, fields, lines = ROWS[name]
    row = FakeResult(
        url="https://bee.example/1", title="Bees", description=SNIPPET, category=category, **fields
    )
    async with FakeSearxng(results=[row], formats=["json"]) as fake:
        async with connect(settings_for(fake, own=[fake])) as client:
            found = await client.call_tool(
                "web_search", {"query": "bees", "category": category, "fetch_content": False}
            )
    boundary = re.search(r"<web-content id=(\w+)", text_of(found))
    assert boundary is not None
    assert text_of(found).partition("\n\nNote: ")[0] == (
        "Found 1 search result for query 'bees':\n\n"
        f"<web-content id={boundary[1]} trust=untrusted>\n"
        f"1. Bees\nhttps://bee.example/1\n{lines}\n</web-content {boundary[1]}>"
    )
    (result,) = (found.structured_content or {})["results"]
    assert result["description"] == SNIPPET
    given = SearchResult(title="Bees", url="https://bee.example/1", score=1, **fields)
    data = given.model_dump(mode="json", include=set(fields), exclude_defaults=True)
    assert {name: result[name] for name in fields} == data
