"""Duplicates, order, domain filters and preferred sites."""

from dataclasses import replace

import pytest

from searx_mcp.models.hits import (
    TEMPLATE_FIELDS,
    Fact,
    Hit,
    Image,
    ResultPage,
    Torrent,
    UnresponsiveEngine,
    Video,
)
from searx_mcp.search.config import QualityConfig
from searx_mcp.search.merge import canonical_key, fuse, keep_domains, merge, preference

DEMOTED = -0.6
PREFERRED = 0.3


def hit(url: str, position: int = 1, **fields) -> Hit:
    return Hit(**{"url": url, "title": "T", "position": position, **fields})


SAME = "https://example.org/a?id=1"


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        ("http://example.org/a?id=1", True),
        ("https://www.example.org/a?id=1", True),
        ("https://EXAMPLE.org/a?id=1", True),
        ("https://example.org:443/a?id=1", True),
        ("https://example.org/a/?id=1", True),
        ("https://example.org/a?id=1#part", True),
        ("https://example.org/a?id=1&utm_source=x&utm_medium=y", True),
        ("https://example.org/a?fbclid=z&id=1", True),
        ("https://example.org./a?id=1", True),
        ("https://example.org/a?id=2", False),
        ("https://example.org/a", False),
        ("https://example.org/A?id=1", False),
        ("https://sub.example.org/a?id=1", False),
        ("https://example.org:8443/a?id=1", False),
        ("https://example.org/a?id=1#!/view", False),
        ("https://example.org/a?id=1&page=2", False),
    ],
)
def test_spellings_of_one_page_share_a_key_and_different_pages_do_not(other, is_same):
    assert (canonical_key(other) == canonical_key(SAME)) is is_same


def test_unicode_and_punycode_hosts_share_a_key():
    assert canonical_key("https://bücher.example/") == canonical_key(
        "https://xn--bcher-kva.example"
    )


def test_a_query_of_many_fields_is_compared_as_it_is() -> None:
    few, many = ("&".join(["utm_a=1"] * count) for count in (63, 64))
    assert canonical_key(f"{SAME}&{few}") == canonical_key(SAME)
    assert canonical_key(f"{SAME}&{many}").endswith(f"{many}#")


@pytest.mark.parametrize("url", ["http://[::1", "http://a:99999/", "not a url", ""])
def test_what_is_no_url_is_its_own_key(url):
    assert isinstance(canonical_key(url), str)


def test_the_order_of_the_instance_stays_and_the_first_row_scores_one():
    rows = merge([ResultPage(hits=tuple(hit(f"https://e.org/{n}", n) for n in range(1, 5)))])
    assert [row.url[-1] for row in rows] == ["1", "2", "3", "4"]
    scores = [row.score for row in rows]
    assert (scores[0], scores, len(set(scores))) == (1, sorted(scores, reverse=True), 4)


def test_a_duplicate_keeps_the_first_place_the_longest_texts_https_and_all_engines():
    first = hit("http://www.example.org/a", title="Short", engines=("bing",), description="some")
    between = hit("https://example.org/b", 2)
    again = hit(
        "https://example.org/a/",
        3,
        title="A longer title",
        engines=("bing", "brave"),
        description="s",
        published_at="2026-01-01",
        thumbnail="https://example.org/t.png",
    )
    rows = merge([ResultPage(hits=(first, between, again))])
    assert [row.url for row in rows] == ["https://example.org/a/", "https://example.org/b"]
    assert (rows[0].title, rows[0].description) == ("A longer title", "some")
    assert (rows[0].engines, rows[0].engine) == (("bing", "brave"), "bing")
    assert (rows[0].published_at, rows[0].thumbnail) == ("2026-01-01", "https://example.org/t.png")


def test_pages_follow_each_other_and_duplicates_across_them_are_dropped():
    first = ResultPage(hits=(hit("https://e.org/1"), hit("https://e.org/2", 2)))
    second = ResultPage(hits=(hit("https://e.org/2"), hit("https://e.org/3", 2)))
    assert [row.url[-1] for row in merge([first, second])] == ["1", "2", "3"]
    assert merge([ResultPage()]) == ()


def test_images_are_told_apart_by_the_image_and_not_by_the_page():
    one = hit("https://e.org/p", image=Image(url="https://e.org/1.png"))
    two = hit("https://e.org/p", 2, image=Image(url="https://e.org/2.png"))
    again = hit("https://e.org/q", 3, image=Image(url="https://e.org/1.png"))
    assert len(merge([ResultPage(hits=(one, two, again))])) == 2


