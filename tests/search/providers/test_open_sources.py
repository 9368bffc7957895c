"""The open sources answer a search."""

import asyncio
from dataclasses import replace

import pytest

from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.hits import Hit, Paper
from searx_mcp.models.request import Category
from searx_mcp.models.response import Coverage
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.providers.context import OPEN_SOURCES, SearchContext
from searx_mcp.search.providers.open_sources import RankedList, diversify, fuse, source_notes
from searx_mcp.sources.open.config import OpenSourcesConfig
from searx_mcp.sources.open.members import rate_limits
from searx_mcp.sources.open.route import Route
from searx_mcp.sources.open.table import engines_of
from searx_mcp.storage.state import Account, Window
from tests.doubles.raised import raised
from tests.doubles.simulated_sources import SourceBehaviour
from tests.doubles.virtual_time import in_virtual_time

GRACE = 0.7

PANDAS = [f"red panda {n}" for n in range(10)]
PAPERS = "red panda genome"
ENGINES = engines_of(OpenSourcesConfig())
OPENVERSE, COMMONS = ENGINES["openverse"], ENGINES["commons"]
MANY_PAPERS = [f"{PAPERS} {n}" for n in range(10)]


def titles(found) -> list[str]:
    return [hit.title for page in found.pages for hit in page.hits]


def missing(found) -> dict[str, str]:
    return {each.engine: each.reason for each in found.pages[0].unresponsive_engines}


def verdicts(found) -> dict[str, Verdict]:
    return {attempt.instance: attempt.verdict for attempt in found.attempts}


@in_virtual_time
async def test_engines_of_the_category_are_asked_side_by_side(collections, clock):
    world = collections(
        clock,
        openverse=PANDAS[:2],
        commons=PANDAS[2:4],
        internetarchive=SourceBehaviour(seconds=2.0, titles=PANDAS[4:6]),
    )
    found = await world.search("red panda", category="images")
    assert {"openverse", "commons"} <= set(world.asked())
    assert clock.elapsed == pytest.approx(2.0)
    assert set(titles(found)) == set(PANDAS[:6])
    assert (found.instance, found.coverage) == (OPEN_SOURCES, Coverage.COLLECTIONS)
    assert world.is_idle()


@in_virtual_time
async def test_what_has_nothing_to_do_with_the_query_is_dropped(collections, clock):
    world = collections(clock, openverse=["a tin whistle", "red panda"], commons=["a tin can"])
    found = await world.search("red panda", category="images")
    assert (titles(found), missing(found)["commons"]) == (["red panda"], "nothing relevant")
    assert verdicts(found)[world.engine("commons").address] is Verdict.IRRELEVANT
    assert verdicts(found)[world.engine("openverse").address] is Verdict.THIN


@in_virtual_time
async def test_nothing_to_be_found_is_an_answer(collections, clock):
    world = collections(clock)
    found = await world.search("red panda", category="images")
    assert titles(found) == []
    assert found.complete
    assert found.attribution == ()


@in_virtual_time
async def test_once_enough_is_in_the_others_have_a_moment_left(collections, clock):
    world = collections(
        clock,
        openverse=PANDAS[:6],
        commons=PANDAS[4:],
        internetarchive=SourceBehaviour(seconds=9.0, titles=["red panda archive"]),
    )
    found = await world.search("red panda", category="images")
    assert clock.elapsed <= 1.1
    assert len(titles(found)) == 12
    assert world.is_idle()


@pytest.mark.parametrize(
    ("slow", "found", "seconds", "ends", "detail"),
    [
        pytest.param("internetarchive", 5, 20, 0.3, "The other queries found enough.", id="enough"),
        pytest.param(
            "openverse", 5, 20, 0.3 + GRACE, "The other queries found enough.", id="grace"
        ),
        pytest.param("internetarchive", 4, 20, 9.0, "", id="one too few"),
        pytest.param("internetarchive", 4, 4, 4.0, "Too slow.", id="no time"),
    ],
)
@in_virtual_time
async def test_an_engine_that_was_given_up_is_told_why_and_not_held_against_it(
    collections, slow, found, seconds, ends, detail, clock
):
    said: list[str] = []
    quick = {"openverse", "commons", "internetarchive"} - {slow}
    one, other = sorted(quick)
    world = collections(
        clock, **{one: PANDAS[:5], other: PANDAS[:found]}, **{slow: SourceBehaviour(seconds=9.0)}
    )
    page = await world.provider.run(
        SearchContext(
            InstanceQuery(text="red panda", category="images"),
            wanted=10,
            deadline=seconds,
            progress=said.append,
        )
    )
    address = world.engine(slow).address
    (attempt,) = (each for each in page.attempts if each.instance == address)
    assert (attempt.detail, attempt.elapsed_ms) == (detail, pytest.approx(ends * 1_000))
    assert clock.elapsed == pytest.approx(ends)
    assert world.pool.record_of(address).failures == 0
    assert f"asking {world.engine(slow).title}" in said
    assert world.is_idle()


