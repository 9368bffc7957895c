"""Retrieval finds as much as it did when it was measured, and its scores are what they are called."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from searx_mcp.evidence.corpus.retrieval import ChunkHit
from searx_mcp.evidence.storage.store import StoredChunk


@pytest.fixture(scope="module")
def retrieval(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("retrieval")


@pytest.fixture(scope="module")
def sets(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("retrieving.sets")


@pytest.fixture(scope="module")
def scores(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("retrieving.scores")


async def test_no_floor_of_the_labelled_set_is_missed(retrieval: ModuleType, sets: ModuleType):
    labelled = sets.labelled()
    cases = [case for case in labelled.cases if case.is_in_short_run]
    ways = [way for way in retrieval.usable_ways() if way != "static"]
    runs = await retrieval.asked(labelled, cases, ways=ways)
    targets = retrieval.targets(runs, cases)
    assert [target for target in targets if not target.holds] == []
    assert len(targets) == len(runs) + sum(run.way == "hybrid" for run in runs)


@pytest.mark.slow
async def test_a_server_finds_what_a_file_finds(
    retrieval: ModuleType, sets: ModuleType, postgres_url: str
):
    labelled = sets.labelled()
    cases = [case for case in labelled.cases if case.is_in_short_run]
    here = await retrieval.asked(labelled, cases, ways=("lexical",))
    there = await retrieval.asked(labelled, cases, ways=("lexical",), url=postgres_url)
    ratios, table = retrieval.compared(here, there, cases)
    assert [ratio for ratio in ratios if not ratio.holds] == []
    assert len(ratios) == len(table.rows) == 2


def test_half_of_the_questions_are_held_out_and_a_sixth_is_asked_in_short_runs(sets: ModuleType):
    cases = sets.labelled().cases
    short = [case for case in cases if case.is_in_short_run]
    assert 0.45 < sum(case.is_held_out for case in cases) / len(cases) < 0.55
    assert 0.12 < len(short) / len(cases) < 0.22
    assert 0.4 < sum(case.is_held_out for case in short) / len(short) < 0.6


def write_set(folder: Path, **files: str) -> Path:
    known = {
        "corpus.jsonl": json.dumps({"_id": "a", "title": "Bees", "text": "wax"}),
        "queries.jsonl": "\n".join(
            json.dumps({"_id": name, "text": f"question {name}"}) for name in ("1", "2")
        ),
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n3\ta\t1\nno line",
    }
    for name, text in {**known, **files}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def test_a_set_in_the_format_of_beir_is_read(sets: ModuleType, tmp_path: Path):
    found = sets.beir(write_set(tmp_path / "bees"))
    (case,) = found.cases
    assert (found.name, found.is_by_page, case.question) == ("bees", True, "question 1")
    assert list(found.pages.values()) == ["# Bees\n\nwax"]
    assert case.right == dict.fromkeys(found.pages, 2)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        pytest.param({"corpus.jsonl": "{"}, "no JSON", id="cut off"),
        pytest.param({"corpus.jsonl": "[" * 100_000}, "no JSON", id="nested"),
        pytest.param({"queries.jsonl": '{"_id": "1"}'}, "no object with", id="no text"),
        pytest.param({"queries.jsonl": "[]"}, "no object with", id="no object"),
        pytest.param({"corpus.jsonl": "x" * (1 << 21)}, "longer than", id="a long line"),
        pytest.param({"qrels/test.tsv": ""}, "no question", id="nothing known"),
    ],
)
def test_what_is_no_set_in_the_format_of_beir_is_refused(
    sets: ModuleType, tmp_path: Path, files, said
):
    with pytest.raises(ValueError, match=said):
        sets.beir(write_set(tmp_path, **files))


def hit(url: str, text: str, *copies: str) -> ChunkHit:
    return ChunkHit(url, StoredChunk(text, text, (), 0, len(text), 1), 1.0, copies=copies)


@pytest.mark.parametrize(
    ("hits", "expected"),
    [
        pytest.param([("p", "the answer")], (1.0, 1.0, 1.0), id="first"),
        pytest.param([("p", "no"), ("p", "an answer")], (0.6309, 0.0, 1.0), id="second"),
        pytest.param([("p", "answer"), ("p", "answer too")], (1.0, 1.0, 1.0), id="overlap"),
        pytest.param([("q", "answer")], (0.0, 0.0, 0.0), id="another page"),
        pytest.param([("p", f"{n}") for n in range(10)] + [("p", "answer")], (0, 0, 0), id="late"),
        pytest.param([], (0.0, 0.0, 0.0), id="nothing found"),
    ],
)
def test_a_chunk_is_right_if_it_is_of_the_page_and_holds_the_answer(
    scores: ModuleType, sets: ModuleType, hits, expected
):
    case = sets.Case("1", "what?", {"p": 1}, answer="answer")
    found = scores.score(
        sets.Collection("set", {}, (case,), is_by_page=False), case, [hit(*each) for each in hits]
    )
    assert (found.ndcg, found.first, found.few) == pytest.approx(expected, abs=1e-4)


def test_of_pages_the_best_chunk_counts_and_a_copy_stands_beside_it(
    scores: ModuleType, sets: ModuleType
):
    case = sets.Case("1", "what?", {"b": 1, "c": 2})
    hits = [hit("a", "1"), hit("a", "2"), hit("b", "3", "c")]
    found = scores.score(sets.Collection("set", {}, (case,), is_by_page=True), case, hits)
    ideal = 2 + 1 / 1.58496
    assert found.ndcg == pytest.approx((1 / 1.58496 + 2 / 2) / ideal, abs=1e-4)
    assert (found.first, found.few) == (0.0, 1.0)
