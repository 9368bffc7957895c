import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.hits import Answer, Code, Fact, Image, Infobox, UnresponsiveEngine, Video
from searx_mcp.models.page import CodeBlock, Heading, PageImage, PageLink
from searx_mcp.models.response import FetchStats, PageContent, SearchResult
from searx_mcp.render.page import page_text
from searx_mcp.render.public import page_data, response_data
from searx_mcp.render.search import search_text
from searx_mcp.render.structured import scrub
from searx_mcp.render.tokens import estimate

SURROGATES = st.text(st.characters() | st.characters(categories=["Cs"]), max_size=20)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | SURROGATES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SURROGATES, inner, max_size=3),
    max_leaves=8,
)


def unfenced(markdown: str) -> str:
    """What is inside the fence of a page; an empty one has none."""
    return "\n".join(markdown.split("\n")[1:-1])


def long_results(count: int, length: int) -> list[SearchResult]:
    return [
        SearchResult(
            title=f"Title of result {n}",
            url=f"https://{n}.example/path",
            description="Words about the page. " * 20,
            score=1 - n / 60,
            engine="bing",
            engines=("bing", "google"),
            category="general",
            thumbnail=f"https://{n}.example/thumbnail.png",
            content=PageContent(
                markdown="Words of the page. " * length,
                word_count=4 * length,
                fetch_time_ms=9,
                summary="A sentence of the summary. " * 18,
            ),
        )
        for n in range(count)
    ]


def test_a_search_has_every_specified_field_and_no_empty_other(make_response):
    result = SearchResult(title="T", url="https://a.example/", score=0.0)
    assert response_data(make_response(result)) == {
        "query": "rust async",
        "category": "general",
        "language": "en",
        "safe_search": 1,
        "fetch_content": False,
        "results_count": 1,
        "search_time_ms": 1250,
        "instance_used": "https://search.example.org/",
        "coverage": "web",
        "results": [
            {
                "title": "T",
                "url": "https://a.example/",
                "description": "",
                "score": 0.0,
                "engine": "",
            }
        ],
        "total_results": 1,
        "engines_used": ["duckduckgo"],
    }


def test_content_and_its_figures_have_every_specified_field(make_response):
    content = PageContent(markdown="", word_count=0, fetch_time_ms=0)
    result = SearchResult(title="T", url="https://a.example/", score=1.0, content=content)
    stats = FetchStats(attempted=1, successful=1, total_time_ms=7)
    data = response_data(make_response(result, fetch_content=True, content_fetch_stats=stats))
    assert data["results"][0]["content"] == {
        "markdown": "",
        "word_count": 0,
        "fetch_time_ms": 0,
        "summary": "",
    }
    assert data["content_fetch_stats"] == {
        "attempted": 1,
        "successful": 1,
        "failed": 0,
        "total_time_ms": 7,
    }


def test_figures_are_there_when_content_was_asked_for_and_nothing_found(make_response):
    data = response_data(make_response(fetch_content=True))
    assert data["results"] == []
    assert data["content_fetch_stats"]["attempted"] == 0


def test_a_field_outside_the_specification_is_there_when_it_says_something(make_response):
    attempt = Attempt(instance="https://a.example/", verdict=Verdict.FULL, format=Format.JSON)
    data = response_data(
        make_response(*long_results(1, 1), attempts=(attempt,), cached=True, notes=("A note.",))
    )
    assert data["cached"] is True
    assert data["notes"] == ["A note."]
    assert data["attempts"][0]["verdict"] == "full"
    assert data["results"][0]["engines"] == ["bing", "google"]
    assert data["results"][0]["content"]["markdown"] == "Words of the page. "


def test_a_direct_answer_has_its_parts_where_there_are_any(make_response):
    wind = Answer(text="Windy", details=(Fact(label="Wind", value="N"),))
    data = response_data(make_response(answers=(Answer(text="42"), wind)))
    assert data["answers"] == [
        {"text": "42", "url": None},
        {"text": "Windy", "url": None, "details": [{"label": "Wind", "value": "N"}]},
    ]


@pytest.mark.parametrize("budget", [None, 600])
def test_an_answer_out_of_the_cache_tells_its_age_and_a_stale_one_that_it_is(
    budget, make_response, boundary
):
    cached = make_response(cached=True)
    data = response_data(cached, budget=budget, boundary=boundary)
    assert (data["age_seconds"], "stale" in data) == (0, False)
    notes = ("Answer from 7 minutes ago; a newer one is being fetched.",)
    stale = make_response(cached=True, stale=True, age_seconds=425, notes=notes)
    data = response_data(stale, budget=budget, boundary=boundary)
    assert (data["age_seconds"], data["stale"], data["notes"][:1]) == (425, True, [*notes])


