"""Where headers of the operator's go, and that no call of a model can set one or lift robots.txt."""

import logging

import pytest

from searx_mcp.arguments import parse_fetch
from searx_mcp.client.facade import SearxClient
from searx_mcp.errors import FetchError, InvalidArgumentError
from searx_mcp.models.fetch_request import FetchRequest
from searx_mcp.testing.web import FakePage, FakeWeb, article, redirect

PAGE = FakePage(article("Bees", ["Bees dance to tell each other where the flowers are."] * 3))
SECRET = "s3cr3t"


async def test_a_header_goes_to_its_site_alone_and_is_never_carried_on(settings_for, caplog):
    caplog.set_level(logging.DEBUG)
    async with FakeWeb({"/theirs": PAGE}) as theirs:
        pages = {
            "/a": redirect("/b"),
            "/b": redirect(theirs.url("/theirs")),
            "/gone": FakePage(status=404),
        }
        async with FakeWeb(pages) as ours:
            theirs.put("/back", redirect(ours.url("/c")))
            ours.put("/c", PAGE)
            settings = settings_for(
                ours,
                theirs,
                fetch={
                    "allow_private": [ours.origin, theirs.origin],
                    "headers": {ours.base: {"X-Key": SECRET, "User-Agent": "probe/1"}},
                },
            )
            async with SearxClient(settings) as client:
                page = await client.fetch(ours.url("/a"))
                back = await client.fetch(theirs.url("/back"))
                with pytest.raises(FetchError) as caught:
                    await client.fetch(ours.url("/gone"))
    assert len(ours.requests) == 4
    assert {request.headers.get("X-Key") for request in ours.requests} == {SECRET}
    assert {request.headers["User-Agent"] for request in ours.requests} == {"probe/1"}
    for request in (*theirs.requests, *ours.robots_requests, *theirs.robots_requests):
        assert "X-Key" not in request.headers
        assert request.headers["User-Agent"].startswith("searx-mcp/")
    for shown in (page, back, caught.value, vars(caught.value), caplog.text, settings):
        assert SECRET not in f"{shown!r}{shown}"


@pytest.mark.parametrize(
    "name",
    ["headers", "request_headers", "header", "robots", "ignore_robots", "ignoreRobots", "obey_robots",
     "by_person", "respect_robots", "robots_txt", "authorization", "cookies"],
)  # fmt: skip
def test_no_argument_of_a_model_sets_headers_or_lifts_robots(name):
    for value in (True, "ignore", {"X-Key": "x"}):
        with pytest.raises(InvalidArgumentError, match="is unknown"):
            parse_fetch({"url": "https://example.org/", name: value})


def test_every_argument_of_a_model_leaves_robots_to_the_operator():
    arguments = {
        "url": "https://example.org/", "cursor": "abcdefghijklmnop", "offset": 1, "limit": 1,
        "max_chars": 1, "section": "x", "prompt": "x", "images": "links", "force_refresh": True,
        "timeout": 5, "follow_redirects": False, "max_content_length": 2_048, "user_agent": "x",
    }  # fmt: skip
    request = parse_fetch(arguments)
    assert {*FetchRequest.model_fields} - arguments.keys() == {
        "further_urls",
        "by_person",
        "for_model",
        "ignore_robots",
    }
    assert (request.by_person, request.ignore_robots) == (False, False)
