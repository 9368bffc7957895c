"""Tiers through the whole fetcher: a forge on loopback, recognised by its addresses."""

import pytest

from searx_mcp.models.fetch_request import FetchRequest

BLOB = "/g/p/-/blob/main/src/a.py"
RAW = "/g/p/-/raw/main/src/a.py"
PAGE = "<title>Page</title><main><p>The page itself says what is in the file.</main>"


@pytest.fixture
def forge(site):
    """A site with a page and a file of five lines, and no robots.txt."""
    site.page("/robots.txt", "", status="404 Not Found")
    site.page(BLOB, PAGE)
    site.page(RAW, "one\ntwo\nthree\nfour\nfive\n", content_type="text/plain; charset=utf-8")
    return site


async def test_a_file_is_read_from_its_raw_address(forge, fetcher):
    page = await fetcher.fetch(FetchRequest(url=forge.at(f"{BLOB}#L2-3")))
    assert page.markdown_content == "# src/a.py, lines 2 to 3 of 5\n\n```python\ntwo\nthree\n```"
    assert (page.tier, page.content_type) == ("gitlab", "text/x-python")
    assert page.title == "src/a.py, lines 2 to 3"
    assert not page.truncated
    assert BLOB not in [request.path for request in forge.requests]


async def test_a_file_that_is_too_long_is_cut(forge, make_fetcher):
    text = "".join(f"line {n}\n" for n in range(10_000))
    forge.page(RAW, text, content_type="text/plain")
    request = FetchRequest(url=forge.at(BLOB), max_content_length=2_048)
    page = await make_fetcher().fetch(request)
    assert page.tier == "gitlab"
    assert page.truncated
    assert page.markdown_content.startswith("# src/a.py\n\n```python\nline 0\n")
    assert page.markdown_content.endswith("\n```")


@pytest.mark.parametrize("content_type", ["text/plain", "application/octet-stream", None])
async def test_markdown_is_read_whatever_its_site_calls_it(forge, fetcher, content_type):
    body = "# Title\n\nSee [more](b.md). ![logo](a.png)"
    forge.page("/g/p/-/raw/main/a.md", body, content_type=content_type)
    page = await fetcher.fetch(FetchRequest(url=forge.at("/g/p/-/blob/main/a.md")))
    more = forge.at("/g/p/-/blob/main/b.md")
    assert page.markdown_content == f"# Title\n\nSee [more]({more}). [image: logo]"
    assert (page.title, page.content_type) == ("Title", "text/markdown")
