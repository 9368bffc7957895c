"""The stores that the settings choose, and a server of them that may go away at any time."""

import logging
import random
import re
import sys
from collections import Counter
from contextlib import aclosing

import pytest

from searx_mcp.client.facade import SearxClient
from searx_mcp.client.stores import open_answers, open_corpus, open_pages, open_state
from searx_mcp.errors import SettingsError
from searx_mcp.evidence.storage.sqlite import SqliteCorpusStore
from searx_mcp.evidence.storage.standing_in import StandingInCorpusStore
from searx_mcp.settings.values import Settings
from searx_mcp.storage.config import KEY_FILE
from searx_mcp.storage.memory import MemoryPageStore, MemoryStore
from searx_mcp.storage.pages import KeptRobots
from searx_mcp.storage.redis import RETRY_INTERVAL
from searx_mcp.storage.redis_pages import RedisPageStore
from searx_mcp.storage.redis_state import RedisStore
from searx_mcp.storage.sqlite_pages import SqlitePageStore
from searx_mcp.storage.sqlite_state import SqliteStore
from searx_mcp.storage.state import Account, Window
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.searxng import FakeSearxng

NOW = 1_800_000_000.0


def settings_with(url: str, **tables: object) -> Settings:
    return Settings.model_validate({"redis": {"url": url}, **tables})


async def test_the_settings_choose_the_store(tmp_path):
    folder = {"folder": str(tmp_path)}
    for url, storage, kind in (
        ("", {"state": False}, MemoryStore),
        ("", folder, SqliteStore),
        ("redis://h", folder, RedisStore),
    ):
        assert isinstance(open_state(settings_with(url, storage=storage)), kind)


@pytest.mark.parametrize(
    ("storage", "redis", "kind"),
    [
        ({}, {}, SqlitePageStore),
        ({"pages": False}, {}, MemoryPageStore),
        ({"state": False}, {}, MemoryPageStore),
        ({}, {"url": "redis://h"}, RedisPageStore),
        ({"pages": False}, {"url": "redis://h"}, MemoryPageStore),
        ({"state": False}, {"url": "redis://h"}, MemoryPageStore),
        ({"state": False}, {"url": "redis://h", "secret": "x" * 16}, RedisPageStore),
    ],
)
def test_the_settings_say_where_pages_are_kept(tmp_path, storage, redis, kind):
    settings = Settings.model_validate(
        {"storage": {"folder": str(tmp_path), **storage}, "redis": redis}
    )
    store = open_pages(settings)
    assert type(store) is kind
    assert (tmp_path / KEY_FILE).exists() is (redis == {"url": "redis://h"} and not storage)
    assert (str(tmp_path / "pages-v1.db") in repr(store)) is (kind is SqlitePageStore)


def test_pages_are_shared_by_those_alone_who_may_read_the_same():
    tables: list[dict[str, object]] = [
        {},
        {"allow_private": ["10.0.0.5:8080"]},
        {"headers": {"wiki.example": {"Authorization": "one"}}},
        {"headers": {"wiki.example": {"Authorization": "two"}}},
        {"github_token": "one"},
    ]
    redis = {"url": "redis://h", "secret": "x" * 16}
    names = set()
    for fetch in [*tables, {"host_rate": 5}]:
        store = open_pages(Settings.model_validate({"redis": redis, "fetch": fetch}))
        assert isinstance(store, RedisPageStore)
        names.add(store._name("page", "mine", "cursor"))
    assert len(names) == len(tables)


async def test_pages_are_kept_as_many_and_as_long_as_the_settings_say():
    fetch = {"cache_size": 1 << 20, "cache_max_age": 60}
    store = open_pages(Settings.model_validate({"storage": {"pages": False}, "fetch": fetch}))
    assert isinstance(store, MemoryPageStore)
    await store.keep_robots("https://a.example", KeptRobots(200, "x", NOW), NOW)
    assert await store.robots("https://a.example", NOW + 59)
    assert await store.robots("https://a.example", NOW + 60) is None
    noise = random.Random(1).randbytes(1 << 20).hex()
    await store.keep_robots("https://b.example", KeptRobots(200, noise, NOW), NOW)
    assert await store.robots("https://b.example", NOW) is None


@pytest.mark.parametrize(
    ("tables", "in_folder"),
    [
        ({"redis": {"url": ""}}, True),
        ({"search": {"cache_ttl": 0}}, True),
        ({}, False),
    ],
    ids=["no server", "no cache", "no secret"],
)
def test_answers_are_not_shared_without(tmp_path, tables, in_folder):
    settings = Settings.model_validate({"redis": {"url": "redis://h"}, **tables})
    assert open_answers(settings, tmp_path if in_folder else None) is None
    assert not [*tmp_path.iterdir()]


def test_the_secret_of_the_answers_is_that_of_the_settings_or_of_the_folder(tmp_path, caplog):
    given = Settings.model_validate({"redis": {"url": "redis://h", "secret": "x" * 16}})
    assert open_answers(given, None) is not None
    assert open_answers(given, tmp_path) is not None
    assert not [*tmp_path.iterdir()]
    assert open_answers(settings_with("redis://h"), tmp_path) is not None
    assert (tmp_path / KEY_FILE).exists()
    (tmp_path / "file").touch()
    assert open_answers(settings_with("redis://h"), tmp_path / "file") is None
    assert "redis.not_shared" in caplog.text


