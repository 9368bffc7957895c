"""What the pages that were read make of a list of results."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.outline import headings
from searx_mcp.content.quality import Quality
from searx_mcp.errors import ErrorCode
from searx_mcp.models.page import Page
from searx_mcp.models.response import DroppedPage, PageContent, Poor, SearchResult
from searx_mcp.search.config import QualityConfig
from searx_mcp.search.judging import (
    DEMOTED,
    PREFERRED,
    PageAssessment,
    assess_page,
    preference,
    rerank,
)

USUAL = 0.6
QUIET = QualityConfig(prefer_named_sites=False, preferred_domains=())


def listed(count: int, *, unread: tuple[int, ...] = ()) -> list[SearchResult]:
    return [
        SearchResult(
            title=f"Title {n}",
            url=f"https://{n}.example/",
            score=1 - n / 100,
            content=None
            if n in unread
            else PageContent(markdown=f"text {n}", word_count=2, fetch_time_ms=1),
        )
        for n in range(1, count + 1)
    ]


def judged(
    results: list[SearchResult],
    worth: dict[int, float | Poor],
    config: QualityConfig = QUIET,
    sketches: dict[int, tuple[int, ...]] | None = None,
):
    assessments = {}
    for n, result in enumerate(results, start=1):
        if result.content is not None:
            value = worth.get(n, USUAL)
            quality = Quality(0.0, value) if isinstance(value, Poor) else Quality(value)
            assessments[result.url] = PageAssessment(quality, (sketches or {}).get(n, ()))
    return rerank(results, assessments, query="", config=config)


def order(judgement) -> list[int]:
    return [int(result.title.split()[1]) for result in judgement.results]


@pytest.mark.parametrize(
    ("worth", "expected"),
    [
        pytest.param({}, [1, 2, 3, 4, 5, 6], id="nothing moves by itself"),
        pytest.param({1: 0.55, 2: 0.74}, [1, 2, 3, 4, 5, 6], id="a small difference"),
        pytest.param({1: 0.5, 2: 0.72}, [2, 1, 3, 4, 5, 6], id="a clear one"),
        pytest.param({6: 1.0}, [1, 2, 3, 4, 6, 5], id="one place for the best"),
        pytest.param({1: 0.0}, [2, 3, 1, 4, 5, 6], id="two places for the worst"),
    ],
)
def test_results_move_by_their_quality(worth, expected):
    assert order(judged(listed(6), worth)) == expected


def test_results_that_were_not_read_keep_their_order_and_count_as_usual():
    results = listed(6, unread=(2, 4, 6))
    moved = order(judged(results, {1: 0.1, 3: 0.9, 5: 0.9}))
    assert [n for n in moved if n in {2, 4, 6}] == [2, 4, 6]
    assert moved == [3, 2, 1, 5, 4, 6]


def test_scores_follow_the_new_places():
    before, after = judged(listed(4), {}), judged(listed(4), {1: 0.0})
    assert [r.score for r in before.results] == [r.score for r in after.results]
    assert after.results[0].score == 1


def test_without_reranking_order_and_scores_stay():
    results = listed(4)
    still = judged(results, {1: 0.0, 4: 1.0}, QUIET.model_copy(update={"rerank": False}))
    assert order(still) == [1, 2, 3, 4]
    assert [r.score for r in still.results] == [r.score for r in results]


@pytest.mark.parametrize("wall", [Poor.LOGIN, Poor.PAYWALL, Poor.SCRIPT, Poor.CONSENT])
def test_a_wall_is_left_out_and_its_result_stays(wall: Poor):
    judgement = judged(listed(2), {1: wall})
    assert {r.url: r.content is None for r in judgement.results} == {
        "https://1.example/": True,
        "https://2.example/": False,
    }
    assert judgement.dropped == (DroppedPage(url="https://1.example/", reason=wall),)
    (walled,) = (result for result in judgement.results if result.content is None)
    assert walled.error_type in set(ErrorCode)
    assert walled.error_details.endswith(".")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param(ErrorCode.BLOCKED_BY_SITE, [2, 3, 4, 1], id="refused"),
        pytest.param(ErrorCode.AUTHENTICATION_REQUIRED, [2, 3, 4, 1], id="a login"),
        pytest.param(ErrorCode.EXTRACTION_FAILED, [2, 3, 4, 1], id="nothing but scripts"),
        pytest.param(ErrorCode.NOT_FOUND, [1, 2, 3, 4], id="gone"),
        pytest.param(ErrorCode.TIMEOUT, [1, 2, 3, 4], id="too slow this time"),
        pytest.param(ErrorCode.HTTP_ERROR, [1, 2, 3, 4], id="failed this time"),
        pytest.param(ErrorCode.ROBOTS_DISALLOWED, [1, 2, 3, 4], id="not for programs"),
        pytest.param(ErrorCode.UNSUPPORTED_CONTENT_TYPE, [1, 2, 3, 4], id="a film"),
    ],
)
def test_a_wall_comes_after_what_can_be_read_and_other_failures_keep_their_place(
    code: ErrorCode, expected
):
    results = listed(4, unread=(1, 3))
    results[0] = results[0].model_copy(update={"error_type": code})
    assert order(judged(results, {})) == expected
    still = QUIET.model_copy(update={"rerank": False})
    assert order(judged(results, {}, still)) == [1, 2, 3, 4]


def test_walls_keep_their_order_where_no_page_was_read():
    results = listed(3, unread=(1, 2, 3))
    results[0] = results[0].model_copy(update={"error_type": ErrorCode.BLOCKED_BY_SITE})
    assert order(judged(results, {})) == [1, 2, 3]


@pytest.mark.parametrize("wall", [Poor.LOGIN, Poor.SCRIPT])
def test_a_page_that_turns_out_to_be_a_wall_goes_down_too(wall: Poor):
    judgement = judged(listed(3), {1: wall})
    assert order(judgement) == [2, 3, 1]
    assert [result.score for result in judgement.results] == [
        result.score for result in judged(listed(3), {}).results
    ]


@pytest.mark.parametrize("poor", [Poor.EMPTY, Poor.SPAM, Poor.PARKED, Poor.ERROR])
def test_what_is_doubtful_goes_with_its_result_where_three_good_pages_stay(poor: Poor):
    judgement = judged(listed(4), {2: poor})
    assert order(judgement) == [1, 3, 4]
    assert judgement.dropped == (
        DroppedPage(url="https://2.example/", reason=poor, result_dropped=True),
    )
    few = judged(listed(3), {2: poor})
    assert sorted(order(few)) == [1, 2, 3]
    assert not few.dropped
    assert all(result.content for result in few.results)


def test_nothing_is_dropped_where_that_is_switched_off():
    config = QUIET.model_copy(update={"drop_poor": False})
    judgement = judged(listed(5), {1: Poor.LOGIN, 2: Poor.SPAM}, config)
    assert len(judgement.results) == 5
    assert all(result.content for result in judgement.results)


ONE, TWO = tuple(range(128)), tuple(range(1_000, 1_128))


def test_copies_name_the_first_result_of_their_text():
    judgement = judged(listed(4), {}, sketches={1: ONE, 2: TWO, 3: ONE, 4: TWO})
    first, second, third, fourth = judgement.results
    assert first.content is not None
    assert second.content is not None
    assert (third.content, third.duplicate_of) == (None, first.url)
    assert (fourth.content, fourth.duplicate_of) == (None, second.url)
    assert judgement.duplicates == 2


@pytest.mark.parametrize(
    ("addresses", "worth", "groups", "copies"),
    [
        pytest.param([1, 2], {1: 0.3, 2: 0.9}, True, {1: 2}, id="the better one stands for both"),
        pytest.param([1, 2], {1: Poor.LOGIN}, True, {}, id="a wall stands for none"),
        pytest.param([1, 2], {}, False, {}, id="switched off"),
        pytest.param([1, 1], {}, True, {}, id="several rows of one page"),
    ],
)
def test_what_is_a_copy_of_what(addresses, worth, groups, copies):
    one, two = listed(2)
    rows = [{1: one, 2: two}[address] for address in addresses]
    config = QUIET.model_copy(update={"group_duplicates": groups})
    judgement = judged(rows, worth, config, sketches={1: ONE, 2: ONE})
    found = {r.url: r.duplicate_of for r in judgement.results if r.duplicate_of}
    assert found == {f"https://{a}.example/": f"https://{b}.example/" for a, b in copies.items()}
    assert sum(r.content is None for r in judgement.results) == len(copies) + (
        Poor.LOGIN in worth.values()
    )


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 1), st.sampled_from(Poor)), max_size=20),
    st.floats(0, 1),
)
def test_no_result_is_lost_without_a_word(worth, strength):
    unread = tuple(n for n, value in enumerate(worth, start=1) if value is None)
    results = listed(len(worth), unread=unread)
    values = {n: value for n, value in enumerate(worth, start=1) if value is not None}
    config = QUIET.model_copy(update={"strength": strength})
    judgement = judged(results, values, config)
    gone = {page.url for page in judgement.dropped if page.result_dropped}
    assert {r.url for r in judgement.results} | gone == {r.url for r in results}
    assert [r.score for r in judgement.results] == sorted(
        (r.score for r in judgement.results), reverse=True
    )
    assert judged(results, values, config) == judgement


@pytest.mark.parametrize(
    ("query", "is_answered"),
    [
        ("how do bees tell others the direction", True),
        ("bees direction 2026 site:bees.example -wasps filetype:html", True),
        ("how do bees sleep in 300 days", False),
        ("price of a heat pump", False),
    ],
)
def test_a_page_supports_a_query_but_for_its_operators_and_years(query, is_answered):
    markdown = "Bees live in hives.\n\nTheir dance tells the others the direction of a flower.\n"
    page = page_of(markdown)
    assert assess_page(page, query=query, config=QUIET).answered is None
    judged = assess_page(page, query=query, config=QUIET, is_room_short=True)
    assert judged.answered is is_answered


def page_of(markdown: str) -> Page:
    return Page(
        url="https://a.example/",
        final_url="https://a.example/",
        title="Bees",
        content_type="text/html",
        content_length=1,
        status_code=200,
        response_time_ms=1,
        markdown_content=markdown,
        word_count=1,
        outline=headings(markdown),
    )


def test_a_page_has_its_passages_those_that_fit_the_query_first():
    sections = [f"## Part {n}\n\n{'Bees live in hives. ' * 30}\n\n" for n in range(9)]
    sections[6] += "Their dance tells the others the direction.\n\n"
    sections[7] += "```\n" + "code of the dance\n" * 200 + "```\n"
    markdown = "".join(sections)
    page = page_of(markdown)
    passages = assess_page(page, query="direction of a dance", config=QUIET).passages
    assert "tells the others the direction" in passages[0].text
    assert passages[0].path == ("Part 6",)
    assert "".join(p.text for p in sorted(passages, key=lambda p: p.offset)) == markdown
    assert any(passage.head == "```\n" for passage in passages)
    assert assess_page(page, query="zebra", config=QUIET).passages == ()
    for query, offset in (("direction of bees", 0), ("direction of wasps", passages[0].offset)):
        assert assess_page(page, query=query, config=QUIET).passages[0].offset == offset, query


USUAL_RULES = QualityConfig()
OWN_RULES = QualityConfig(
    preferred_domains=("example.org", "wiki.*", "*/handbook/*"),
    demoted_domains=("bad.example.org",),
)


@pytest.mark.parametrize(
    ("rules", "url", "worth"),
    [
        (USUAL_RULES, "https://docs.python.example/3/", PREFERRED),
        (USUAL_RULES, "https://sphinx.readthedocs.io/en/master/", PREFERRED),
        (USUAL_RULES, "https://developer.mozilla.org/en-US/docs/Web", PREFERRED),
        (USUAL_RULES, "https://www.rfc-editor.org/rfc/rfc9309", PREFERRED),
        (USUAL_RULES, "https://html.spec.whatwg.org/multipage/", PREFERRED),
        (USUAL_RULES, "https://www.gov.uk/pay", PREFERRED),
        (USUAL_RULES, "https://www.nist.gov/", PREFERRED),
        (USUAL_RULES, "https://health.gov.au/", PREFERRED),
        (USUAL_RULES, "https://cs.example.edu/notes", PREFERRED),
        (USUAL_RULES, "https://www.cam.ac.uk/", PREFERRED),
        (USUAL_RULES, "https://example.com/docs/start", PREFERRED),
        (USUAL_RULES, "https://example.com/", 0),
        (USUAL_RULES, "https://mydocs.example/", 0),
        (USUAL_RULES, "https://gov.example.com/", 0),
        (USUAL_RULES, "https://notw3.org/", 0),
        (USUAL_RULES, "https://example.com/docs", 0),
        (USUAL_RULES, "not an address", 0),
        (OWN_RULES, "https://example.org/", PREFERRED),
        (OWN_RULES, "https://www.example.org/", PREFERRED),
        (OWN_RULES, "https://a.b.example.org/", PREFERRED),
        (OWN_RULES, "https://wiki.example.com/", PREFERRED),
        (OWN_RULES, "https://example.com/the/Handbook/1", PREFERRED),
        (OWN_RULES, "https://bad.example.org/", DEMOTED),
        (OWN_RULES, "https://docs.example.com/", 0),
    ],
)
def test_the_operator_or_else_documentation_standards_and_official_sites_are_preferred(
    rules, url, worth
):
    assert preference(url, "", rules) == worth


@pytest.mark.parametrize(
    ("url", "query", "is_named"),
    [
        ("https://tokio.example/tutorial", "tokio runtime", True),
        ("https://www.tokio.example/", "Tokio", True),
        ("https://tokio.co.uk/", "tokio", True),
        ("https://blog.example/tokio", "tokio", False),
        ("https://tokiofans.example/", "tokio", False),
        ("https://go.example/", "go maps", False),
    ],
)
def test_a_site_that_the_question_names_is_preferred(url, query, is_named):
    assert preference(url, query, QualityConfig()) == (PREFERRED if is_named else 0)
    assert preference(url, query, QualityConfig(prefer_named_sites=False)) == 0
