"""Pages that are read from somewhere else than their own HTML, through the whole client."""

import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trustme
from typing_extensions import override
from yarl import URL

from searx_mcp import SearxClient
from searx_mcp.errors import ContentError, ErrorCode, FetchError, SettingsError
from searx_mcp.fetch.browser.renderer import Renderer
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.fetch.hops.media import MediaType
from searx_mcp.http.body import Body
from searx_mcp.models.page import Page
from searx_mcp.settings.values import Settings
from searx_mcp.testing.loopback import ReceivedRequest
from searx_mcp.testing.web import FakePage, FakeWeb, article
from tests.doubles.internet import FakeInternet
from tests.doubles.pdf import make_pdf

FILE = "/octo/bees/src/branch/main/README.md"
RAW = "/octo/bees/raw/branch/main/README.md"
URL_OF_FILE = f"http://git.example.org{FILE}"
PAGE = FakePage(article("The page itself", ["It says what the page says of bees. " * 8]))


def pages(raw: FakePage | None = None) -> dict[str, FakePage]:
    text = "# Bees\n\nA library that counts bees as they come home."
    return {FILE: PAGE, RAW: raw or FakePage(text, content_type="text/plain")}


@asynccontextmanager
async def reading(
    hosts: dict[str, FakeWeb], *, processes: bool = False, **fetch: object
) -> AsyncIterator[tuple[SearxClient, FakeInternet]]:
    settings = Settings.model_validate({"fetch": fetch})
    async with (
        FakeInternet(hosts) as internet,
        SearxClient(settings, dialling=internet.dialling, processes=processes) as client,
    ):
        yield client, internet


async def read_at(path: str, page: Any, *, processes: bool = False, **call: Any) -> Page:
    """Read one page of a site that has no other."""
    async with (
        FakeWeb({path.partition("#")[0]: page}) as web,
        reading({"www.example.org": web}, processes=processes) as (client, _),
    ):
        return await client.fetch(f"http://www.example.org{path}", **call)


async def test_an_adapter_reads_the_page_from_its_better_source():
    async with FakeWeb(pages()) as web, reading({"git.example.org": web}) as (client, _):
        page = await client.fetch(URL_OF_FILE)
    assert page.tier == "codeberg"
    assert "counts bees as they come home" in page.markdown_content
    assert page.url == page.final_url == URL_OF_FILE
    assert page.redirect_chain == (f"http://git.example.org{RAW} -> 200",)
    assert [request.path for request in web.requests] == [RAW]
    assert len(web.robots_requests) == 1


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (FakePage("gone", status=404), "HTTP 404"),
        (FakePage("down", status=503), "HTTP 503"),
        (FakePage("<!doctype html><p>Sign in"), "a page instead of the file"),
        (FakePage(b"\x89PNG\r\n\x1a\n", content_type="text/plain"), "image/png"),
        (FakePage(b"\x00\x01\x02", content_type="application/octet-stream"), "octet-stream"),
    ],
)
async def test_an_adapter_that_fails_costs_a_note_and_the_page_itself_is_read(source, reason):
    async with FakeWeb(pages(source)) as web, reading({"git.example.org": web}) as (client, _):
        page = await client.fetch(URL_OF_FILE)
    assert page.tier == "native"
    assert page.title == "The page itself"
    assert page.notes[0].startswith("Read as a page, because codeberg could not be read: ")
    assert reason in page.notes[0]


async def test_the_address_an_adapter_makes_is_judged_by_robots_again():
    robots = FakePage("User-agent: *\nDisallow: /*/raw/", content_type="text/plain")
    async with (
        FakeWeb(pages() | {"/robots.txt": robots}) as web,
        reading({"git.example.org": web}) as (client, _),
    ):
        page = await client.fetch(URL_OF_FILE)
    assert page.tier == "native"
    assert "robots.txt" in page.notes[0]
    assert [request.path for request in web.requests] == [FILE]


async def test_the_address_an_adapter_makes_is_judged_by_the_guard_again():
    web = FakeWeb({"/someone/project/blob/main/a.py": PAGE})
    async with web, reading({"github.com": web}, tiers=["github"]) as (client, internet):
        internet.resolve("raw.githubusercontent.com", ["127.0.0.1"])
        with pytest.raises(FetchError) as caught:
            await client.fetch("https://github.com/someone/project/blob/main/a.py")
    # The page itself would come over TLS, which the web site here does not speak.
    assert caught.value.code is not ErrorCode.BLOCKED_ADDRESS
    assert ("127.0.0.1", 443) not in internet.dialled