def test_answers_are_shared_by_those_alone_who_ask_the_same_providers():
    google = {"key": "k1", "search_engine_id": "one"}
    tables: list[dict[str, object]] = [
        {},
        {"google": google},
        {"google": {**google, "search_engine_id": "two"}},
        {"google": {**google, "safe_search": "strict"}},
        {"google": google, "mode": "only"},
        {"brave": {"key": "k1"}},
    ]
    redis = {"url": "redis://h", "secret": "x" * 16}
    scopes = []
    for providers in [*tables, {"google": {**google, "key": "k2"}}]:
        settings = Settings.model_validate({"redis": redis, "providers": providers})
        scopes.append(vars(open_answers(settings, None))["_scope"])
    assert len({*scopes[:-1]}) == len(tables)
    # Another key finds the same.
    assert scopes[-1] == scopes[1]


@pytest.mark.parametrize(
    "open_it", [open_state, open_pages, lambda given: open_answers(given, None)]
)
def test_a_wrong_option_is_a_mistake_of_the_setting_and_not_shown(open_it):
    settings = Settings.model_validate(
        {"redis": {"url": "redis://h?db=hunter2", "secret": "x" * 16}}
    )
    with pytest.raises(SettingsError) as caught:
        open_it(settings)
    assert caught.value.field == "redis.url"
    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("table", "library", "url", "open_it"),
    [
        ("redis", "redis", "redis://h", open_state),
        ("postgres", "asyncpg", "postgresql://h/d", lambda given: open_corpus(given, None, "n")),
    ],
    ids=["redis", "postgres"],
)
def test_without_its_library_the_setting_says_what_to_install(
    monkeypatch, table, library, url, open_it
):
    for name in [*sys.modules]:
        if name.startswith((library, "searx_mcp.")) and {library, table} & {
            *re.split(r"[._]", name)
        }:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(SettingsError) as caught:
        open_it(Settings.model_validate({table: {"url": url}}))
    assert caught.value.field == f"{table}.url"
    assert f"searx-mcp[{table}]" in caught.value.advice


def test_a_missing_module_of_ours_is_not_taken_for_a_missing_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "searx_mcp.storage.redis_state", None)
    with pytest.raises(ModuleNotFoundError):
        open_state(settings_with("redis://h"))


def test_the_corpus_is_on_the_server_that_the_settings_name(tmp_path):
    postgres = {"url": "postgresql://alice:hunter2@h/d"}
    store = open_corpus(Settings.model_validate({"postgres": postgres}), None, "n")
    assert isinstance(store, StandingInCorpusStore)
    assert "h:5432/d" in repr(store)
    assert "hunter2" not in repr(store)
    for tables in ({"postgres": postgres, "storage": {"corpus": False}}, {}):
        store = open_corpus(Settings.model_validate(tables), tmp_path, "n")
        assert isinstance(store, SqliteCorpusStore)


@pytest.mark.slow
@pytest.mark.parametrize("signal", ["kill", "freeze"])
async def test_losing_the_server_in_the_middle_of_a_search_costs_no_search(
    start_redis, settings_for, catalog_of, caplog, pass_by, signal
):
    server, clock = start_redis(), FakeClock()
    async with FakeSearxng() as one, FakeSearxng() as two:
        redis = {"url": server.url, "secret": "correct horse battery", "timeout": 4}
        settings = settings_for(one, two, redis=redis)
        state = RedisStore(server.url, prefix=settings.redis.prefix, patience=4)
        catalog = catalog_of(one, two)
        lost: list[str] = []

        def lose(step: str) -> None:
            if not lost:
                lost.append(step)
                getattr(server, signal)()

        async with SearxClient(settings, catalog=catalog, state=state, clock=clock) as client:
            first = await client.search("bees 0", fetch_content=False)
            clock.advance(31)
            second = await client.search("bees 1", fetch_content=False, progress=lose)
            clock.advance(31)
            third = await client.search("bees 2", fetch_content=False)
            report = await client.instances()
            assert any("carries on alone" in note for note in report.notes)
            _ = server.start() if signal == "kill" else server.thaw()
            pass_by(RETRY_INTERVAL + 1)
            clock.advance(31)
            fourth = await client.search("bees 3", fetch_content=False)
            report = await client.instances()
            assert not any("carries on alone" in note for note in report.notes)

    assert lost
    answers = [first, second, third, fourth]
    assert all(answer.results for answer in answers)
    assert one.searches + two.searches == 4
    asked = Counter(answer.instance_used for answer in answers)
    eight = [Account(url, (Window(8, 600),)) for url in asked]
    async with aclosing(RedisStore(server.url, prefix=settings.redis.prefix, patience=10)) as other:
        budgets = await other.budgets(eight, clock())
    assert {
        account.name: 8 - (budget.left or 0) for account, budget in zip(eight, budgets, strict=True)
    } == asked
    warnings = [entry.getMessage() for entry in caplog.records if entry.levelno >= logging.WARNING]
    assert len(warnings) == 1
    assert "bees" not in caplog.text
