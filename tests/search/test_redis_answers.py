"""Answers that processes share over a server."""

import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.hits import (
    Answer,
    Code,
    Fact,
    File,
    Hit,
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
    UnresponsiveEngine,
    Video,
)
from searx_mcp.models.response import Coverage
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.cache import SharedAnswer, cache_key
from searx_mcp.search.providers.context import Found
from searx_mcp.search.redis_answers import RedisAnswers
from searx_mcp.storage.redis import RedisLink

LONGEST = 900.0
MAX_SIZE = 524_288

SECRET = b"correct horse battery staple"
KEY = cache_key(InstanceQuery("private bees", engines=("bing", "brave")))


def answer(title: str = "Bees", *, count: int = 3) -> SharedAnswer:
    hits = tuple(Hit(url=f"https://e.org/{n}", title=title, position=n + 1) for n in range(count))
    return SharedAnswer(
        Found((ResultPage(hits=hits),), "https://i.example/", (), complete=True), 9.5
    )


Answers = Callable[..., RedisAnswers]


@pytest.fixture
async def answers_at() -> AsyncIterator[Answers]:
    """Make answers on a server; all of one test share a prefix."""
    prefix = f"{secrets.token_hex(8)}:"
    async with AsyncExitStack() as stack:

        def make(
            url: str, *, secret: bytes = SECRET, scope: str = "on", patience: float = 10
        ) -> RedisAnswers:
            made = RedisAnswers(url, prefix=prefix, secret=secret, scope=scope, patience=patience)
            stack.push_async_callback(made.aclose)
            return made

        yield make


@pytest.fixture
async def ask(redis_url: str) -> AsyncIterator[Callable[..., Awaitable[list[Any]]]]:
    """Ask the shared server itself."""
    async with aclosing(RedisLink(redis_url, patience=10)) as link:
        yield lambda *commands: link.run(lambda session: session.ask(*commands))


_NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
_TEXT = st.text(max_size=8)
_MAYBE = st.none() | _TEXT
_FACTS = st.lists(st.builds(Fact, label=_TEXT, value=_TEXT), max_size=2).map(tuple)
_TEXTS = st.lists(_TEXT, max_size=2).map(tuple)
_COUNT = st.none() | st.integers()
_TEMPLATES = {
    "image": st.builds(Image, url=_TEXT, size=_TEXT),
    "video": st.builds(Video, length=_TEXT, seconds=st.none() | _NUMBERS, embed_url=_MAYBE),
    "media": st.builds(Media, seconds=st.none() | _NUMBERS, audio_url=_MAYBE),
    "torrent": st.builds(Torrent, seeds=_COUNT, files=_COUNT, magnet=_MAYBE),
    "place": st.builds(
        Place,
        latitude=st.none() | _NUMBERS,
        bounding_box=st.none() | st.tuples(_NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS),
        osm_id=_COUNT,
        facts=_FACTS,
        links=st.lists(st.builds(Link, title=_TEXT, url=_TEXT), max_size=2).map(tuple),
    ),
    "paper": st.builds(Paper, authors=_TEXTS, doi=_TEXT, pdf_url=_MAYBE),
    "package": st.builds(Package, name=_TEXT, tags=_TEXTS, homepage=_MAYBE),
    "code": st.builds(
        Code, language=_TEXT, lines=st.lists(st.tuples(st.integers(), _TEXT), max_size=2).map(tuple)
    ),
    "file": st.builds(File, filename=_TEXT, embed_url=_MAYBE),
    "product": st.builds(Product, price=_TEXT),
    "facts": _FACTS,
}
_HITS = st.builds(
    Hit,
    url=_TEXT,
    title=_TEXT,
    position=st.integers(),
    description=_TEXT,
    engines=_TEXTS,
    published_at=_MAYBE,
    thumbnail=_MAYBE,
    template=_TEXT,
    author=_TEXT,
    attribution=_TEXT,
    **{name: st.none() | kind for name, kind in _TEMPLATES.items()},
)
_PAGES = st.builds(
    ResultPage,
    hits=st.lists(_HITS, max_size=4).map(tuple),
    rows_seen=st.integers(),
    answers=st.lists(st.builds(Answer, text=_TEXT, url=_MAYBE), max_size=2).map(tuple),
    infoboxes=st.lists(
        st.builds(
            Infobox,
            title=_TEXT,
            image=_MAYBE,
            links=st.lists(st.builds(Link, title=_TEXT, url=_TEXT), max_size=2).map(tuple),
            attributes=st.lists(st.builds(Fact, label=_TEXT, value=_TEXT), max_size=2).map(tuple),
        ),
        max_size=2,
    ).map(tuple),
    suggestions=_TEXTS,
    corrections=_TEXTS,
    unresponsive_engines=st.lists(
        st.builds(UnresponsiveEngine, engine=_TEXT, reason=_TEXT), max_size=2
    ).map(tuple),
    has_next=st.none() | st.booleans(),
    formats=st.none() | _TEXTS,
    link_token=st.none() | st.booleans(),
    timings=st.dictionaries(_TEXT, _NUMBERS, max_size=2),
)
_ATTEMPTS = st.builds(
    Attempt,
    instance=_TEXT,
    verdict=st.sampled_from(Verdict),
    format=st.sampled_from(Format),
    status_code=_COUNT,
    detail=_TEXT,
    source=_TEXT,
)
_ANSWERS = st.builds(
    SharedAnswer,
    found=st.builds(
        Found,
        pages=st.lists(_PAGES, max_size=2).map(tuple),
        instance=_TEXT,
        attempts=st.lists(_ATTEMPTS, max_size=2).map(tuple),
        complete=st.booleans(),
        own=st.booleans(),
        coverage=st.sampled_from(Coverage),
        attribution=_TEXTS,
        remarks=_TEXTS,
    ),
    at=_NUMBERS,
)


