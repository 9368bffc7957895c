"""Lists of different origin become one."""

import pytest

from searx_mcp.models.hits import Hit, Paper
from searx_mcp.search.providers.rank_fusion import RankedList, diversify, fuse


def hit(name: str, *engines: str, url: str = "", **fields) -> Hit:
    return Hit(
        url=url or f"https://{name}.example/", title=name, position=9, engines=engines, **fields
    )


def ranked(*names: str, engine: str, weight: float = 1.0) -> RankedList:
    return RankedList([hit(name, engine) for name in names], weight)


def titles(hits) -> list[str]:
    return [each.title for each in hits]


def test_what_two_collections_found_comes_first():
    fused = fuse([ranked("a", "b", engine="github"), ranked("c", "b", engine="arxiv")])
    assert (titles(fused), fused[0].engines) == (["b", "a", "c"], ("github", "arxiv"))
    assert [each.position for each in fused] == [1, 2, 3]


def test_a_heavier_vote_counts_more():
    fused = fuse(
        [ranked("a", engine="github", weight=0.5), ranked("b", engine="arxiv", weight=0.9)]
    )
    assert titles(fused) == ["b", "a"]


def test_lists_of_equal_weight_take_turns():
    fused = fuse([ranked("a", "b", engine="github"), ranked("c", "d", engine="arxiv")])
    assert titles(fused) == ["a", "c", "b", "d"]


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ("wikipedia", "wikipedia"),
        ("stackoverflow", "stackexchange"),
        ("wikicommons.images", "commons"),
    ],
)
def test_a_collection_asked_directly_and_through_an_instance_has_one_vote(inside, outside):
    web = RankedList([hit("a", inside), hit("b", "bing", "brave")])
    fused = fuse([web, ranked("a", engine=outside)])
    assert titles(fused) == ["b", "a"]


def test_the_best_place_of_a_collection_is_its_vote():
    twice = RankedList([hit("x", "bing"), hit("a", "wikipedia")])
    last = RankedList([hit("y", "github"), hit("z", "arxiv"), hit("a", "wikipedia")])
    fused = fuse([twice, ranked("a", engine="wikipedia"), last])
    assert titles(fused) == ["x", "a", "y", "z"]


def test_an_instance_that_names_no_engine_votes_itself():
    fused = fuse([RankedList([hit("a")]), RankedList([hit("a")]), RankedList([hit("b", "bing")])])
    assert titles(fused) == ["a", "b"]


def test_one_work_with_two_addresses_is_one_hit():
    journal = hit("a", "bing", url="https://journal.example/x", paper=Paper(doi="10.1000/Example"))
    record = hit("a longer title", "crossref", url="https://doi.org/10.1000/example")
    (fused,) = fuse([RankedList([journal]), RankedList([record])])
    assert (fused.url, fused.title) == ("https://journal.example/x", "a longer title")
    assert fused.engines == ("bing", "crossref")


def test_a_row_that_joins_two_known_ones_by_address_and_by_identity_counts_once():
    by_url = hit("a", "bing", url="https://journal.example/x")
    both = hit("a", "crossref", url="https://journal.example/x", paper=Paper(doi="10.1000/e"))
    fused = fuse([RankedList([by_url]), RankedList([both])])
    assert len(fused) == 1


def test_nothing_becomes_nothing():
    assert fuse([]) == fuse([RankedList([])]) == diversify([]) == ()


def test_no_collection_fills_the_head_of_a_list():
    wiki = [hit(f"w{n}", "wikipedia") for n in range(9)]
    others = [hit(f"g{n}", "github") for n in range(4)]
    spaced = diversify([*wiki, *others])
    assert titles(spaced) == ["w0", "w1", "w2", "g0", "g1", "g2", "w3", "w4", "w5", "w6", "w7", "w8", "g3"]  # fmt: skip
    assert [each.position for each in spaced] == [*range(1, 14)]


def test_what_another_collection_found_as_well_is_not_too_much():
    rows = [hit(f"w{n}", "wikipedia") for n in range(3)]
    assert titles(diversify([*rows, hit("both", "wikipedia", "github"), hit("w4", "wikipedia")])) == [
        "w0", "w1", "w2", "both", "w4",
    ]  # fmt: skip