@pytest.mark.parametrize("budget", [600, 1_500, 6_000])
def test_a_budget_makes_the_same_cuts_as_the_text(budget, make_response, boundary):
    response = make_response(*long_results(10, 300), fetch_content=True)
    text = search_text(response, budget=budget, boundary=boundary)
    data = response_data(response, budget=budget, boundary=boundary)
    assert data["results_count"] == 10
    for result in data["results"]:
        assert f"{result['title']}\n{result['url']}" in text
        assert result["description"] in text
        assert unfenced(result.get("content", {"markdown": ""})["markdown"]) in text
        assert result.get("content", {"truncated": True})["truncated"] is True
    contents = [result["content"] for result in data["results"] if "content" in result]
    shown = [content for content in contents if content["markdown"]]
    assert len(shown) == text.count("\nPage of result")
    gists = [content["summary"] for content in contents if not content["markdown"]]
    assert gists == re.findall(r"\nPage: (.*)", text)


@pytest.mark.parametrize(("count", "budget"), [(5, 2_000), (10, 6_000), (10, 2_000), (50, 6_000)])
def test_a_budget_holds_for_the_data_but_for_the_names_of_its_fields(
    count, budget, make_response, boundary
):
    """40 tokens a result and 500 around them: braces, quotes and field names."""
    attempt = Attempt(instance="https://a.example/", verdict=Verdict.FULL, format=Format.JSON)
    response = make_response(
        *long_results(count, 300),
        fetch_content=True,
        attempts=(attempt,) * 30,
        answers=(Answer(text="Word. " * 999),) * 20,
        infoboxes=(Infobox(title="Box", content="Word. " * 999),) * 20,
        suggestions=("A suggestion.",) * 50,
        unresponsive_engines=(UnresponsiveEngine(engine="bing", reason="timeout"),) * 80,
    )
    data = response_data(response, budget=budget, boundary=boundary)
    assert "attempts" not in data
    assert estimate(json.dumps(data, ensure_ascii=False)) <= budget + 40 * count + 500


def test_the_data_says_what_was_left_out(make_response, boundary):
    data = response_data(make_response(*long_results(40, 300)), budget=300, boundary=boundary)
    left_out = 40 - len(data["results"])
    assert data["results_count"] == 40
    assert f"{left_out} more results left out for lack of room" in data["notes"][0]


def test_the_data_says_how_to_read_on(make_response, boundary):
    response = make_response(*long_results(10, 300))
    notes = response_data(response, budget=2_500, boundary=boundary)["notes"]
    assert "more pages left out for lack of room: web_fetch reads them." in notes[0]
    assert "call web_fetch with its cursor and its next_offset as offset." in notes[1]


def test_an_empty_page_is_not_marked_as_cut(make_response, boundary):
    content = PageContent(markdown="", word_count=0, fetch_time_ms=1)
    result = SearchResult(title="T", url="https://a.example/", score=1.0, content=content)
    data = response_data(make_response(result), budget=600, boundary=boundary)
    assert "truncated" not in data["results"][0]["content"]


def test_a_page_that_does_not_answer_its_prompt_says_so(make_page):
    data = page_data(make_page("Text.", answered=False, support=0.13, missing_terms=("moon",)))
    assert (data["answered"], data["support"], data["missing_terms"]) == (False, 0.13, ["moon"])


def test_a_page_has_every_specified_field_and_no_empty_other(make_page):
    assert page_data(make_page("Text.", title="")) == {
        "url": "https://example.com/page",
        "final_url": "https://example.com/page",
        "title": "",
        "content_type": "text/html",
        "content_length": 15_420,
        "status_code": 200,
        "response_time_ms": 245,
        "markdown_content": "Text.",
        "word_count": 1,
        "headers": {},
        "redirect_count": 0,
        "redirect_chain": [],
        "offset": 0,
        "total_chars": 0,
        "tier": "native",
        "age_seconds": 0,
        "hidden_chars_removed": 0,
    }


def test_a_budget_cuts_a_page_as_the_text_does(make_page, boundary):
    page = make_page(
        "# One\n\n## Two\n\n" + "Words of the page. " * 2_000,
        notes=("A note.",),
        summary="A word. " * 60,
        outline=(Heading(level=1, title="One", offset=0), Heading(level=2, title="Two", offset=7)),
        images=(PageImage(url="https://example.com/a.png"),),
        cursor="abcdefgh234567ab",
        total_chars=40_000,
    )
    data = page_data(page, budget=2_000, boundary=boundary)
    text = page_text(page, budget=2_000, boundary=boundary)
    assert data["truncated"] is True
    assert f"Text:\n\n{unfenced(data['markdown_content'])}\n</web-content" in text
    assert [heading["title"] for heading in data["outline"]] == ["One", "Two"]
    assert data["images"] == [{"url": "https://example.com/a.png"}]
    assert f'"offset": {data["next_offset"]}}}' in text.splitlines()[-1]
    assert "summary" not in data
    assert data["notes"] == ["A note.", " ".join(text.splitlines()[-2:])]
    assert estimate(json.dumps(data)) <= 2_250