@pytest.mark.parametrize(
    ("titles_of", "coverage"),
    [
        ({"keenable": ["red panda"]}, Coverage.WEB),
        ({"keenable": ["red panda"], "wikipedia": ["red panda"]}, Coverage.MIXED),
        ({"wikipedia": ["red panda"]}, Coverage.COLLECTIONS),
    ],
)
@in_virtual_time
async def test_what_an_answer_covers_follows_from_who_gave_it(
    collections, titles_of, coverage, clock
):
    world = collections(clock, config=OpenSourcesConfig(keenable=True), **titles_of)
    assert (await world.search("red panda")).coverage is coverage


@in_virtual_time
async def test_an_engine_that_is_spent_is_passed_over_and_named(collections, clock):
    world = collections(clock, openverse=PANDAS, commons=PANDAS)
    for _ in range(world.engine("openverse").per_day):
        await world.search("red panda", category="images")
        clock.pass_by(60.0)
    before = world.asked().count("openverse")
    found = await world.search("red panda", category="images")
    assert before == world.engine("openverse").per_day
    assert world.asked().count("openverse") == before
    assert (missing(found)["openverse"], len(titles(found))) == ("budget", 10)


@in_virtual_time
async def test_a_search_waits_for_the_spacing_as_long_as_the_table_allows(collections, clock):
    world = collections(clock, musicbrainz=["red panda song"])
    await world.search("red panda song", category="music")
    began = clock.elapsed
    await world.search("red panda song", category="music")
    waited = world.asked().count("musicbrainz")
    clock.pass_by(60)
    assert waited == 2
    assert 0.5 < clock.elapsed - 60 - began < 3


@in_virtual_time
async def test_two_engines_of_one_operator_share_its_limits(collections, clock):
    world = collections(clock, wikipedia=PANDAS, commons=PANDAS)
    for _ in range(3):
        await world.search("red panda", category="general", engines=("wikipedia",))
    found = await world.search("red panda", category="images")
    assert missing(found)["commons"] == "budget"


@in_virtual_time
async def test_no_engine_has_more_requests_under_way_than_its_operator_allows(collections, clock):
    world = collections(
        clock,
        config=OpenSourcesConfig(contact="me@example.org"),
        wikipedia=SourceBehaviour(seconds=3.0, titles=PANDAS),
    )
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(world.search("red panda", engines=("wikipedia",)))
        for _ in range(3):
            group.create_task(world.search("red panda", category="images"))
    assert world.upstream.most["wikipedia"] == 3
    assert world.is_idle()


@in_virtual_time
async def test_an_engine_that_limits_us_is_left_alone(collections, clock):
    limit = SourceBehaviour(verdict=Verdict.RATE_LIMITED, pause=300.0, detail="Slower.")
    world = collections(clock, openverse=limit, commons=PANDAS)
    first = await world.search("red panda", category="images")
    clock.pass_by(60)
    second = await world.search("red panda", category="images")
    assert missing(first)["openverse"] == "rate limited"
    assert missing(second)["openverse"] == "in cooldown"
    clock.pass_by(400)
    await world.search("red panda", category="images")
    assert world.asked().count("openverse") == 2


@in_virtual_time
async def test_one_whose_silence_means_load_rests_after_it(collections, clock):
    world = collections(
        clock,
        config=OpenSourcesConfig(gdelt=True),
        gdelt=SourceBehaviour(seconds=13.0),
        hackernews=PANDAS,
    )
    for wait in (60, 700, 300):
        found = await world.search("red panda", category="news", time_range="week")
        assert "gdelt" in missing(found)
        clock.pass_by(wait)
    assert world.asked().count("gdelt") == 1
    await world.search("red panda", category="news", time_range="week")
    assert world.asked().count("gdelt") == 2


