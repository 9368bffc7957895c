"""Vectors of a static model and of a server, and the order that a rerank server gives, in any form."""

import asyncio
import json
import logging
import random
import subprocess
import sys
import traceback

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from searx_mcp.errors import SearxMcpError
from searx_mcp.evidence.config import EmbeddingConfig
from searx_mcp.evidence.corpus.language_models import (
    BATCH,
    PAUSE,
    ServerEmbedder,
    StaticEmbedder,
    cosine,
    endpoint,
    open_embedder,
    pack,
    unpack,
)
from searx_mcp.http.http import HttpSession
from searx_mcp.testing.loopback import never

KEY = "sk-very-secret"
TEXT = "a private question"


def soon(seconds):
    return asyncio.get_running_loop().time() + seconds


async def test_texts_are_asked_for_in_batches_and_come_back_in_order(parts, embedding, caplog):
    caplog.set_level(logging.DEBUG, "searx_mcp.evidence.corpus")
    embedder = parts.embedder(embedding, at_once=2, key=KEY)
    texts = [f"wax {'honey ' * (number % 7)}" for number in range(2 * BATCH + 5)]
    vectors = await embedder.embed(texts)
    assert sorted(map(len, embedding.batches)) == [5, BATCH, BATCH]
    assert [vector == vectors[0] for vector in vectors] == [
        number % 7 == 0 for number in range(len(texts))
    ]
    assert embedding.most_at_once <= 2
    assert set(embedding.keys) == {f"Bearer {KEY}"}
    told = sorted(message.partition(" ms=")[0] for message in caplog.messages)
    assert told == sorted(f"corpus.embedding_batch texts={size}" for size in (BATCH, BATCH, 5))


async def test_no_more_requests_run_at_once_than_set(parts, embedding):
    gate = asyncio.Event()

    async def wait(_number, answer):
        await gate.wait()
        return web.json_response(answer)

    embedding.answers = wait
    embedder = parts.embedder(embedding, at_once=3)
    async with asyncio.TaskGroup() as group:
        group.create_task(embedder.embed(["wax"] * BATCH * 4))
        group.create_task(embedder.embed(["wax"] * BATCH * 4))
        async with asyncio.timeout(10):
            await embedding.wait_for_requests(3)
        gate.set()
    assert embedding.most_at_once == 3
    assert len(embedding.batches) == 8


async def test_the_dimensions_that_are_set_are_asked_for_and_name_the_model(parts, embedding):
    embedder = parts.embedder(embedding, dimensions=3)
    (vector,) = await embedder.embed(["wax"])
    assert len(unpack(vector)) == 3
    assert embedder.model != parts.embedder(embedding).model


def failing(status, times=99):
    async def answer(number, proper):
        return web.json_response(proper) if number >= times else web.Response(status=status)

    return answer


async def test_a_server_that_fails_once_is_asked_again_after_a_pause_of_chance(parts, embedding):
    pauses = []
    for seed in (1, 2):
        embedding.batches.clear()
        embedding.answers = failing(503, times=1)
        loop = asyncio.get_running_loop()
        begun = loop.time()
        assert await parts.embedder(embedding, seed=seed).embed(["wax"])
        pauses.append(loop.time() - begun)
        assert len(embedding.batches) == 2
    assert min(pauses) >= 0.25


@pytest.mark.parametrize(("status", "requests"), [(500, 2), (503, 2), (429, 1), (401, 1), (302, 1)])
async def test_what_is_asked_again_and_what_is_not(parts, named, answers, status, requests):
    answers.post(f"{named.base}/v1/embeddings", status=status, repeat=True)
    with pytest.raises(SearxMcpError, match=f"HTTP {status}"):
        await parts.embedder(named).embed(["wax"])
    (asked,) = answers.requests.values()
    assert len(asked) == requests


async def test_a_server_that_failed_is_left_alone_for_a_while(parts, embedding, pass_by):
    embedding.answers = failing(429)
    embedder = parts.embedder(embedding)
    for _ in range(3):
        with pytest.raises(SearxMcpError):
            await embedder.embed(["wax"])
    assert len(embedding.batches) == 1
    embedding.answers = None
    pass_by(PAUSE)
    assert await embedder.embed(["wax"])


