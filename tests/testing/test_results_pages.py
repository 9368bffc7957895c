"""What a reader of result pages finds, through the selectors a reader uses."""

from collections.abc import Sequence
from typing import Any

import aiohttp
import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.models.hits import (
    TEMPLATE_FIELDS,
    Answer,
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
    ResultPage,
    Torrent,
    Video,
)
from searx_mcp.sources.searxng.html_parser import parse_html
from searx_mcp.sources.searxng.json_parser import parse_json
from searx_mcp.testing.results import FakeResult, place
from searx_mcp.testing.searxng import FakeSearxng

TEMPLATES = {
    "general": {"default"},
    "images": {"images"},
    "videos": {"videos"},
    "news": {"default"},
    "map": {"map"},
    "music": {"default"},
    "it": {"code", "packages"},
    "science": {"paper"},
    "files": {"torrent", "file"},
    "social media": {"default"},
}


def both(**options: Any) -> FakeSearxng:
    return FakeSearxng(formats=("html", "json"), **options)


async def read_html(
    http: aiohttp.ClientSession, instance: FakeSearxng, **query: str
) -> LexborHTMLParser:
    async with http.get(f"{instance.url}search", params={"q": "hello world", **query}) as response:
        assert response.status == 200
        return LexborHTMLParser(await response.text())


async def read_json(
    http: aiohttp.ClientSession, instance: FakeSearxng, **query: str
) -> dict[str, Any]:
    parameters = {"q": "hello world", "format": "json", **query}
    async with http.get(f"{instance.url}search", params=parameters) as response:
        assert response.content_type == "application/json"
        answer = await response.json()
    assert isinstance(answer, dict)
    return answer


def text(node: LexborNode | None) -> str:
    return "" if node is None else " ".join(node.text().split())


def values(page: LexborHTMLParser, selector: str, name: str = "value") -> list[str | None]:
    return [node.attributes[name] for node in page.css(selector)]


async def read_both(
    http: aiohttp.ClientSession, instance: FakeSearxng, category: str
) -> tuple[ResultPage, ResultPage]:
    query = {"q": "hello world", "categories": category}
    async with http.get(f"{instance.url}search", params=query) as response:
        from_html = parse_html(await response.read(), base_url=instance.url).page
    async with http.get(f"{instance.url}search", params=query | {"format": "json"}) as response:
        from_json = parse_json(await response.read(), base_url=instance.url).page
    assert from_html is not None
    assert from_json is not None
    return from_html, from_json