@in_virtual_time
async def test_an_engine_that_answers_and_asks_for_a_pause_has_it(collections, clock):
    world = collections(
        clock, openverse=SourceBehaviour(titles=PANDAS, pause=300.0), commons=PANDAS
    )
    first = await world.search("red panda", category="images")
    clock.pass_by(60)
    second = await world.search("red panda", category="images")
    assert "openverse" not in missing(first)
    assert missing(second)["openverse"] == "in cooldown"


@in_virtual_time
async def test_when_nobody_answers_the_error_says_so_and_when_to_come_back(collections, clock):
    limit = SourceBehaviour(verdict=Verdict.RATE_LIMITED, pause=300.0)
    world = collections(clock, openverse=limit, commons=limit, internetarchive=limit)
    error = await raised(NoInstancesError, world.search("red panda", category="images"))
    assert error.reason is UnavailableReason.EXHAUSTED
    assert error.retry_after == pytest.approx(315, abs=15)
    assert len(error.attempts) >= 2
    assert "openverse: rate limited" in error.message


@in_virtual_time
async def test_a_network_that_is_down_is_held_against_nobody(collections, clock):
    down = SourceBehaviour(verdict=Verdict.DNS)
    world = collections(clock, openverse=down, commons=down, internetarchive=down)
    error = await raised(
        NoInstancesError,
        world.search("red panda", category="images"),
        "this machine seems to be offline",
    )
    assert (error.reason, error.retry_after) == (UnavailableReason.OFFLINE, 30.0)
    assert world.pool.learned_since(0) == {}
    assert world.is_idle()


@pytest.mark.parametrize("answering", [Verdict.SERVER_ERROR, Verdict.MALFORMED])
@in_virtual_time
async def test_a_network_that_reaches_anybody_is_not_down(collections, answering, clock):
    down = SourceBehaviour(verdict=Verdict.DNS)
    broken = SourceBehaviour(verdict=answering)
    world = collections(clock, openverse=down, commons=broken, internetarchive=down)
    error = await raised(
        NoInstancesError,
        world.search("red panda", category="images"),
        "No open source could answer",
    )
    assert error.reason is UnavailableReason.EXHAUSTED


@in_virtual_time
async def test_one_that_alone_cannot_be_reached_is_left_alone(collections, clock):
    world = collections(clock, openverse=SourceBehaviour(verdict=Verdict.DNS), commons=PANDAS)
    await world.search("red panda", category="images")
    assert not world.pool.may_ask(world.engine("openverse").address, clock())


@pytest.mark.parametrize("part", ["asking", "judging"])
@in_virtual_time
async def test_a_mistake_of_ours_costs_one_engine(collections, caplog, part, clock):
    def fail(*_):
        raise ZeroDivisionError

    def gate(hits, question, engine):
        return fail() if part == "judging" and engine.name == "commons" else tuple(hits)

    world = collections(clock, openverse=PANDAS[:2], commons=PANDAS[2:])
    if part == "asking":
        world.engines = {**world.engines, "commons": replace(world.engine("commons"), ask=fail)}
    world.provider = world.over(world.state, gate=gate)
    found = await world.search("red panda", category="images")
    assert (titles(found), missing(found)["commons"]) == (PANDAS[:2], "could not be processed")
    assert world.is_idle()
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [
        ZeroDivisionError
    ]


@in_virtual_time
async def test_further_pages_are_asked_while_too_few_hits_have_come(collections, clock):
    world = collections(
        clock, europepmc=[], crossref=SourceBehaviour(titles=[PAPERS], has_next=True)
    )
    found = await world.search(PAPERS, category="science", wanted=30)
    pages = [query.page for name, query in world.upstream.asked if name == "crossref"]
    assert pages == [1, 2]
    assert titles(found) == [PAPERS]


@in_virtual_time
async def test_a_later_page_is_asked_of_those_that_have_one(collections, clock):
    world = collections(clock, crossref=SourceBehaviour(titles=[PAPERS]), europepmc=[PAPERS])
    found = await world.search(PAPERS, category="science", page=3)
    pages = {name: query.page for name, query in world.upstream.asked}
    assert pages["crossref"] == 3
    assert "europepmc" not in pages
    assert missing(found)["europepmc"] == "has one page"
    error = await raised(
        NoInstancesError, world.search(PAPERS, category="science", page=2, engines=("europepmc",))
    )
    assert "europepmc: has one page" in error.message
    assert error.retry_after is None