@pytest.mark.parametrize("size", [1, 2_000], ids=["whole", "cut"])
def test_lists_of_a_page_share_what_is_left_the_first_of_each_first(make_page, boundary, size):
    page = make_page(
        "Words of the page. " * size,
        images=tuple(PageImage(url=f"https://example.com/{n}.png") for n in range(50)),
        links=tuple(
            PageLink(url=f"https://example.com/{n}", text="L", context="c" * 300)
            for n in range(900)
        ),
        code_blocks=tuple(CodeBlock(language="c", offset=n, length=1) for n in range(2)),
    )
    data = page_data(page, budget=2_000, boundary=boundary)
    assert estimate(json.dumps(data)) <= 2_600
    assert data["code_blocks"] == [
        {"language": "c", "offset": 0, "length": 1},
        {"language": "c", "offset": 1, "length": 1},
    ]
    assert 2 <= len(data["images"]) <= 50
    assert 2 <= len(data["links"]) < 200
    assert data["links"][1] == {"url": "https://example.com/1", "text": "L"}
    bare = page_data(page.model_copy(update={"images": (), "code_blocks": ()}), budget=2_000)
    assert len(bare["links"]) > len(data["links"])


def test_a_page_that_fits_its_budget_is_whole(make_page, boundary):
    page = make_page("Text.")
    data = page_data(page, budget=2_000, boundary=boundary)
    assert unfenced(data.pop("markdown_content")) == "Text."
    assert data.pop("notice")
    assert {**data, "markdown_content": "Text."} == page_data(page)


@given(JSON_VALUES)
def test_scrubbed_values_can_be_written_and_scrubbing_again_changes_nothing(value):
    clean = scrub(value)
    json.dumps(clean, ensure_ascii=False).encode()
    assert scrub(clean) == clean


def test_scrubbing_keeps_everything_else():
    value = {"k\ud800": ["a\udfffb", ("x", 1, None, 2.5, True)], "ok": {"é": "漢😀"}}
    assert scrub(value) == {"k\ufffd": ["a\ufffdb", ("x", 1, None, 2.5, True)], "ok": {"é": "漢😀"}}


@settings(max_examples=settings().max_examples // 4)
@given(st.lists(SURROGATES, min_size=4, max_size=4), st.integers(300, 2_000))
def test_a_rendered_answer_can_be_written_once_scrubbed(make_response, boundary, texts, budget):
    result = SearchResult(
        title=texts[0],
        url="https://a.example/",
        description=texts[1],
        score=1.0,
        content=PageContent(markdown=texts[2], word_count=1, fetch_time_ms=1, summary=texts[3]),
    )
    response = make_response(result)
    scrub(search_text(response, budget=budget, boundary=boundary)).encode()
    data = response_data(response, budget=budget, boundary=boundary)
    json.dumps(scrub(data), ensure_ascii=False).encode()


def test_the_fields_of_a_kind_are_there_with_a_budget_as_far_as_there_is_room(
    make_response, boundary
):
    code = Code(lines=((1, "x" * 300),) * 50)
    results = [
        SearchResult(title="V", url="https://v.example/", score=1, video=Video(length="3:46")),
        SearchResult(title="C", url="https://c.example/", score=1, code=code, published_text="now"),
        SearchResult(
            title="I", url="https://i.example/", score=1, image=Image(url="https://i.example/i.png")
        ),
    ]
    response = make_response(*results)

    video, lines, image = response_data(response)["results"]
    assert video["video"] == {"length": "3:46", "seconds": None, "views": "", "embed_url": None}
    assert len(lines["code"]["lines"]) == 50
    assert (lines["published_text"], "video" in lines) == ("now", False)

    video, lines, image = response_data(response, budget=6_000, boundary=boundary)["results"]
    assert video["video"] == {"length": "3:46"}
    assert len(lines["code"]["lines"]) == 20
    assert lines["published_text"] == "now"
    assert image["image"] == {"url": "https://i.example/i.png"}

    short = response_data(response, budget=600, boundary=boundary)["results"]
    assert [set(result) & {"video", "image", "published_text"} for result in short] == [
        {"video"},
        {"published_text"},
        {"image"},
    ]
    assert 1 <= len(short[1]["code"]["lines"]) < 10


def test_the_indentation_of_code_is_kept_in_both_channels(make_response, boundary):
    code = Code(lines=((10, "def f(x):"), (11, "    return x + 1")))
    result = SearchResult(title="C", url="https://c.example/", score=1, code=code)
    response = make_response(result)
    assert "\n10: def f(x):\n11:     return x + 1\n" in search_text(
        response, budget=600, boundary=boundary
    )
    data = response_data(response, budget=600, boundary=boundary)["results"][0]
    assert data["code"]["lines"] == [[10, "def f(x):"], [11, "    return x + 1"]]