async def slow(_number, _answer):
    await never()


async def test_a_slow_server_is_not_waited_for_longer_than_set(parts, embedding):
    embedding.answers = slow
    with pytest.raises(SearxMcpError, match="in time"):
        await parts.embedder(embedding, timeout=0.5).embed(["wax"])


async def test_the_short_time_of_one_call_says_nothing_about_the_server(parts, embedding):
    embedding.answers = slow
    embedder = parts.embedder(embedding)
    with pytest.raises(SearxMcpError, match="in time"):
        await embedder.embed(["wax"], deadline=soon(0.1))
    embedding.answers = None
    assert await embedder.embed(["wax"])


def said(text):
    async def answer(_number, _proper):
        return web.Response(body=text.encode(), content_type="application/json")

    return answer


def rows(*pairs):
    return json.dumps({"data": [{"index": index, "embedding": row} for index, row in pairs]})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<html>It works!</html>",
        "[]",
        "null",
        '{"data": 3}',
        '{"data": [{"index": 0, "embedding": "AAAA"}]}',
        rows((0, [1.0, float("nan")]), (1, [1.0])),
        rows((0, [1.0, float("inf")]), (1, [1.0])),
        rows((0, [1.0])),
        rows((0, [1.0]), (1, [1.0]), (2, [1.0])),
        rows((0, [1.0]), (0, [1.0])),
        rows((0, [1.0]), (1, [1.0]), (1, [1.0])),
        rows((1, [1.0]), (2, [1.0])),
    ],
    ids=[
        "nothing",
        "HTML",
        "a list",
        "null",
        "a number",
        "base64",
        "NaN",
        "infinity",
        "too few",
        "too many",
        "one twice",
        "one twice, too many",
        "from one on",
    ],
)
async def test_an_answer_that_is_none_is_an_error_of_ours(parts, named, answers, text):
    answers.post(f"{named.base}/v1/embeddings", body=text)
    with pytest.raises(SearxMcpError, match="The embedding server returned"):
        await parts.embedder(named).embed(["wax", "honey"])


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, " " * (17 << 20) + rows((0, [1.0]), (1, [1.0]))],
    ids=["deep", "17 MiB"],
)
async def test_an_answer_that_is_too_much_is_an_error_of_ours(parts, embedding, text):
    embedding.answers = said(text)
    with pytest.raises(SearxMcpError, match="The embedding server returned"):
        await parts.embedder(embedding).embed(["wax", "honey"])


async def test_numbers_of_any_size_have_a_direction_or_none(parts, embedding):
    embedding.answers = said(rows((0, [1e200, 1e200]), (1, [0.0, 0.0])))
    one, other = await parts.embedder(embedding).embed(["wax", "honey"])
    assert unpack(one) == pytest.approx((0.7071, 0.7071), abs=1e-3)
    assert other == b""


async def test_a_server_that_is_down_is_an_error_of_ours(parts, embedding):
    embedder = parts.embedder(embedding)
    await embedding.aclose()
    with pytest.raises(SearxMcpError):
        await embedder.embed(["wax"])


@pytest.mark.parametrize(
    "answers",
    [failing(401), failing(500), said("no"), slow],
    ids=["401", "500", "garbage", "slow"],
)
async def test_no_key_and_no_text_is_in_an_error_or_a_log(parts, embedding, caplog, answers):
    caplog.set_level(logging.DEBUG)
    embedding.answers = answers
    embedder = parts.embedder(embedding, key=KEY, timeout=0.5)
    with pytest.raises(SearxMcpError) as caught:
        await embedder.embed([TEXT])
    for text in (
        caplog.text,
        "".join(traceback.format_exception(caught.value)),
        repr(caught.value.__cause__),
        repr(embedder._config),
        repr(embedder),
    ):
        assert KEY not in text
        assert TEXT not in text


async def test_a_call_that_is_cancelled_cancels_its_requests(parts, embedding):
    embedding.answers = slow
    embedder = parts.embedder(embedding, at_once=1)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(embedder.embed(["wax"]))
        async with asyncio.timeout(10):
            await embedding.wait_for_requests(1)
        task.cancel()
    embedding.answers = None
    assert await embedder.embed(["wax"]), "the place of the request is free again"