@pytest.mark.parametrize(
    ("crossref", "europepmc", "wanted"),
    [
        pytest.param([PAPERS, "tin cans", "tin whistles"], [], 30, id="little that is relevant"),
        pytest.param([PAPERS], [], 10, id="ten are wanted"),
        pytest.param(MANY_PAPERS, MANY_PAPERS, 10, id="enough has come"),
    ],
)
@in_virtual_time
async def test_one_page_is_asked_where_a_second_is_of_no_use(
    collections, crossref, europepmc, wanted, clock
):
    world = collections(
        clock, crossref=SourceBehaviour(titles=crossref, has_next=True), europepmc=europepmc
    )
    await world.search(PAPERS, category="science", wanted=wanted)
    assert {query.page for _, query in world.upstream.asked} == {1}


@in_virtual_time
async def test_all_of_it_ends_by_the_deadline(collections, clock):
    slow = SourceBehaviour(seconds=60.0)
    world = collections(clock, openverse=slow, commons=slow, internetarchive=slow)
    await raised(NoInstancesError, world.search("red panda", category="images", seconds=1.5))
    assert clock.elapsed <= 1.5
    assert world.is_idle()


@in_virtual_time
async def test_a_search_that_is_given_up_leaves_nothing_behind(collections, clock):
    world = collections(
        clock, openverse=SourceBehaviour(seconds=5.0), commons=SourceBehaviour(seconds=5.0)
    )
    task = asyncio.ensure_future(world.search("red panda", category="images"))
    await asyncio.sleep(1.0)
    task.cancel()
    await raised(asyncio.CancelledError, task)
    assert world.is_idle()
    assert world.engine("openverse").address not in world.pool.learned_since(0)


@pytest.mark.parametrize("category", ["weather", "currency"])
@in_virtual_time
async def test_what_no_collection_has_is_not_asked_for(collections, category, clock):
    world = collections(clock)
    await raised(
        NoInstancesError, world.search("red panda", category=category), "No open source suits"
    )
    assert world.asked() == []


@in_virtual_time
async def test_a_query_that_looks_like_a_secret_leaves_this_machine_for_nobody(collections, clock):
    world = collections(clock)
    await raised(NoInstancesError, world.search("ghp_0123456789abcdefghijABCDEFGHIJ012345"))
    assert world.asked() == []


@pytest.mark.parametrize(("given", "other"), [("wikipedia", "commons"), ("commons", "wikipedia")])
@in_virtual_time
async def test_licences_of_what_is_given_are_told(collections, clock, given, other):
    world = collections(clock, **{given: ["red panda"], other: []})
    found = await world.search("red panda pictures")
    assert found.attribution == (world.engine(given).licence,)


@in_virtual_time
async def test_filters_that_cannot_be_kept_are_told(collections, clock):
    world = collections(clock, openverse=PANDAS[:3], commons=PANDAS[3:5])
    found = await world.search("red panda", category="images", time_range="week", language="de")
    text = " ".join(found.remarks)
    assert "Not limited to the last week, which they cannot filter by: Openverse" in text
    assert "Not filtered for explicit results: Wikimedia Commons." in text
    assert "Results in any language: Openverse" in text


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        pytest.param("The Who", "The Who", id="a short one as it stands"),
        pytest.param(
            'how do I bake a "sour dough" bread at home without yeast',
            'bake "sour dough" bread home yeast',
            id="a long one without its frame",
        ),
    ],
)
@in_virtual_time
async def test_an_engine_that_wants_every_word_is_not_asked_for_those_of_the_frame(
    collections, text, asked, clock
):
    world = collections(clock, config=OpenSourcesConfig(keenable=True))
    await world.search(text)
    texts = {name: query.text for name, query in world.upstream.asked}
    assert (texts["wikipedia"], texts["keenable"]) == (asked, text)