def test_the_fields_of_its_template_stay_with_a_row():
    facts = (Fact(label="a", value="b"),)
    rows = merge(
        [
            ResultPage(
                hits=(
                    hit("https://e.org/1", video=Video(length="3:46"), author="A"),
                    hit("https://e.org/2", 2, facts=facts, published_text="5 minute(s) ago"),
                    hit("https://e.org/3", 3),
                )
            )
        ]
    )
    kinds = [[name for name in TEMPLATE_FIELDS if getattr(row, name)] for row in rows]
    assert kinds == [["video"], ["facts"], []]
    assert (rows[0].video, rows[0].author) == (Video(length="3:46"), "A")
    assert (rows[1].facts, rows[1].published_text) == (facts, "5 minute(s) ago")


def test_a_duplicate_brings_the_fields_and_the_date_that_the_first_lacks():
    first = hit("https://e.org/a", torrent=Torrent(seeds=5), published_text="5 minute(s) ago")
    second = hit("https://e.org/a", 2, torrent=Torrent(seeds=9), published_at="2026-01-01")
    bare = hit("https://e.org/b", 3)
    later = hit("https://e.org/b", 4, video=Video(views="7"), published_text="5 minute(s) ago")
    one, two = merge([ResultPage(hits=(first, second, bare, later))])
    assert one.torrent == Torrent(seeds=5)
    assert (one.published_at, one.published_text) == ("2026-01-01", "")
    assert two.video == Video(views="7")
    assert (two.published_at, two.published_text) == (None, "5 minute(s) ago")


@pytest.mark.parametrize(
    ("allowed", "blocked", "kept"),
    [
        ((), (), "abc"),
        (("example.org",), (), "ab"),
        (("docs.example.org",), (), "b"),
        ((), ("example.org",), "c"),
        ((), ("docs.example.org",), "ac"),
        (("example.org",), ("docs.example.org",), "a"),
        (("ample.org",), (), ""),
    ],
)
def test_domains_filter_with_their_subdomains(allowed, blocked, kept):
    hosts = {"a": "example.org", "b": "docs.example.org", "c": "other.net"}
    rows = merge([ResultPage(hits=tuple(hit(f"https://{host}/{n}") for n, host in hosts.items()))])
    assert (
        "".join(row.url[-1] for row in keep_domains(rows, allowed=allowed, blocked=blocked)) == kept
    )


def listed(*names: str, engines: tuple[str, ...] = ("e",)) -> ResultPage:
    hits = (
        hit(f"https://{name}.example/", n, title=name, engines=engines)
        for n, name in enumerate(names, start=1)
    )
    return ResultPage(hits=tuple(hits), rows_seen=len(names))


def test_one_page_is_not_fused():
    page = listed("a", "b")
    assert fuse([page]) is page


def test_an_engine_seen_through_several_instances_counts_once():
    through_three = [listed("popular", "x"), listed("popular", "y"), listed("popular", "z")]
    two_engines = listed("q", "both", engines=("other",))
    fused = fuse([*through_three, two_engines, listed("r", "both", engines=("e",))])
    assert fused.hits[0].title == "both", "two engines outweigh one at the top"
    assert [row.position for row in fused.hits] == list(range(1, len(fused.hits) + 1))


@pytest.mark.parametrize(
    ("pages", "titles"),
    [
        pytest.param([listed(*"abc"), listed(*"cd")], "cabd", id="the best rank of an engine"),
        pytest.param([listed(*"cd"), listed(*"abc")], "cadb", id="whoever is first"),
        pytest.param(
            [listed(*"ab"), listed(*"acb"), listed(*"xby", engines=("f",))],
            "baxcy",
            id="ranks of several engines add up, and of one do not",
        ),
        pytest.param(
            [listed(*"ax"), listed(*"bx"), listed(*"by")],
            "baxy",
            id="ties go to the row that more instances have, then to the earlier",
        ),
        pytest.param(
            [listed(*"ab", engines=()), listed(*"cb", engines=())],
            "bac",
            id="rows without engines count the instance",
        ),
    ],
)
def test_rows_are_fused_by_the_ranks_of_their_engines(pages, titles):
    assert "".join(row.title for row in fuse(pages).hits) == titles


def test_an_engine_that_answered_anywhere_did_not_fail():
    failed = UnresponsiveEngine(engine="e", reason="timeout")
    other = UnresponsiveEngine(engine="f", reason="CAPTCHA")
    one = replace(listed("a"), unresponsive_engines=(other,), suggestions=("tea pot",))
    two = replace(
        listed("b", engines=("g",)),
        unresponsive_engines=(failed, other),
        suggestions=("tea pot", "tea cup"),
    )
    fused = fuse([one, two])
    assert (fused.unresponsive_engines, fused.suggestions) == ((other,), ("tea pot", "tea cup"))


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