async def test_a_source_whose_address_grew_too_long_is_passed_over():
    path = f"/octo/demo/blob/main/{'a' * 4_050}"
    async with FakeWeb({path: PAGE}) as web, reading({"github.com": web}) as (client, _):
        page = await client.fetch(f"http://github.com{path}")
    assert page.tier == "native"
    assert "no usable address" in page.notes[1]


@asynccontextmanager
async def github(web_pages: dict[str, FakePage]) -> AsyncIterator[tuple[SearxClient, FakeWeb]]:
    """Read pages of GitHub and its API, both of which one site over TLS stands for."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("api.github.com", "github.com").configure_cert(context)
    async with FakeWeb(web_pages, ssl_context=context) as web, FakeInternet() as internet:
        for host in ("api.github.com", "github.com"):
            internet.host(host, web, port=443)
        settings = Settings.model_validate({"web_fetch": {"verify_ssl": False}})
        async with SearxClient(settings, dialling=internet.dialling) as client:
            yield client, web


@pytest.mark.parametrize(
    ("readme", "requests"), [(FakePage("none", status=404), 0), (FakePage("down", status=503), 2)]
)
async def test_without_what_does_not_exist_a_page_is_settled_and_without_what_failed_it_is_not(
    readme, requests
):
    repository = {"full_name": "octo/demo", "description": "A demo.", "default_branch": "main"}
    api = {
        "/repos/octo/demo": FakePage(json.dumps(repository), content_type="application/json"),
        "/repos/octo/demo/readme": readme,
    }
    async with github(api) as (client, web):
        first = await client.fetch("https://github.com/octo/demo")
        before = len(web.requests)
        second = await client.fetch("https://github.com/octo/demo")
    assert first.tier == second.tier == "github"
    assert "A demo." in first.markdown_content
    assert len(web.requests) - before == requests


@pytest.mark.parametrize(
    ("body", "reason"),
    [("[]", "the answer is not a JSON object"), ("{", "the answer cannot be read")],
)
async def test_an_api_that_answers_with_something_else_costs_a_note(body, reason):
    answer = FakePage(body, content_type="application/json")
    async with github({"/repos/octo/demo": answer, "/octo/demo": PAGE}) as (client, _):
        page = await client.fetch("https://github.com/octo/demo")
    assert (page.tier, page.title) == ("native", "The page itself")
    assert page.notes == (f"Read as a page, because github could not be read: {reason}",)


@pytest.mark.parametrize(
    ("tiers", "call"), [([], {}), (["pypi"], {}), (["codeberg"], {"follow_redirects": False})]
)
async def test_without_an_adapter_the_page_itself_is_read(tiers, call):
    async with FakeWeb(pages()) as web, reading({"git.example.org": web}, tiers=tiers) as (c, _):
        page = await c.fetch(URL_OF_FILE, **call)
    assert page.tier == "native"
    assert page.notes == ()


PDF = make_pdf(
    *(f"Page {number} is about bees and what they eat." for number in range(1, 5)),
    info={"Title": "Of bees"},
)


def pdf(body: bytes = PDF, content_type: str = "application/pdf") -> FakePage:
    return FakePage(body, content_type=content_type)


@pytest.mark.slow
@pytest.mark.parametrize(
    "content_type", ["application/pdf", "application/octet-stream", "text/html", ""]
)
async def test_a_pdf_is_read_whatever_it_is_called(content_type):
    page = await read_at("/bees", pdf(content_type=content_type), processes=True)
    assert page.content_type == "application/pdf"
    assert page.title == "Of bees"
    assert "Page 4 is about bees" in page.markdown_content
    assert [heading.anchor for heading in page.outline] == [f"page={n}" for n in range(1, 5)]


@pytest.mark.slow
async def test_the_fragment_chooses_the_pages_of_a_pdf():
    async with (
        FakeWeb({"/bees.pdf": pdf()}) as web,
        reading({"www.example.org": web}, processes=True) as (client, _),
    ):
        some = await client.fetch("http://www.example.org/bees.pdf#page=2-3")
        whole = await client.fetch("http://www.example.org/bees.pdf")
    assert "Page 1" not in some.markdown_content
    assert "Page 2" in some.markdown_content
    assert "Page 1" in whole.markdown_content


async def test_a_client_without_processes_reads_no_pdf_and_says_how_to_allow_it():
    with pytest.raises(ContentError) as caught:
        await read_at("/bees.pdf", pdf())
    assert caught.value.code is ErrorCode.UNSUPPORTED_CONTENT_TYPE
    assert "processes=True" in caught.value.advice


@pytest.mark.parametrize(
    ("page", "fields", "code"),
    [
        pytest.param(pdf(PDF[:400]), {}, ErrorCode.EXTRACTION_FAILED, marks=pytest.mark.slow),
        (
            pdf(b"%PDF-1.7 " + b"x" * 3_000),
            {"max_content_length": 1_024},
            ErrorCode.CONTENT_TOO_LARGE,
        ),
        (
            FakePage(PDF, content_type="application/pdf", cut_after=300),
            {},
            ErrorCode.MALFORMED_RESPONSE,
        ),
    ],
)
async def test_a_pdf_that_is_not_whole_is_refused(page, fields, code):
    with pytest.raises(FetchError) as caught:
        await read_at("/bees.pdf", page, processes=True, **fields)
    assert caught.value.code is code
    assert caught.value.advice


async def test_a_login_page_in_place_of_a_pdf_is_a_page():
    page = await read_at("/bees.pdf", pdf(PAGE.content))
    assert page.content_type == "text/html"
    assert page.title == "The page itself"


async def test_markdown_is_taken_as_it_is_where_a_site_serves_it():
    def answer(request: ReceivedRequest) -> FakePage:
        assert "text/markdown" in request.headers["Accept"]
        return FakePage("# Bees\n\n* one\n", content_type="text/markdown")

    page = await read_at("/", answer)
    assert page.markdown_content == "# Bees\n\n* one"
    assert page.title == "Bees"
    assert page.outline[0].title == "Bees"


SKELETON = FakePage(
    "<html><head><title>App</title></head><body><div id=root></div>"
    "<script>document.getElementById('root').innerHTML ="
    " '<main><h1>Made by a script</h1><p>' + 'Words of a script. '.repeat(40) + '</p></main>'"
    "</script></body></html>"
)


async def test_a_page_that_is_empty_without_its_scripts_names_the_way_out():
    with pytest.raises(ContentError) as caught:
        await read_at("/", SKELETON)
    assert caught.value.code is ErrorCode.EXTRACTION_FAILED
    assert "fetch.browser" in caught.value.advice


class StandInRenderer(Renderer):
    """Gives what a test says instead of starting a browser."""

    def __init__(self, html: str, *, status: int = 200, is_truncated: bool = False) -> None:
        body = Body(html.encode(), truncated=is_truncated, notes=("A note.",))
        media = MediaType("text/html", "utf-8")
        self.rendered = ReceivedPage("http://www.example.org/app", status, {}, media, body)

    @override
    async def render(
        self, url: URL, *, user_agent: str, deadline: float, max_bytes: int
    ) -> ReceivedPage:
        return self.rendered

    @override
    async def aclose(self) -> None:
        pass


async def render(renderer: Renderer) -> Page:
    async with FakeWeb({"/": SKELETON}) as web, reading({"www.example.org": web}) as (client, _):
        (await client._asking()).fetcher._capturer._renderer = renderer
        return await client.fetch("http://www.example.org/")


@pytest.mark.parametrize(("status", "shown"), [(203, 203), (0, 200)])
async def test_what_a_browser_made_of_a_page_is_read_like_a_page(status, shown):
    html = article("App", ["Words. " * 40])
    page = await render(StandInRenderer(html, status=status, is_truncated=True))
    assert page.status_code == shown
    assert (page.tier, page.title, page.final_url) == (
        "browser",
        "App",
        "http://www.example.org/app",
    )
    assert page.truncated
    assert "A note." in page.notes


@pytest.mark.parametrize(
    ("renderer", "code"),
    [
        (StandInRenderer(article("Just a moment...", ["Wait. " * 40])), ErrorCode.BLOCKED_BY_SITE),
        (StandInRenderer(article("Gone", ["Lost. " * 40]), status=404), ErrorCode.NOT_FOUND),
    ],
)
async def test_a_challenge_that_scripts_made_is_no_page_either(renderer, code):
    with pytest.raises(FetchError) as caught:
        await render(renderer)
    assert caught.value.code is code


@pytest.mark.slow
async def test_a_browser_reads_a_page_that_is_empty_without_its_scripts():
    async with (
        FakeWeb({"/": SKELETON}) as web,
        reading({"www.example.org": web}, browser=True) as (client, internet),
    ):
        page = await client.fetch("http://www.example.org/", timeout=60)
    assert page.tier == "browser"
    assert "Words of a script." in page.markdown_content
    assert page.robots == "absent"
    assert set(internet.dialled) == {("93.184.216.1", 80)}


@pytest.mark.slow
async def test_a_page_with_text_of_its_own_costs_no_browser():
    async with (
        FakeWeb({"/": PAGE}) as web,
        reading({"www.example.org": web}, browser=True) as (client, _),
    ):
        page = await client.fetch("http://www.example.org/")
    assert page.tier == "native"
    assert len(web.requests) == 1


async def test_a_browser_that_is_not_there_names_its_setting():
    with pytest.raises(SettingsError, match=r"fetch\.browser_path"):
        async with reading({}, browser=True, browser_path="/no/such/program"):
            pass