@pytest.mark.parametrize(
    "url",
    [
        "http://host:8080",
        "http://host:8080/",
        "http://host:8080/v1",
        "http://host:8080/v1/",
        "http://host:8080/v1/embeddings",
    ],
)
def test_an_endpoint_may_be_named_with_or_without_its_path(url):
    assert endpoint(url, "embeddings") == "http://host:8080/v1/embeddings"


NUMBERS = st.floats(-1e300, 1e300)


@given(st.lists(NUMBERS, max_size=40))
def test_a_packed_vector_has_length_one_or_is_empty(vector):
    read = unpack(pack(vector) + b"x")  # half a number, as damage may leave it
    assert len(read) in {0, len(vector)}
    if read:
        assert cosine(read, read) == pytest.approx(1.0, abs=0.02)
    assert cosine(read, [1.0] * 41) == 0.0


def nobody() -> HttpSession:
    raise AssertionError("no connection was to be asked for")


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"provider": "none"}, type(None)),
        ({"provider": "none", "url": "http://a/"}, type(None)),
        ({"provider": "http", "url": "http://a/"}, ServerEmbedder),
        ({"url": "http://a/"}, ServerEmbedder),
        ({"provider": "static"}, StaticEmbedder),
        ({}, StaticEmbedder),
    ],
)
def test_settings_choose_the_embedder(given, kind):
    pytest.importorskip("wordllama")
    made = open_embedder(EmbeddingConfig(**given), nobody, at_once=1, rng=random.Random())
    assert type(made) is kind


def test_a_provider_without_its_url_is_a_wrong_setting():
    with pytest.raises(ValidationError, match=r"embedding\.url"):
        EmbeddingConfig(provider="http")


async def test_the_static_model_finds_what_is_worded_otherwise():
    pytest.importorskip("wordllama")
    embedder = StaticEmbedder(EmbeddingConfig())
    texts = ["How much does it cost?", "The price is ten dollars.", "Bees live in hives.", " "]
    question, price, bees, blank = map(unpack, await embedder.embed(texts))
    assert cosine(question, price) > cosine(question, bees)
    assert blank == ()


LOADED = """
import asyncio, logging
from searx_mcp.evidence.config import EmbeddingConfig
from searx_mcp.evidence.corpus.language_models import StaticEmbedder
asyncio.run(StaticEmbedder(EmbeddingConfig()).embed(["wax"]))
print(logging.getLogger().handlers, logging.getLogger().level)
"""


@pytest.mark.slow
def test_the_static_model_leaves_the_logging_of_the_process_as_it_is():
    pytest.importorskip("wordllama")
    ran = subprocess.run(
        [sys.executable, "-c", LOADED], check=True, capture_output=True, text=True, timeout=60
    )
    assert ran.stdout.split() == ["[]", str(logging.WARNING)]


async def test_the_static_model_keeps_a_deadline():
    pytest.importorskip("wordllama")
    with pytest.raises(SearxMcpError):
        await StaticEmbedder(EmbeddingConfig()).embed(["wax"], deadline=soon(-1))


def ordering(value):
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
    rerank.answers = ordering(answer)
    found = await parts.reranker(rerank).rerank("wax?", ["a", "b"])
    assert found == (pytest.approx([0.2, 0.9]) if answer is TWO else None)


@pytest.mark.parametrize(
    ("model", "names"),
    [("", {"query", "texts"}), ("m", {"model", "query", "documents"})],
)
async def test_a_request_has_the_form_that_the_server_wants(parts, rerank, model, names):
    rerank.answers = ordering({"results": TWO})
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
    rerank.answers = lambda _asked: never()
    assert await parts.reranker(rerank, timeout=0.5).rerank("wax?", ["a", "b"]) is None
    end = asyncio.get_running_loop().time() + 0.1
    assert await parts.reranker(rerank).rerank("wax?", ["a", "b"], deadline=end) is None


async def test_a_server_that_is_down_gives_no_order(parts, rerank):
    reranker = parts.reranker(rerank)
    await rerank.aclose()
    assert await reranker.rerank("wax?", ["a", "b"]) is None