@pytest.mark.parametrize(
    ("category", "cut", "whole"),
    [("images", "openverse", None), ("science", "europepmc", "crossref")],
)
@in_virtual_time
async def test_only_the_keywords_of_a_long_question_go_to_those_that_demand_them_all(
    collections, category, cut, whole, clock
):
    text = "annual migration routes breeding grounds winter plumage diet lifespan arctic tern gene"
    world = collections(clock)
    await world.search(text, category=category)
    asked = dict(world.upstream.asked)
    assert len(asked[cut].text.split()) <= 6
    assert asked[cut].text == " ".join(asked[cut].keywords)
    if whole:
        assert asked[whole].text == text


@in_virtual_time
async def test_a_refusal_of_our_own_request_teaches_nothing(collections, clock):
    mistaken = SourceBehaviour(verdict=Verdict.REFUSED, ours=True, detail="Too long.")
    world = collections(clock, openverse=mistaken, commons=PANDAS)
    for _ in range(5):
        found = await world.search("red panda", category="images")
        assert missing(found)["openverse"] == "refused"
        clock.pass_by(60)
    assert world.asked().count("openverse") == 5
    assert world.pool.record_of(world.engine("openverse").address).failures == 0


@pytest.mark.parametrize(("loaded", "answers"), [(1, True), (2, False)])
@in_virtual_time
async def test_an_engine_under_load_is_asked_once_more_and_charged_for_it(
    collections, loaded, answers, clock
):
    world = collections(
        clock, musicbrainz=SourceBehaviour(titles=PANDAS, loaded=loaded, seconds=0.05)
    )
    found = await world.search("red panda", category="music")
    engine = world.engine("musicbrainz")
    assert world.asked().count("musicbrainz") == 2
    assert ("musicbrainz" not in missing(found)) is answers
    day = Account(engine.address, rate_limits(engine, has_contact=False).windows[1:])
    (budget,) = await world.state.budgets([day], clock())
    assert budget.left == engine.per_day - 2
    assert world.pool.record_of(engine.address).failures == (0 if answers else 1)
    assert world.is_idle()


@in_virtual_time
async def test_the_contact_is_handed_on(collections, clock):
    world = collections(clock, config=OpenSourcesConfig(contact="me@example.org"))
    await world.search(PAPERS, category="science")
    assert {query.contact for _, query in world.upstream.asked} == {"me@example.org"}


@pytest.mark.parametrize(
    ("fields", "category", "used", "expected"),
    [
        ({}, "images", [], []),
        ({"language": "en-GB"}, "images", [OPENVERSE], []),
        ({"language": "all"}, "images", [OPENVERSE], []),
        ({"language": "de-AT"}, "images", [OPENVERSE], ["Results in any language: Openverse."]),
        (
            {"time_range": "month"},
            "images",
            [OPENVERSE],
            ["Not limited to the last month, which they cannot filter by: Openverse."],
        ),
        ({"time_range": ""}, "images", [OPENVERSE], []),
        (
            {"safe_search": 1},
            "images",
            [OPENVERSE, COMMONS],
            ["Not filtered for explicit results: Wikimedia Commons."],
        ),
        ({"safe_search": 0}, "images", [COMMONS], []),
        ({"safe_search": 2}, "science", [COMMONS], []),
    ],
)
def test_only_filters_that_could_not_be_kept_are_told(fields, category, used, expected):
    query = InstanceQuery(**{"text": "red panda", "language": "en", "safe_search": 0, **fields})
    chosen = Route(choices=(), category=Category(category), why="for a test")
    assert source_notes(query, chosen, asked=[], used=used) == tuple(expected)
    first, *others = source_notes(query, chosen, asked=[COMMONS, OPENVERSE], used=used)
    assert first == "Open sources asked: Wikimedia Commons, Openverse (for a test)."
    assert others == expected


PACED = replace(OPENVERSE, gap=2.0, gap_without_contact=None, burst=3, per_day=50, bucket="")


@pytest.mark.parametrize(
    ("gap_without_contact", "has_contact", "seconds"),
    [
        (None, True, 6.0),
        (None, False, 6.0),
        (5.0, True, 6.0),
        (5.0, False, 15.0),
        (0.0, False, 0.0),
    ],
)
def test_so_many_at_once_keep_the_gap_between_them_on_average(
    gap_without_contact, has_contact, seconds
):
    engine = replace(PACED, gap_without_contact=gap_without_contact)
    account = rate_limits(engine, has_contact=has_contact)
    assert account == Account(engine.address, (Window(3, seconds), Window(50, 86_400.0)))
    assert rate_limits(replace(engine, bucket="b"), has_contact=has_contact).name == "b"


