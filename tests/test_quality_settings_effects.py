"""Every key of the `[quality]` table changes what the reading of pages makes of results."""

import asyncio
import random
from collections.abc import Mapping

import pytest

from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.fetch.turns import Turns
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.models.page import Page
from searx_mcp.models.response import FetchStats, Poor, SearchResult
from searx_mcp.search.config import QualityConfig, WebSearchConfig
from searx_mcp.search.reading import ResultReader
from searx_mcp.tasks import Tasks


def text_of(seed: int, *words: str) -> str:
    """Sentences of words that mean nothing, with those given among them."""
    dice = random.Random(seed)
    vocabulary = [*(f"word{n}" for n in range(300)), *(words * 4)]
    return " ".join(f"{' '.join(dice.choices(vocabulary, k=12))}." for _ in range(40))


ABOUT = text_of(1, "honey", "hive", "keepers", "bees")
ELSE = text_of(2)
LOGIN = "# Members\n\nPlease log in to read on. The rest is for those who have joined the club."


class Pages:
    """Reads prepared pages."""

    def __init__(self, pages: Mapping[str, str]) -> None:
        self.pages = pages

    async def fetch(
        self,
        request: FetchRequest,
        *,
        deadline: float | None = None,
        max_bytes: int | None = None,
        query: str = "",
    ) -> Page:
        text = self.pages.get(request.url)
        if text is None:
            raise ContentError("no page", code=ErrorCode.EXTRACTION_FAILED, url=request.url)
        return Page(
            url=request.url,
            final_url=request.url,
            content_type="text/html",
            content_length=len(text),
            status_code=200,
            response_time_ms=1,
            markdown_content=text,
            word_count=len(text.split()),
        )


async def read(
    pages: Mapping[str, str], config: QualityConfig, query: str = "keepers"
) -> tuple[tuple[SearchResult, ...], FetchStats]:
    results = [
        SearchResult(title="T", url=url, score=1 - place / 100) for place, url in enumerate(pages)
    ]
    async with Tasks() as tasks:
        reader = ResultReader(Pages(pages), WebSearchConfig(), config, turns=Turns(tasks.spawn))
        deadline = asyncio.get_running_loop().time() + 5
        return await reader.read(results, deadline=deadline, query=query)


async def order(config: QualityConfig, pages: Mapping[str, str], query: str) -> str:
    results, _ = await read(pages, config, query)
    return "".join(result.url.removeprefix("https://")[0] for result in results)


ASKED = "honey hive keepers"
WORSE_FIRST = {"https://a.example/": ELSE, "https://b.example/": ABOUT}
BETTER_FIRST = {"https://a.example/": ABOUT, "https://b.example/": ELSE}
SAME = {"https://a.example/": ABOUT, "https://b.example/": ABOUT}
DOCS = {"https://a.example/": ABOUT, "https://docs.b.example/": ABOUT}
NAMED = {"https://a.example/": ABOUT, "https://bees.example/": ABOUT}
ORDERS: dict[str, tuple[object, Mapping[str, str], str, tuple[str, str]]] = {
    "rerank": (False, WORSE_FIRST, ASKED, ("ba", "ab")),
    "strength": (0, WORSE_FIRST, ASKED, ("ba", "ab")),
    "preferred_domains": (("a.example",), DOCS, ASKED, ("da", "ad")),
    "demoted_domains": (("a.example",), BETTER_FIRST, ASKED, ("ab", "ba")),
    "prefer_named_sites": (False, NAMED, "bees", ("ba", "ab")),
}
"""By key: a value, what is read for which query, and the order without and with the value."""


@pytest.mark.parametrize("key", ORDERS)
async def test_the_key_changes_the_order(key: str):
    value, pages, query, orders = ORDERS[key]
    changed = QualityConfig.model_validate({key: value})
    assert (
        await order(QualityConfig(), pages, query),
        await order(changed, pages, query),
    ) == orders


async def test_pages_that_are_no_good_may_be_kept():
    pages = {"https://a.example/": LOGIN, "https://b.example/": ABOUT}
    _, stats = await read(pages, QualityConfig())
    _, others = await read(pages, QualityConfig(drop_poor=False))
    assert [page.reason for page in stats.dropped] == [Poor.LOGIN]
    assert (stats.successful, stats.failed) == (1, 1)
    assert (others.successful, others.failed) == (2, 0)


async def test_copies_may_stay_apart():
    _, stats = await read(SAME, QualityConfig())
    _, others = await read(SAME, QualityConfig(group_duplicates=False))
    assert (stats.duplicates, others.duplicates) == (1, 0)


def test_every_key_of_the_table_is_tried():
    assert {*ORDERS, "drop_poor", "group_duplicates"} == set(QualityConfig.model_fields)