FULL = [
    FakeResult(
        "https://a.example.org/image",
        image=Image(
            url="https://i.example.org/1.png",
            resolution="3 x 4",
            format="PNG",
            source="S",
            size="1 MB",
        ),
        thumbnail="https://i.example.org/2.png",
    ),
    FakeResult(
        "https://a.example.org/video",
        video=Video(length="3:46", seconds=226, views="5", embed_url="https://v.example.org/"),
        thumbnail="https://i.example.org/2.png",
    ),
    FakeResult("https://a.example.org/video/live", video=Video(length="live")),
    FakeResult(
        "https://a.example.org/media",
        media=Media(
            length="0:03:46",
            seconds=226,
            embed_url="https://m.example.org/",
            audio_url="https://m.example.org/a.mp3",
        ),
    ),
    FakeResult(
        "https://a.example.org/torrent",
        torrent=Torrent(
            seeds=7,
            leeches=0,
            size="1.5 GiB",
            files=3,
            magnet="magnet:?xt=urn:btih:00",
            torrent_url="https://t.example.org/a",
        ),
    ),
    FakeResult("https://a.example.org/torrent/bare", torrent=Torrent(size="2 MB")),
    FakeResult(
        "https://a.example.org/place",
        place=Place(
            latitude=1.5,
            longitude=-2,
            bounding_box=(1, 2, -3, -1),
            name="N",
            road="Main St",
            house_number="1a",
            locality="L",
            postcode="P",
            country="C",
            osm_type="way",
            osm_id=5,
            facts=(Fact(label="Phone", value="1"),),
            links=(Link(title="Site", url="https://s.example.org/"),),
        ),
    ),
    FakeResult(
        "https://a.example.org/paper",
        published_at="2026-02-05",
        paper=Paper(
            authors=("A. One", "B. Two"),
            journal="J",
            volume="3",
            number="2",
            pages="1-9",
            editor="E",
            publisher="P",
            doi="10.5555/1",
            issn=("1476-4687",),
            isbn=("978",),
            type="article",
            tags=("t", "u"),
            comments="c",
            pdf_url="https://p.example.org/a.pdf",
            html_url="https://p.example.org/a",
        ),
    ),
    FakeResult("https://a.example.org/paper/bare", paper=Paper(journal="J")),
    FakeResult(
        "https://a.example.org/package",
        published_at="2026-02-05T10:00:00",
        package=Package(
            name="p",
            version="1",
            maintainer="M",
            licence="MIT",
            licence_url="https://l.example.org/",
            tags=("t",),
            popularity="9",
            homepage="https://h.example.org/",
            source_url="https://s.example.org/",
            links=(Link(title="Docs", url="https://d.example.org/"),),
        ),
    ),
    FakeResult(
        "https://a.example.org/file",
        author="A. Writer",
        file=File(
            filename="a.mp3",
            size="1 MB",
            time="2025",
            mimetype="audio/mpeg",
            abstract="abs",
            embed_url="https://f.example.org/a.mp3",
        ),
    ),
    FakeResult(
        "https://a.example.org/product",
        product=Product(price="1 EUR", shipping="free", source_country="DE"),
    ),
]


@pytest.mark.parametrize(
    "row", FULL, ids=lambda row: row.url.removeprefix("https://a.example.org/")
)
async def test_a_parser_finds_every_field_of_a_row_in_both_formats(http, row: FakeResult):
    async with both(results=[row]) as instance:
        from_html, from_json = await read_both(http, instance, "general")
    expected = place(row, category="general", position=1)
    (hit,) = from_json.hits
    assert hit._replace(published_at=None) == expected._replace(title=hit.title, published_at=None)
    (hit,) = from_html.hits
    if hit.place and expected.place:
        osm = {"osm_type": "", "osm_id": None}
        expected = expected._replace(place=expected.place.model_copy(update=osm))
    for name in (*TEMPLATE_FIELDS, "url", "template", "author", "thumbnail", "published_at"):
        assert getattr(hit, name) == getattr(expected, name)


@pytest.mark.parametrize(("category", "templates"), TEMPLATES.items(), ids=TEMPLATES)
async def test_a_parser_finds_the_same_made_up_rows_in_both_formats(
    http, category: str, templates: set[str]
):
    async with both() as instance:
        from_html, from_json = await read_both(http, instance, category)
    assert {hit.template for hit in from_html.hits} == templates
    assert {hit.category for hit in from_html.hits} == {category}
    assert all(hit.engines for hit in from_json.hits)
    assert len(from_html.hits) == len(from_json.hits) == 10
    for one, other in zip(from_html.hits, from_json.hits, strict=True):
        missing: dict[str, Any] = {
            "engines": other.engines if other.package else one.engines,
            "place": other.place,
        }
        if other.code and one.code:
            missing["code"] = one.code.model_copy(update={"language": other.code.language})
        assert one._replace(**missing) == other
        if one.place and other.place:
            osm = {"osm_type": other.place.osm_type, "osm_id": other.place.osm_id}
            assert one.place.model_copy(update=osm) == other.place


async def test_a_table_has_no_address_in_either_format(http):
    facts = (Fact(label="k1", value="v1"), Fact(label="k2", value="2"))
    async with both(results=[FakeResult("", facts=facts)]) as instance:
        from_html, from_json = await read_both(http, instance, "general")
    for page in (from_html, from_json):
        assert (page.hits, page.rows_seen) == ((), 0)
        (box,) = page.infoboxes
        assert (box.title, box.engine) == ("alpha", "alpha")
        assert [(fact.label, fact.value) for fact in box.attributes] == [("k1", "v1"), ("k2", "2")]