@settings(max_examples=settings().max_examples // 3)
@given(shared=_ANSWERS)
def test_an_answer_comes_back_as_it_went(shared):
    answers = RedisAnswers("redis://h", prefix="a:", secret=SECRET, scope="on")
    sealed = answers._sealed("name", shared)
    assert sealed is not None
    back = answers._unsealed("name", sealed)
    assert (back, repr(back)) == (shared, repr(shared))


@pytest.mark.slow
async def test_what_one_process_found_serves_another(redis_url, answers_at, ask):
    one, two = answers_at(redis_url), answers_at(redis_url)
    assert await two.get(KEY) is None
    await one.put(KEY, answer(), seconds=60)
    assert await two.get(KEY) == answer()
    assert await two.get(cache_key(InstanceQuery("other bees", engines=("bing", "brave")))) is None


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [60, 86_400])
async def test_no_query_is_on_the_server_and_no_answer_for_longer_than_a_quarter_of_an_hour(
    redis_url, answers_at, ask, seconds
):
    one = answers_at(redis_url)
    await one.put(KEY, answer(), seconds=seconds)
    (keys,) = await ask(("KEYS", one._keys.root + "*"))
    (name,) = keys
    (life,), (value,) = await ask(("PTTL", name)), await ask(("GET", name))
    assert 0 < life <= min(seconds, LONGEST) * 1_000
    assert b"private" not in name + value
    assert b"bees" not in name + value


@pytest.mark.slow
@pytest.mark.parametrize(
    "other", [{"secret": b"another secret, also long"}, {"scope": "off"}], ids=["secret", "scope"]
)
async def test_whoever_has_another_secret_or_asks_other_instances_shares_nothing(
    redis_url, answers_at, other
):
    await answers_at(redis_url).put(KEY, answer(), seconds=60)
    assert await answers_at(redis_url, **other).get(KEY) is None


@pytest.mark.slow
async def test_what_we_did_not_put_there_is_a_miss(redis_url, answers_at, ask):
    answers = answers_at(redis_url)
    name, other = (
        answers._name(KEY),
        answers._name(cache_key(InstanceQuery("other", engines=("bing", "brave")))),
    )
    sealed = answers._sealed(name, answer())
    moved = answers._sealed(other, answer())
    for value in (
        *(b"", b"garbage", b"x" * (MAX_SIZE + 100), moved, sealed[:-1], sealed[1:]),
        *(sealed + b" ", sealed.replace(b"Bees", b"Spam")),
    ):
        await ask(("SET", name, value))
        assert await answers.get(KEY) is None
    newer = answers._sealing.seal(name, b'{"version": 2}')
    await ask(("SET", name, newer))
    assert await answers.get(KEY) is None
    await ask(("SET", name, sealed))
    assert await answers.get(KEY) == answer()
    await ask(("DEL", name), ("RPUSH", name, "x"))
    assert await answers.get(KEY) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shared", "seconds"),
    [(answer("x" * 400_000, count=2), 60), (answer("half \ud800"), 60), (answer(), 0)],
    ids=["too large", "no text", "no time"],
)
async def test_what_cannot_be_shared_is_left_out(redis_url, answers_at, ask, shared, seconds):
    answers = answers_at(redis_url)
    await answers.put(KEY, shared, seconds=seconds)
    assert await ask(("KEYS", answers._keys.root + "*")) == [[]]


@pytest.mark.slow
async def test_a_server_that_keeps_silent_is_a_miss_and_no_warning(start_redis, answers_at, caplog):
    server = start_redis()
    answers = answers_at(server.url)
    await answers.put(KEY, answer(), seconds=60)
    server.freeze()
    answers._link.patience = 0.1
    assert await answers.get(KEY) is None
    await answers.put(KEY, answer("new"), seconds=60)
    assert repr(answers) == f"<RedisAnswers 127.0.0.1:{server.port}>"
    server.thaw()
    answers._link.patience = 10
    answers._link._retry_at = 0.0
    assert await answers.get(KEY) == answer()
    assert not [entry for entry in caplog.records if entry.levelno > logging.INFO]
