"""The real server that other tests search through answers as they rely on."""

import json
from typing import Any, Protocol
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

import pytest


class Searx(Protocol):
    """What the fixture gives."""

    url: str

    def point_to(self, site: str) -> None: ...


def get(searx: Searx, **query: str) -> str:
    address = f"{searx.url}search?{urlencode(query)}"
    with build_opener(ProxyHandler({})).open(address, timeout=10) as reply:
        body: bytes = reply.read()
    return body.decode()


def get_json(searx: Searx, **query: str) -> dict[str, Any]:
    answer = json.loads(get(searx, format="json", **query))
    assert isinstance(answer, dict)
    return answer


def test_json_and_html_hold_the_rows_of_the_loopback_engine(searx: Searx) -> None:
    searx.point_to("http://127.0.0.1:1234")
    expected = [f"http://127.0.0.1:1234/general/{n}" for n in range(1, 6)]

    answer = get_json(searx, q="bees")
    page = get(searx, q="bees")

    assert [row["url"] for row in answer["results"]] == expected
    assert answer["results"][0]["title"] == "general 1: bees"
    assert answer["suggestions"] == ["bees explained"]
    assert all(f'href="{url}"' in page for url in expected)


@pytest.mark.parametrize(
    "category", ["general", "images", "videos", "news", "map", "music", "it", "science", "files"]
)
def test_every_category_has_rows_in_both_formats(searx: Searx, category: str) -> None:
    searx.point_to("http://127.0.0.1:1234/site/")

    rows = get_json(searx, q="bees", categories=category)["results"]
    page = get(searx, q="bees", categories=category)

    assert len(rows) == 5
    assert {row["category"] for row in rows} == {category}
    assert f"http://127.0.0.1:1234/site/{category}/1" in page


def test_there_are_three_pages(searx: Searx) -> None:
    counts = [len(get_json(searx, q="bees", pageno=str(n))["results"]) for n in (1, 2, 3, 4)]

    assert counts == [5, 5, 5, 0]


def test_a_search_may_find_nothing(searx: Searx) -> None:
    answer = get_json(searx, q="nothing here")

    assert answer["results"] == []
    assert answer["unresponsive_engines"] == []


def test_a_broken_engine_is_named_and_recovers_at_once(searx: Searx) -> None:
    assert get_json(searx, q="broken bees")["unresponsive_engines"][0][0] == "loopback general"
    assert len(get_json(searx, q="bees")["results"]) == 5
