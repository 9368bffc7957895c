"""The pages of a search: read side by side, judged, and counted."""

import asyncio
from collections.abc import Mapping

from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.models.page import Page, PageKind
from searx_mcp.models.request import FetchRequest
from searx_mcp.models.response import Poor, SearchResult
from searx_mcp.search.config import WebSearchConfig
from searx_mcp.search.reading import ResultReader

TEXT = "The keepers of bees speak of honey in May, and they write down what they have seen."


class Pages:
    """Reads prepared pages; what is not there cannot be read."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        self.pages = pages

    async def fetch(
        self,
        request: FetchRequest,
        *,
        deadline: float | None = None,
        max_bytes: int | None = None,
        query: str = "",
    ) -> Page:
        if request.url not in self.pages:
            raise ContentError("no page", code=ErrorCode.EXTRACTION_FAILED, url=request.url)
        return self.pages[request.url]


def page(url: str, text: str, **fields) -> Page:
    return Page(
        url=url,
        final_url=url,
        content_type="text/html",
        content_length=len(text),
        status_code=200,
        response_time_ms=1,
        markdown_content=text,
        word_count=len(text.split()),
        **fields,
    )


async def read(*pages: Page, urls: tuple[str, ...]):
    results = [SearchResult(title="T", url=url, score=1.0) for url in urls]
    reader = ResultReader(Pages({page.url: page for page in pages}), WebSearchConfig())
    deadline = asyncio.get_running_loop().time() + 5
    return await reader.read(results, deadline=deadline, query="bees honey")


async def test_content_holds_what_is_known_of_the_page():
    kept = page("https://a.example/", TEXT, kind=PageKind.ARTICLE, summary="S.", key_points=("P.",))
    (result,), stats = await read(kept, urls=("https://a.example/",))
    assert result.content is not None
    assert result.content.kind is PageKind.ARTICLE
    assert result.content.summary == "S."
    assert result.content.key_points == ("P.",)
    assert result.content.quality is not None
    assert 0 < result.content.quality <= 1
    assert (stats.attempted, stats.successful, stats.failed) == (1, 1, 0)


async def test_every_page_is_either_given_or_counted_as_failed():
    wall = page("https://b.example/", "# Club\n\nPlease log in to read what the members write.")
    results, stats = await read(
        page("https://a.example/", TEXT),
        wall,
        page("https://d.example/", "  "),
        urls=(
            "https://a.example/",
            "https://b.example/",
            "https://c.example/",
            "https://d.example/",
        ),
    )
    assert len(results) == 4
    assert [result.url for result in results if result.content] == ["https://a.example/"]
    assert (stats.attempted, stats.successful, stats.failed) == (4, 1, 3)
    assert [(each.url, each.reason) for each in stats.dropped] == [
        ("https://b.example/", Poor.LOGIN)
    ]


async def test_a_page_that_is_not_free_and_short_is_behind_a_wall():
    teaser = page("https://a.example/", TEXT, is_protected=True)
    (result,), stats = await read(teaser, urls=("https://a.example/",))
    assert result.content is None
    assert [each.reason for each in stats.dropped] == [Poor.PAYWALL]