def hit(name: str, *engines: str, url: str = "", **fields) -> Hit:
    return Hit(
        url=url or f"https://{name}.example/", title=name, position=9, engines=engines, **fields
    )


def ranked(*names: str, engine: str, weight: float = 1.0) -> RankedList:
    return RankedList([hit(name, engine) for name in names], weight)


def spelled(hits) -> str:
    assert [each.position for each in hits] == [*range(1, len(hits) + 1)]
    return " ".join(each.title for each in hits)


JOURNAL = "https://journal.example/x"
DOI = Paper(doi="10.1000/Example")


@pytest.mark.parametrize(
    ("lists", "fused"),
    [
        pytest.param([], "", id="nothing"),
        pytest.param([RankedList([])], "", id="an empty list"),
        pytest.param(
            [ranked("a", "b", engine="github"), ranked("c", "b", engine="arxiv")],
            "b a c",
            id="what two collections found comes first",
        ),
        pytest.param(
            [ranked("a", engine="github", weight=0.5), ranked("b", engine="arxiv", weight=0.9)],
            "b a",
            id="a heavier vote counts more",
        ),
        pytest.param(
            [ranked("a", "b", engine="github"), ranked("c", "d", engine="arxiv")],
            "a c b d",
            id="lists of equal weight take turns",
        ),
        *(
            pytest.param(
                [RankedList([hit("a", inside), hit("b", "bing", "brave")]), ranked("a", engine=outside)],
                "b a",
                id=f"{outside}, asked directly and through an instance, has one vote",
            )
            for inside, outside in [
                ("wikipedia", "wikipedia"),
                ("stackoverflow", "stackexchange"),
                ("wikicommons.images", "commons"),
            ]
        ),
        pytest.param(
            [
                RankedList([hit("x", "bing"), hit("a", "wikipedia")]),
                ranked("a", engine="wikipedia"),
                RankedList([hit("y", "github"), hit("z", "arxiv"), hit("a", "wikipedia")]),
            ],
            "x a y z",
            id="the best place of a collection is its vote",
        ),
        pytest.param(
            [RankedList([hit("b", "bing")]), RankedList([hit("a")]), RankedList([hit("a")])],
            "a b",
            id="an instance that names no engine votes itself",
        ),
        pytest.param(
            [
                RankedList([hit("a", "bing", url=JOURNAL)]),
                RankedList([hit("a", "crossref", url=JOURNAL, paper=DOI)]),
            ],
            "a",
            id="a row that joins known ones by address and by identity counts once",
        ),
    ],
)  # fmt: skip
def test_lists_of_different_origin_become_one(lists, fused):
    assert spelled(fuse(lists)) == fused


def test_one_work_with_two_addresses_is_one_hit():
    journal = hit("a", "bing", url=JOURNAL, paper=DOI)
    record = hit("a longer title", "crossref", url="https://doi.org/10.1000/example")
    (fused,) = fuse([RankedList([journal]), RankedList([record])])
    assert (fused.url, fused.title) == (JOURNAL, "a longer title")
    assert fused.engines == ("bing", "crossref")


@pytest.mark.parametrize(
    ("hits", "spaced"),
    [
        ([], ""),
        (
            [hit(f"w{n}", "wikipedia") for n in range(9)] + [hit(f"g{n}", "github") for n in range(4)],
            "w0 w1 w2 g0 g1 g2 w3 w4 w5 w6 w7 w8 g3",
        ),
        (
            [hit(f"w{n}", "wikipedia") for n in range(4)] + [hit("both", "wikipedia", "github")],
            "w0 w1 w2 both w3",
        ),
        ([hit("unnamed"), hit("w0", "wikipedia")], "unnamed w0"),
        (
            [hit(f"w{n}", "wikipedia") for n in range(4)] + [hit(name, name) for name in "abcdefg"],
            "w0 w1 w2 a b c d e w3 f g",
        ),
    ],
    ids=[
        "nothing",
        "one collection does not fill the head",
        "what another found as well",
        "what names no collection",
        "below the head nothing moves",
    ],
)  # fmt: skip
def test_the_head_of_a_list_has_hits_of_several_collections(hits, spaced):
    assert spelled(diversify(hits)) == spaced
