"""`/search`: what SearXNG's clients ask for, and what they get; another server's pool reads it as an instance."""

import asyncio
import random
from typing import Any

import pytest
from searxng_search import RequestException, SearXNGSearch
from searxng_search.exceptions import ParsingException

from searx_mcp import SearxClient, Settings
from searx_mcp.errors import DeadlineError, NoInstancesError, UnavailableReason
from searx_mcp.models.hits import (
    Answer,
    Code,
    Fact,
    File,
    Image,
    Infobox,
    Link,
    Media,
    Package,
    Paper,
    Place,
    Product,
    Torrent,
    UnresponsiveEngine,
    Video,
)
from searx_mcp.models.request import SafeSearch, TimeRange
from searx_mcp.models.response import SearchResult
from searx_mcp.sources.searxng.json_parser import parse_json

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
URL = "https://a.example/1"
ROW = {
    "template", "title", "content", "img_src", "iframe_src", "audio_src", "thumbnail",
    "publishedDate", "pubdate", "length", "views", "author", "metadata", "priority", "engines",
    "open_group", "close_group", "positions", "score", "category", "url", "engine", "parsed_url",
}  # fmt: skip
"""The fields of a usual row of SearXNG 2026.8.22."""


async def test_an_answer_has_the_fields_of_searxng(rest):
    answer = await rest.get("/search", params={"q": "bees", "format": "json"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert list(body) == [
        "query",
        "number_of_results",
        "results",
        "answers",
        "corrections",
        "infoboxes",
        "suggestions",
        "unresponsive_engines",
    ]
    first, second = body["results"]
    assert first.keys() == second.keys() == ROW
    assert first | {"score": 1.0} == first
    assert (first["url"], first["title"]) == ("https://a.example/bees", "Bees")
    assert first["parsed_url"] == ["https", "a.example", "/bees", "", "", ""]
    assert first["publishedDate"] == "2026-05-01T00:00:00+00:00"
    assert first["pubdate"] == "2026-05-01 00:00:00+0000"
    assert [first["positions"], second["positions"]] == [[1], [2]]
    assert second["publishedDate"] is None


async def test_every_parameter_is_understood(rest, service):
    answer = await rest.get(
        "/search?q=bees&q=wasps&format=json&categories=nosuch,News,images&language=de-DE&pageno=3"
        "&time_range=week&safesearch=2&engines=bing,Qwant&theme=simple&whole=maybe"
    )
    assert answer.status_code == 200
    (request,) = service.asked
    assert (request.query, request.category, request.language) == ("bees", "news", "de-DE")
    assert (request.time_range, request.safe_search) == (TimeRange.WEEK, SafeSearch.STRICT)
    assert request.engines == ("bing", "qwant")
    assert (request.offset, request.results_count, request.page) == (20, 10, 1)
    assert not request.fetch_content


@pytest.mark.parametrize(
    ("parameters", "category"),
    [
        ({"category_images": "1"}, "images"),
        ({"categories": "nosuch"}, "general"),
        ({"categories": "", "pageno": ""}, "general"),
        ({"categories": "social media"}, "social media"),
    ],
)
async def test_an_unknown_category_is_passed_over_as_searxng_does(
    rest, service, parameters, category
):
    answer = await rest.get("/search", params={"q": "bees", "format": "json", **parameters})
    assert answer.status_code == 200
    assert service.asked[0].category == category


@pytest.mark.parametrize(
    ("query", "body"),
    [("", "q=bees&format=json"), ("?q=wasps&format=json", "q=bees"), ("?q=bees&format=json", "")],
)
async def test_a_form_searches_as_well(rest, service, query, body):
    headers = FORM if body else {}
    answer = await rest.post(f"/search{query}", content=body.encode(), headers=headers)
    assert answer.status_code == 200
    assert service.asked[0].query == "bees"


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"Content-Type": "application/json"}, b'{"q": "bees", "format": "json"}'),
        ({"Content-Type": "multipart/form-data; boundary=x"}, b"--x--"),
        ({"Content-Type": "text/plain"}, b"q=bees&format=json"),
        (FORM | {"Content-Encoding": "gzip"}, b"\x1f\x8b"),
    ],
)
async def test_a_body_that_is_no_form_is_refused(rest, service, headers, body):
    answer = await rest.post("/search", content=body, headers=headers)
    assert answer.status_code == 415
    assert not service.asked