async def test_made_up_rows_are_stable_and_differ_by_query_category_and_page(http):
    async with both() as instance, both() as other:
        first = await read_json(http, instance)
        assert first == await read_json(http, other)
        urls = [row["url"] for row in first["results"]]
        assert urls[:2] == [
            "https://docs.example.org/hello-world/1",
            "https://docs.example.org/hello-world/2",
        ]
        for different in ({"q": "other"}, {"categories": "news"}, {"pageno": "2"}):
            answer = await read_json(http, instance, **different)
            assert set(urls).isdisjoint(row["url"] for row in answer["results"])
        chinese = await read_json(http, instance, q="光合作用")
        assert chinese["results"][0]["url"].isascii()


LINKS = ("http://127.0.0.1:1/a", "http://127.0.0.1:1/b")
TWO = [
    FakeResult("https://a.example.org/", engines=("alpha", "beta")),
    FakeResult("https://b.example.org/", "B", category="news", engines=("alpha", "beta")),
]
SMALL = {"page_size": 2, "pages": 1}
SWITCHES = {"category_news": "1", "category_images": "1", "category_it": "off"}


@pytest.mark.parametrize(
    ("options", "query", "field", "expected"),
    [
        pytest.param({"links": LINKS}, {}, "url", [*LINKS], id="links"),
        pytest.param({"links": LINKS}, {"pageno": "2"}, "url", [], id="no more links"),
        pytest.param({"results": TWO}, {}, "title", ["https://a.example.org/"], id="no title"),
        pytest.param({"results": TWO}, {"categories": "news"}, "category", ["news"] * 2, id="any"),
        pytest.param(
            {"results": TWO}, {"categories": "news"}, "positions", [[1, 1], [2, 2]], id="positions"
        ),
        pytest.param({"results": TWO}, {"categories": "news"}, "score", [4.0, 2.0], id="score"),
        pytest.param(
            {"results": TWO}, {}, "parsed_url", [["https", "a.example.org", "/", "", "", ""]], id="parts"
        ),
        pytest.param(SMALL, {"categories": "nonsense"}, "category", ["general"] * 2, id="unknown"),
        pytest.param(SMALL, {"categories": "it,nonsense"}, "category", ["it"] * 2, id="one known"),
        pytest.param(SMALL, {"categories": "it", **SWITCHES}, "category", ["news"] * 2, id="switches"),
        pytest.param(SMALL, {**SWITCHES, "pageno": "2"}, "category", ["images"] * 2, id="the next one"),
    ],
)  # fmt: skip
async def test_rows_are_those_given_or_made_up_for_a_category(
    http, options, query, field: str, expected
):
    async with both(**options) as instance:
        answer = await read_json(http, instance, **query)
    assert [row[field] for row in answer["results"]] == expected


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"video": Video(), "product": Product()}, "one kind, not video and product"),
        ({"published_at": "yesterday"}, "isoformat"),
    ],
)
def test_an_impossible_row_is_refused(fields: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        FakeResult("https://a.example.org/", **fields)


async def test_markup_in_a_row_is_escaped_and_words_of_the_query_are_highlighted(http):
    results = [FakeResult("https://a.example.org/?a=1&b=2", "<b>Hello</b> & 'you'", 'a "world"')]
    async with both(results=results) as instance:
        page = await read_html(http, instance)
    (link,) = page.css("#urls article h3 > a")
    assert (link.attributes["href"], text(link)) == (results[0].url, "<b>Hello</b> & 'you'")
    assert text(page.css_first("#urls article p.content")) == 'a "world"'
    highlighted = [text(node) for node in page.css("h3 span.highlight, p span.highlight")]
    assert highlighted == ["Hello", "world"]


async def test_html_cuts_a_long_description_and_json_does_not(http):
    async with both(results=[FakeResult("https://a.example.org/", "A", "x" * 3_000)]) as instance:
        page = await read_html(http, instance)
        answer = await read_json(http, instance)
    assert len(text(page.css_first("p.content"))) == 1_024
    assert len(answer["results"][0]["content"]) == 3_000


async def test_a_public_instance_serves_thumbnails_through_its_proxy_in_html_only(http):
    options = {"link_token": True, "path_prefix": "/searx"}
    async with both(**options) as instance:
        page = await read_html(http, instance, categories="images")
        row = (await read_json(http, instance, categories="images"))["results"][0]
    source = page.css("img.image_thumbnail")[0].attributes["src"]
    assert source is not None
    assert source.startswith("/searx/image_proxy?url=https%3A%2F%2Fpictures.example.org%2F")
    assert row["thumbnail_src"] == "https://pictures.example.org/hello-world/1-small.png"
    assert row["thumbnail"] == ""


async def test_every_page_names_its_kind_and_the_program(http):
    async with FakeSearxng(version="2026.1.1+x", link_token=True) as instance:
        kinds = {"search?q=x": "results", "search": "search", "": "index", "nowhere": "None"}
        for path, kind in kinds.items():
            async with http.get(f"{instance.url}{path}") as response:
                page = LexborHTMLParser(await response.text())
            assert values(page, "body", "class") == [f"{kind}_endpoint"]
            assert values(page, 'meta[name="endpoint"]', "content") == [kind]
            assert values(page, 'meta[name="generator"]', "content") == ["searxng/2026.1.1+x"]
            hrefs = values(page, 'link[rel="stylesheet"][href^="/client"]', "href")
            assert hrefs == ["/clientfakesearxngtoken.css"]


@pytest.mark.parametrize(
    ("formats", "listed"), [(("html",), []), (("html", "json"), ["json"])], ids=["html", "json"]
)
async def test_a_page_lists_the_formats_besides_html(http, formats, listed):
    async with FakeSearxng(formats=formats) as instance:
        page = await read_html(http, instance)
    assert values(page, "#apis input[name=format]") == listed
    assert not page.css('link[href^="/client"]'), "only a public instance links the token"


async def test_paging_offers_a_next_page_while_there_are_rows(http):
    async with both(pages=2) as instance:
        pages = [await read_html(http, instance, pageno=str(n)) for n in (1, 2, 3)]
    offers = [
        (len(page.css("form.previous_page")), len(page.css("form.next_page"))) for page in pages
    ]
    assert offers == [(0, 1), (1, 1), (1, 0)]
    next_form = pages[0].css_first("form.next_page")
    assert next_form is not None
    fields = {node.attributes["name"]: node.attributes["value"] for node in next_form.css("input")}
    assert (fields["q"], fields["pageno"]) == ("hello world", "2")
    assert text(pages[2].css_first("#urls > .dialog-error-block")) == "There are no more results."


async def test_an_empty_answer_says_so_in_html_and_nothing_in_json(http):
    async with both(results=[]) as instance:
        page = await read_html(http, instance)
        answer = await read_json(http, instance)
    assert "Sorry!" in text(page.css_first("#urls > .dialog-error-block"))
    assert page.css("#engines_msg-table td.response-error") == []
    assert len(page.css("#engines_msg-table td.response-time .bar-chart-value")) == 3
    assert answer == {
        "query": "hello world",
        "results": [],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [],
    }


ALL_FAILED = [
    ["alpha", "timeout"],
    ["beta", "Suspended: CAPTCHA"],
    ["gamma", "Suspended: too many requests"],
]


def unresponsive(page: LexborHTMLParser) -> Sequence[list[str]]:
    return [
        [text(row.css_first("td.engine-name")), text(row.css_first("td.response-error"))]
        for row in page.css("#engines_msg-table tr")
        if row.css_first("td.response-error") is not None
    ]


async def test_with_all_engines_failed_nothing_is_found_and_all_are_named(http):
    surroundings = {"suggestions": ["x"], "answers": [Answer(text="42")]}
    results = [FakeResult("https://a.example.org/", engines=("some other",))]
    async with both(engines_failed=True, results=results, **surroundings) as instance:
        page = await read_html(http, instance)
        answer = await read_json(http, instance)
    assert unresponsive(page) == answer["unresponsive_engines"] == ALL_FAILED
    assert page.css("#urls article") == answer["results"] == answer["answers"] == []
    assert page.css_first("#urls > .dialog-error-block") is not None


async def test_a_failed_engine_takes_along_the_rows_only_it_found(http):
    results = [
        FakeResult("https://a.example.org/", engines=("alpha",)),
        FakeResult("https://b.example.org/", engines=("alpha", "big engine")),
        FakeResult("https://c.example.org/", engines=()),
    ]
    async with both(results=results) as instance:
        instance.fail_engines([("alpha", "timeout")])
        page = await read_html(http, instance)
        answer = await read_json(http, instance)
        assert unresponsive(page) == answer["unresponsive_engines"] == [["alpha", "timeout"]]
        found = [(row["url"], row["engines"]) for row in answer["results"]]
        assert found == [("https://b.example.org/", ["big engine"]), ("https://c.example.org/", [])]
        instance.fail_engines(failed=False)
        assert len((await read_json(http, instance))["results"]) == 3


async def test_answers_suggestions_and_corrections_stand_around_the_rows(http):
    options = {
        "answers": [Answer(text="42 & more", url="https://a.example.org/42"), Answer(text="bare")],
        "suggestions": ["hello <again>", "hello there"],
        "corrections": ["hallo world"],
        "results": [],
    }
    async with both(**options) as instance:
        page = await read_html(http, instance)
        answer = await read_json(http, instance)
    assert [text(node) for node in page.css("#answers > div.answer > span")] == [
        "42 & more",
        "bare",
    ]
    assert values(page, "#answers a.answer-url", "href") == ["https://a.example.org/42"]
    # A page with answers only has neither rows nor the block that says so.
    assert page.css(".dialog-error-block") == []
    assert values(page, "#suggestions input[type=submit]") == answer["suggestions"]
    assert answer["suggestions"] == ["hello <again>", "hello there"]
    assert values(page, "#corrections input[type=submit]") == answer["corrections"]
    assert [(each["answer"], each["url"]) for each in answer["answers"]] == [
        ("42 & more", "https://a.example.org/42"),
        ("bare", None),
    ]


async def test_an_infobox_carries_its_facts_and_links(http):
    box = Infobox(
        title="World",
        content="The planet.",
        image="https://i.example.org/w.png",
        links=(Link(title="Site", url="https://w.example.org/"),),
        attributes=(Fact(label="Radius", value="6371 km"),),
        engine="beta",
    )
    async with both(infoboxes=[box, Infobox(title="Bare")]) as instance:
        page = await read_html(http, instance)
        first, bare = (await read_json(http, instance))["infoboxes"]
    full, empty = page.css("aside.infobox")
    assert text(full.css_first("h2")) == "World"
    assert text(full.css_first("aside > p")) == "The planet."
    assert [node.attributes["src"] for node in full.css("aside > img")] == [box.image]
    assert text(full.css_first(".attributes dl")) == "Radius :6371 km"
    assert [text(node) for node in full.css(".urls a")] == ["Site"]
    assert empty.css("p, img, .attributes, .urls") == []
    assert first["infobox"] == "World"
    assert first["urls"] == [{"title": "Site", "url": "https://w.example.org/"}]
    assert first["attributes"] == [{"label": "Radius", "value": "6371 km"}]
    assert first["engines"] == ["beta"]
    assert (bare["engine"], bare["id"]) == ("alpha", "")
