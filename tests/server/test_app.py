"""The client that a server opens for its models."""

from searx_mcp.models.request import FetchRequest
from searx_mcp.server.app import LazyService
from searx_mcp.testing.web import FakePage, FakeWeb

PAGE = FakePage("<p>Otters live along the coast and eat fish all day.</p>")


async def test_no_summary_is_made_that_no_model_sees(settings_for, tmp_path):
    async with FakeWeb({"/a": PAGE}) as web:
        settings = settings_for(web, storage={"folder": str(tmp_path)})
        assert settings.web_search.summarize_long_content
        async with LazyService(settings) as lazy:
            page = await (await lazy.get()).fetch(FetchRequest(url=web.url("/a")))
    assert page.markdown_content == "Otters live along the coast and eat fish all day."
    assert (page.summary, page.key_points) == ("", ())
