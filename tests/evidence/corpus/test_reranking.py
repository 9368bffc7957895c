"""The order that a rerank server gives, in any of the forms in which servers speak."""

import asyncio
import json
import logging

import pytest
from aiohttp import web

from searx_mcp.testing.loopback import never

KEY = "sk-very-secret"


def answering(value):
    async def answer(_asked):
        text = value if isinstance(value, str) else json.dumps(value)
        return web.Response(text=text, content_type="application/json")

    return answer


TWO = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]


@pytest.mark.parametrize(
    ("answer", "scores"),
    [
        ({"results": TWO}, [0.2, 0.9]),
        ([{"index": 0, "score": 0.2}, {"index": 1, "score": 0.9}], [0.2, 0.9]),
        (
            {"results": [{"index": 0, "score": 0.0}, {"index": 1, "score": 800.0}]},
            [0.5, 1.0],
        ),
        ({"results": TWO[:1]}, None),
        ({"results": [*TWO, {"index": 2, "score": 1.0}]}, None),
        ({"results": [{"index": 0, "score": 1.0}, {"index": 5, "score": 1.0}]}, None),
        ('[{"index": 0, "score": NaN}, {"index": 1, "score": 1.0}]', None),
        ("<html>", None),
        ("", None),
    ],
    ids=["Cohere", "TEI", "logits", "few", "many", "other", "NaN", "HTML", "nothing"],
)
async def test_scores_are_read_or_there_are_none(parts, named, answers, answer, scores):
    text = answer if isinstance(answer, str) else json.dumps(answer)
    answers.post(f"{named.base}/rerank", body=text)
    found = await parts.reranker(named).rerank("wax?", ["a", "b"])
    assert found == (None if scores is None else pytest.approx(scores))


@pytest.mark.parametrize("answer", [TWO, "[" * 100_000], ids=["an order", "deep"])
async def test_an_order_comes_over_a_connection(parts, rerank, answer):
    rerank.answers = answering(answer)
    found = await parts.reranker(rerank).rerank("wax?", ["a", "b"])
    assert found == (pytest.approx([0.2, 0.9]) if answer is TWO else None)


@pytest.mark.parametrize(
    ("model", "names"),
    [("", {"query", "texts"}), ("m", {"model", "query", "documents"})],
)
async def test_a_request_has_the_form_that_the_server_wants(parts, rerank, model, names):
    rerank.answers = answering({"results": TWO})
    await parts.reranker(rerank, model=model).rerank("wax?", ["a" * 9_000, "b"])
    assert set(rerank.asked[0]) == names
    assert len(rerank.asked[0].get("texts", rerank.asked[0].get("documents"))[0]) == 4_000


@pytest.mark.parametrize("status", [401, 429, 500])
async def test_a_server_that_fails_gives_no_order_and_is_asked_once(
    parts, named, answers, status, caplog
):
    caplog.set_level(logging.DEBUG)
    answers.post(f"{named.base}/rerank", status=status, payload={"results": TWO}, repeat=True)
    assert await parts.reranker(named, key=KEY).rerank("private wax?", ["a", "b"]) is None
    ((asked,),) = answers.requests.values()
    assert asked.kwargs["headers"]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in caplog.text
    assert "private" not in caplog.text


async def test_a_server_that_is_slow_gives_no_order_in_time(parts, rerank):
    async def slow(_asked):
        await never()

    rerank.answers = slow
    assert await parts.reranker(rerank, timeout=0.5).rerank("wax?", ["a", "b"]) is None
    end = asyncio.get_running_loop().time() + 0.1
    assert await parts.reranker(rerank).rerank("wax?", ["a", "b"], deadline=end) is None


async def test_a_server_that_is_down_gives_no_order(parts, rerank):
    reranker = parts.reranker(rerank)
    await rerank.aclose()
    assert await reranker.rerank("wax?", ["a", "b"]) is None