async def test_a_form_of_another_site_is_refused(rest, service):
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = await rest.post("/search", content=b"q=bees&format=json", headers=FORM | headers)
        assert answer.status_code == 403
    assert not service.asked


@pytest.mark.parametrize(
    ("query", "status", "name"),
    [
        ("q=bees", 403, "format"),
        ("q=bees&format=html", 403, "format"),
        ("format=xml", 403, "format"),
        ("format=json", 400, "q"),
        ("q=&format=json", 400, "q"),
        ("q=%20&format=json", 400, "q"),
        (f"q={'a' * 501}&format=json", 400, "q"),
        ("q=x&format=json&pageno=0", 400, "pageno"),
        ("q=x&format=json&pageno=-1", 400, "pageno"),
        ("q=x&format=json&pageno=%D9%A3", 400, "pageno"),
        ("q=x&format=json&pageno=52", 400, "pageno"),
        (f"q=x&format=json&pageno={'9' * 5_000}", 400, "pageno"),
        ("q=x&format=json&language=xxxxx", 400, "language"),
        ("q=x&format=json&time_range=sometime", 400, "time_range"),
        ("q=x&format=json&safesearch=9", 400, "safesearch"),
    ],
)
async def test_a_wrong_parameter_is_told_in_the_form_of_searxng(rest, service, query, status, name):
    answer = await rest.get(f"/search?{query}")
    assert answer.status_code == status
    assert answer.json().keys() == {"error"}
    assert name in answer.json()["error"]
    assert not service.asked


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (NoInstancesError("Nobody", reason=UnavailableReason.OWN_FAILED, attempts=()), 503),
        (DeadlineError("Late"), 504),
        (RuntimeError("secret"), 500),
    ],
    ids=["nobody", "late", "unforeseen"],
)
async def test_a_search_that_fails_says_so(rest, service, failure, status):
    service.failure = failure
    answer = await rest.get("/search", params={"q": "bees", "format": "json"})
    assert answer.status_code == status
    assert isinstance(answer.json()["error"], str)
    assert "secret" not in answer.text


async def test_very_many_parameters_are_not_read(rest, service):
    answer = await rest.post("/search?q=bees", content=b"&".join([b"a"] * 100), headers=FORM)
    assert answer.status_code == 400
    assert not service.asked


@pytest.fixture
def written(rest, service):
    """Give what searches where these fields are found."""

    async def _written(**found: Any) -> Any:
        service.found = found
        return await rest.get("/search", params={"q": "bees", "format": "json"})

    return _written


@pytest.fixture
def read_again(written):
    """Give what reads what is written of a search, as at an instance."""

    async def _read_again(**found: Any) -> Any:
        answer = await written(**found)
        page = parse_json(answer.content, base_url="https://us.example/").page
        assert page is not None
        return page

    return _read_again


@pytest.mark.parametrize(
    "field",
    [
        {"image": Image(url="https://i.example/a.png", resolution="3 x 4", format="PNG", size="1.2 MB")},
        {"video": Video(length="0:45:32", seconds=2732, views="1.2K", embed_url="https://v.example/e")},
        {"media": Media(length="0:03:46", seconds=226, audio_url="https://v.example/a.ogg")},
        {"torrent": Torrent(seeds=3, leeches=0, size="1.5 GiB", files=2, magnet="magnet:?xt=urn:btih:00")},
        {
            "place": Place(
                latitude=42.5,
                longitude=-72.0,
                bounding_box=(42.0, 43.0, -73.0, -71.0),
                name="Hive",
                country="XX",
                osm_type="node",
                osm_id=1,
                facts=(Fact(label="Phone", value="1"),),
                links=(Link(title="Wiki", url="https://w.example/"),),
            )
        },
        {"paper": Paper(authors=("A. One",), doi="10.1/2", issn=("1476-4687",), pages="1-9")},
        {"package": Package(name="bee", version="1.0", tags=("a",), links=(Link(title="Docs", url="https://d.example/"),))},
        {"code": Code(repository="https://g.example/r", filename="a.py", language="python", lines=((10, "x = 1"),))},
        {"file": File(filename="a.mp3", size="4.2 MB", mimetype="audio/mpeg", embed_url="https://f.example/a.mp3")},
        {"product": Product(price="3 EUR", shipping="free")},
        {"facts": (Fact(label="Legs", value="6"),)},
        {"published_at": "2026-05-01T10:00:00+02:00", "author": "A. Reporter"},
        {"engine": "bing", "engines": ("bing", "qwant"), "thumbnail": "https://i.example/t.png"},
    ],
    ids=lambda field: next(iter(field)),
)  # fmt: skip
async def test_our_own_reader_of_searxng_reads_every_field_again(read_again, field):
    result = SearchResult(
        title="Bees", url=URL, description="They fly.", score=1, category="it", **field
    )
    (hit,) = (await read_again(results=(result,))).hits
    assert (hit.url, hit.title, hit.description, hit.category) == (URL, "Bees", "They fly.", "it")
    for name in field.keys() - {"engine"}:
        assert getattr(hit, name) == field[name]


async def test_what_stands_around_the_rows_is_read_again(read_again):
    box = Infobox(
        title="Bees",
        content="Insects.",
        image="https://i.example/b.png",
        links=(Link(title="Wiki", url="https://w.example/"),),
        attributes=(Fact(label="Legs", value="6"),),
        engine="wikipedia",
    )
    rest = {
        "answers": (Answer(text="42", url=URL),),
        "infoboxes": (box,),
        "suggestions": ("wasps",),
        "corrections": ("bees",),
        "unresponsive_engines": (UnresponsiveEngine(engine="bing", reason="timeout"),),
    }
    page = await read_again(**rest)
    assert {name: getattr(page, name) for name in rest} == rest


async def test_what_open_collections_ask_to_be_said_is_said(written):
    row = SearchResult(title="Bees", url=URL, score=1, attribution="Photo: B. Keeper, CC BY")
    body = (await written(results=(row,), attribution=("Data: a collection, ODbL.",))).json()
    assert body["attribution"] == ["Data: a collection, ODbL."]
    assert body["results"][0]["metadata"] == "Photo: B. Keeper, CC BY"


@pytest.mark.parametrize(
    ("published", "date", "text"),
    [
        ("2026-05-01", "2026-05-01T00:00:00", "2026-05-01 00:00:00"),
        ("2026", None, "2026"),
        (None, None, "5 minutes ago"),
    ],
)
async def test_a_date_is_one_that_programs_can_read_or_none(written, published, date, text):
    row = SearchResult(
        title="", url=URL, score=1, published_at=published, published_text="5 minutes ago"
    )
    (found,) = (await written(results=(row,))).json()["results"]
    assert (found["publishedDate"], found["pubdate"]) == (date, text)


@pytest.mark.slow
async def test_a_client_library_of_searxng_searches_here(open_rest, service):
    def asked(base: str, **options: object) -> list[dict[str, str]]:
        with SearXNGSearch(base, retries=0) as client:
            return list(client.text("bees", language="en", pageno=2, **options))

    async with open_rest() as rest:
        base = str(rest.base_url)
        found = await asyncio.to_thread(asked, base)
        with pytest.raises(ParsingException) as failed:
            await asyncio.to_thread(asked, base, format="html")
    assert [row["href"] for row in found] == ["https://a.example/bees", "https://b.example/"]
    assert found[0] == {
        "title": "Bees",
        "href": "https://a.example/bees",
        "body": "All about bees.",
    }
    assert (service.asked[0].query, service.asked[0].offset) == ("bees", 10)
    assert isinstance(failed.value.__cause__, RequestException)
    assert "403" in str(failed.value.__cause__)


@pytest.mark.slow
async def test_our_own_pool_searches_here_as_at_an_instance(open_rest, service):
    async with open_rest() as rest:
        settings = Settings.model_validate(
            {"instances": {"own": [str(rest.base_url)]}, "open_sources": {"mode": "off"}}
        )
        async with SearxClient(settings, rng=random.Random(1)) as client:
            response = await client.search("bees", fetch_content=False, time_range="week")
    assert [result.url for result in response.results] == [
        "https://a.example/bees",
        "https://b.example/",
    ]
    assert response.instance_used.rstrip("/") == str(rest.base_url).rstrip("/")
    assert service.asked[-1].time_range is TimeRange.WEEK
