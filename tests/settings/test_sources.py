"""Settings: where they come from, what they may be and how a mistake is told."""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import reduce
from operator import attrgetter, getitem
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field, SecretStr, ValidationError, create_model

from searx_mcp.errors import ErrorCode, SettingsError
from searx_mcp.models.request import Category
from searx_mcp.settings.server import ServerConfig
from searx_mcp.settings.sources import SECRETS, Loaded, SettingRow, _described, effective, load
from searx_mcp.settings.values import Settings

ROOT = Path(__file__).parents[2]
ROWS = effective(Settings(), {})
OTHER_TEXT = {
    "search.default_language": "de",
    "web_fetch.user_agent": "probe/1",
    "instances.catalog": "mine.json",
    "network.proxy": "http://proxy.example.org:3128",
    "network.http_proxy": "none",
    "network.ca_file": "mine.pem",
    "redis.prefix": "team:",
    "open_sources.contact": "me@example.org",
    "open_sources.npm_url": "https://packages.example",
    "open_sources.photon_url": "http://127.0.0.1:2322/photon",
    "embedding.url": "http://127.0.0.1:11434/v1",
    "remote.url": "https://s.example/",
    "server.traces": "http://127.0.0.1:4318",
    "embedding.model": "nomic-embed-text",
    "rerank.url": "http://127.0.0.1:8080/rerank",
    "rerank.model": "bge-reranker",
    "providers.google.search_engine_id": "017576662512468239146:omuauf_lfve",
    "own.source": "https://git.example.org/searxng",
    "instances.source": "https://lists.example/instances.json?all",
    "fetch.blocklist_file": "blocked.txt",
    "fetch.browser_path": "/usr/bin/chromium",
    "storage.namespace": "team",
    "http.host": "::1",
    "server.tool_prefix": "searx_",
}
OTHER_LISTS = {
    "http.allowed_hosts": ["search.example.org", "[::1]:8765"],
    "http.allowed_origins": ["https://app.example.org", "http://localhost:3000"],
    "web_search.request_delay_range": [200, 400],
    "server.tools": ["web_search", "answer"],
    "fetch.allow_private": ["10.0.0.5:8080", "10.1.0.0/16:80"],
    "fetch.blocked_domains": ["example.org", "example.net"],
    "fetch.allowed_domains": ["example.org", "example.net"],
    "fetch.tiers": ["github", "pypi"],
    "instances.own": ["http://127.0.0.1:8080/", "https://search.example.org/searx/"],
    "open_sources.disabled": ["gdelt", "photon"],
    "instances.categories": ["recipes", "house rules"],
    "instances.blocked": ["search.example.net", "search.example.com"],
    "quality.preferred_domains": ["docs.example.org", "*.example.gov"],
    "quality.demoted_domains": ["example.org", "example.net"],
    "network.no_proxy": ["example.org", "10.0.0.0/8"],
    "http.proxies": ["10.0.0.1", "10.1.0.0/16"],
}


def other(row: SettingRow) -> Any:
    """A valid value of a setting that is not its default."""
    default = row.default
    if row.key in OTHER_LISTS:
        return OTHER_LISTS[row.key]
    if row.key in OTHER_TEXT:
        return OTHER_TEXT[row.key]
    if isinstance(default, bool):
        return not default
    if isinstance(default, str):
        members = row.allowed.removeprefix("one of ").split(", ")
        return next(member for member in members if member != default)
    assert isinstance(default, int | float)
    if 0 < default < 1:
        return default / 2
    down = row.key in {
        "web_search.max_results_count",
        "web_search.default_timeout",
        "markdown.max_heading_level",
    }
    return default - 1 if down or row.key.endswith("content_fetch_timeout") else default + 1


# What these refer to must be there, too, or they are not shown; they have tests of their own.
_APART = {
    "profile",
    "instances.credentials",
    "redis.url",
    "redis.secret",
    "postgres.url",
    "fetch.github_token",
    "fetch.headers",
    "open_sources.stackexchange_key",
    "open_sources.github_token",
    "providers.google.key",
    "providers.brave.key",
    "embedding.key",
    "remote.key",
    "rerank.key",
    "http.token",
    "server.tool_names",
}
OTHERS = {row.key: other(row) for row in ROWS if row.key not in _APART}


def value_of(settings: Settings, key: str) -> object:
    return reduce(getitem, key.split("."), settings.model_dump(mode="json"))


def test_without_sources_everything_is_a_default():
    settings, origins = load(environ={})
    assert settings == Settings()
    assert set(origins) == {row.key for row in ROWS}
    assert set(origins.values()) == {"default"}


def check_others(loaded: Loaded, origins: dict[str, str]) -> None:
    """Every key has its other value, from where it should be; those apart are left alone."""
    assert {key: value_of(loaded.settings, key) for key in OTHERS} == OTHERS
    known = dict.fromkeys((row.key for row in ROWS), "default")
    assert loaded.origins == known | origins


def test_every_key_can_be_set_in_a_file(write):
    path = write("".join(f"{key} = {json.dumps(value)}\n" for key, value in OTHERS.items()))
    check_others(load(path=path, environ={}), dict.fromkeys(OTHERS, f"file {path}"))


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "plain"])
def test_every_key_can_be_set_in_the_environment(as_json):
    names = {key: f"SEARX_MCP_{key.replace('.', '__').upper()}" for key in OTHERS}
    environ = {
        names[key]: (json.dumps(value) if as_json else ", ".join(map(str, value)))
        if isinstance(value, list)
        else str(value)
        for key, value in OTHERS.items()
    }
    check_others(load(environ=environ), {key: f"environment {name}" for key, name in names.items()})


def test_every_key_can_be_set_by_an_argument():
    check_others(load(environ={}, overrides=OTHERS), {key: f"argument {key}" for key in OTHERS})


def test_every_key_is_described():
    for row in ROWS:
        assert row.description.endswith("."), row.key
        assert len(row.description) <= 90, row.key
        assert row.allowed, row.key
        assert (row.origin, row.value) == ("default", row.default), row.key


@pytest.mark.parametrize(
    ("field", "allowed"),
    [
        (Annotated[int, Field(ge=1)], "a whole number from 1"),
        (Annotated[float, Field(le=9_000)], "a number to 9,000"),
        (Annotated[int, Field(ge=0, le=9)], "a whole number from 0 to 9"),
        (float, "a number"),
    ],
)
def test_a_number_may_have_one_bound_or_none(field, allowed):
    (rules,) = create_model("Table", key=field).model_json_schema()["properties"].values()
    assert _described(rules) == allowed


def test_arguments_beat_the_environment_and_the_environment_beats_the_file(
    write,
):
    path = write("[search]\ncache_ttl = 1\ncache_size = 1\nmax_instances = 1\n")
    environ = {"SEARX_MCP_SEARCH__CACHE_TTL": "2", "SEARX_MCP_SEARCH__CACHE_SIZE": "2"}
    overrides = {"search.cache_ttl": 3, "search.cache_size": None}
    settings, origins = load(path=path, environ=environ, overrides=overrides)
    search = settings.search
    assert (search.cache_ttl, search.cache_size, search.max_instances) == (3, 2, 1)
    assert origins["search.cache_ttl"] == "argument search.cache_ttl"
    assert origins["search.cache_size"] == "environment SEARX_MCP_SEARCH__CACHE_SIZE"
    assert origins["search.max_instances"] == f"file {path}"


def test_the_file_is_found_by_argument_then_variable_then_in_the_users_folder(
    no_configuration_of_the_user, tmp_path
):
    users = no_configuration_of_the_user
    users.parent.mkdir()
    named, given = tmp_path / "named.toml", tmp_path / "given.toml"
    for number, path in enumerate((users, named, given), start=1):
        path.write_text(f"[search]\ncache_ttl = {number}\n", encoding="utf-8")
    environ = {"SEARX_MCP_CONFIG": str(named)}
    assert load(path=given, environ=environ).settings.search.cache_ttl == 3
    assert load(environ=environ).settings.search.cache_ttl == 2
    assert load(environ={"SEARX_MCP_CONFIG": ""}).settings.search.cache_ttl == 1


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    path = tmp_path / "bom.toml"
    path.write_bytes(b"\xef\xbb\xbf[search]\r\ncache_ttl = 1\r\n")
    assert load(path=path, environ={}).settings.search.cache_ttl == 1


@pytest.mark.parametrize(
    "environ",
    [
        {"SEARX_MCP_SEARCH__CACHE_TTL": "", "SEARXNG_URL": "", "SEARX_MCP_PROFILE": ""},
        {"SEARX_MCP_LOG_LEVEL": "debug", "SEARX_MCP_CAPTURES": "/x", "HOME": "/", "A": "\x00"},
    ],
    ids=["empty", "of others or without a setting"],
)
def test_variables_that_set_nothing_are_left_alone(environ):
    assert load(environ=environ).settings == Settings()


def test_a_table_can_be_given_as_json_in_one_variable():
    environ = {
        "SEARX_MCP_NETWORK__CONNECT_TIMEOUT": "2",
        "SEARX_MCP_NETWORK": '{"max_connections": 8, "connect_timeout": 1}',
    }
    settings, origins = load(environ=environ)
    assert (settings.network.max_connections, settings.network.connect_timeout) == (8, 2)
    assert origins["network.max_connections"] == "environment SEARX_MCP_NETWORK"
    assert origins["network.connect_timeout"] == "environment SEARX_MCP_NETWORK__CONNECT_TIMEOUT"


def test_json_is_read_where_a_table_is_wanted_and_left_alone_in_a_text():
    environ = {
        "SEARX_MCP_FETCH__HEADERS": '{"https://wiki.example": {"X-Key": "a"}}',
        "SEARX_MCP_REMOTE__URL": "https://service.example",
        "SEARX_MCP_REMOTE__KEY": '["not-a-list"]',
    }
    settings, _ = load(environ=environ)
    (headers,) = settings.fetch.headers.values()
    assert headers["X-Key"].get_secret_value() == "a"
    assert settings.remote.key.get_secret_value() == '["not-a-list"]'


def test_our_own_variable_beats_searxng_url_and_searxng_url_beats_the_file(
    write,
):
    path = write('[instances]\nown = ["http://file.example/"]\n')
    environ = {"SEARXNG_URL": "http://a.example; https://b.example/x"}
    settings, origins = load(path=path, environ=environ)
    assert settings.instances.own == ("http://a.example/", "https://b.example/x/")
    assert origins["instances.own"] == "environment SEARXNG_URL"
    environ["SEARX_MCP_INSTANCES__OWN"] = "http://ours.example/"
    settings, origins = load(path=path, environ=environ)
    assert settings.instances.own == ("http://ours.example/",)
    assert origins["instances.own"] == "environment SEARX_MCP_INSTANCES__OWN"


def test_profiles_come_from_all_sources(write):
    path = write(
        'profile = "news"\n'
        '[profiles.news]\ncategory = "news"\nrecency = "oneDay"\n'
        "[profiles.plain]\n"
        '[profiles.docs]\nallowed_domains = ["docs.example.org"]\n'
    )
    environ = {
        "SEARX_MCP_PROFILES__NEWS__CATEGORY": "it",
        "searx_mcp_profiles__safe__allowed_domains": '["a.example"]',
        "SEARX_MCP_PROFILES__SAFE__LANGUAGE": "de",
        "SEARX_MCP_PROFILES__SAFE": '{"safe_search": 2, "language": "en"}',
    }
    settings, origins = load(path=path, environ=environ, overrides={"profiles.new.limit": 3})
    assert settings.profiles == {
        "news": {"category": "it", "recency": "oneDay"},
        "plain": {},
        "docs": {"allowed_domains": ["docs.example.org"]},
        "safe": {"safe_search": 2, "language": "de", "allowed_domains": ["a.example"]},
        "new": {"limit": 3},
    }
    assert settings.search_defaults().profile == settings.profiles["news"]
    assert origins["profiles.news.recency"] == f"file {path}"
    assert origins["profiles.news.category"] == "environment SEARX_MCP_PROFILES__NEWS__CATEGORY"
    assert origins["profiles.safe.safe_search"] == "environment SEARX_MCP_PROFILES__SAFE"
    domains = origins["profiles.safe.allowed_domains"]
    assert domains == "environment searx_mcp_profiles__safe__allowed_domains"
    assert origins["profiles.new.limit"] == "argument profiles.new.limit"
    row = effective(settings, origins)[-1]
    assert row[:3] == ("profiles.new.limit", 3, "argument profiles.new.limit")


def test_an_empty_profile_does_not_empty_the_same_one_of_a_weaker_source(
    write,
):
    path = write('[profiles.news]\ncategory = "news"\n')
    settings, _ = load(path=path, environ={"SEARX_MCP_PROFILES": '{"news": {}, "other": {}}'})
    assert settings.profiles == {"news": {"category": "news"}, "other": {}}


def test_search_defaults_are_composed_from_the_tables():
    settings = Settings.model_validate(
        {
            "web_search": {"default_results_count": 3, "max_results_count": 20},
            "search": {"default_category": "news", "default_language": "de"},
        }
    )
    defaults = settings.search_defaults()
    assert (defaults.results_count, defaults.max_results) == (3, 20)
    assert (defaults.category, defaults.language) == (Category.NEWS, "de")
    assert defaults.profile == {}


def test_every_wrong_value_is_told_at_once(write, refusal):
    path = write("[fetch]\nmax_chars = 1\n[serch]\nx = 1\n[http]\nport = 'x'\nhost = 3")
    wrong = refusal(path=path, environ={"SEARX_MCP_SERVER__TOOL_TIMEOUT": "abc"}).message
    told = [each.partition(" (from")[0] for each in wrong.split("; ")]
    assert sorted(told) == [
        "fetch.max_chars",
        "http.host",
        "http.port",
        "serch",
        "server.tool_timeout",
    ]


BAD_FILES = [
    ("[search]\ncache_ttl = -1", "search.cache_ttl", "-1 is not a number from 0 to 86,400"),
    ("[search]\ncache_ttl = true", "search.cache_ttl", "True is not a number"),
    ("[search]\ncache_ttl = nan", "search.cache_ttl", "nan is not a number"),
    ("[search]\ncache_ttl = []", "search.cache_ttl", "[] is not a number"),
    ("[search]\ncache_ttl = {a = 1}", "search.cache_ttl", "{'a': 1} is not a number"),
    ("[search]\ncache_ttl = 2026-08-05", "search.cache_ttl", "is not a number from"),
    ("[search]\ncache_size = 1.5", "search.cache_size", "1.5 is not a whole number"),
    ("[search]\ncache_size = 'many'", "search.cache_size", "'many' is not a whole number"),
    ("[search]\ndefault_category = 'x'", "search.default_category", "'x' is not one of general,"),
    (
        "[search]\ndefault_language = 'english'",
        "search.default_language",
        "is not a language such as en",
    ),
    ("[search]\ncache_tll = 1", "search.cache_tll", "(did you mean search.cache_ttl?)"),
    ("[serch]\ncache_ttl = 1", "serch", "is not a setting (did you mean search?)"),
    ("[Search]\ncache_ttl = 1", "Search", "(did you mean search?)"),
    ("[zzz]", "zzz", "is not a setting"),
    (f"{'z' * 3_000} = 1", f"{'z' * 56}..", "is not a setting"),
    ("cache_ttl = 1", "cache_ttl", "(did you mean fetch.cache_ttl?)"),
    ("hedge_delay = 1", "hedge_delay", "(did you mean search.hedge_delay?)"),
    ("search = 5", "search", "5 is not a table"),
    ("search = [1]", "search", "[1] is not a table"),
    ("profile = 5", "profile", "5 is not text"),
    ("profile = 'x'", "profile", "'x' does not exist; there is none"),
    ("profile = 'x'\n[profiles.a]\n[profiles.b]", "profile", "there is a, b"),
    ("profiles = 5", "profiles", "5 is not a table"),
    ("[profiles]\nnews = 'x'", "profiles.news", "'x' is not a table"),
    ("[profiles.news]\ncategory = 'x'", "profiles.news.category", "'x' is not one of general"),
    ("[profiles.news]\ncatgory = 'it'", "profiles.news.catgory", "(did you mean category?)"),
    ("[profiles.news]\nquery = 'it'", "profiles.news.query", "belongs to a call"),
    ("[profiles.news.category]\na = 1", "profiles.news.category", "{'a': 1} is not one of"),
    ("[profiles.News]", "profiles.News", "lower-case letters"),
    ("[profiles.a__b]", "profiles.a__b", "lower-case letters"),
    (
        "[web_search]\nmax_results_count = 20\n[profiles.a]\nlimit = 30",
        "profiles.a.limit",
        "30 is not a whole number from 1 to 20",
    ),
    (
        "[web_search]\nmax_results_count = 5",
        "web_search.max_results_count",
        "default_results_count must not be above max_results_count",
    ),
    (
        "[web_search]\nrequest_delay_range = [5, 1]",
        "web_search.request_delay_range",
        "from the smaller to the larger",
    ),
    (
        "[web_search]\nrequest_delay_range = [5]",
        "web_search.request_delay_range",
        "is not a list of 2, each a whole number from 0 to 60,000",
    ),
    ("[web_search]\nrequest_delay_range = 5", "web_search.request_delay_range", "5 is not a list"),
    ("[web_search]\nmax_content_size = '2TB'", "web_search.max_content_size", "such as 2MB"),
    ("[web_search]\nmax_content_size = 5", "web_search.max_content_size", "from 1,024 to 52,428,"),
    ("[web_search]\nrotate_user_agents = 'x'", "web_search.rotate_user_agents", "true or false"),
    ("[web_fetch]\nuser_agent = 'é'", "web_fetch.user_agent", "'é' is not printable ASCII of at"),
    ("[instances]\npublic = true", "instances.public", "True is not one of auto, on, off"),
    ("[instances]\nmin_grade = 'D'", "instances.min_grade", "'D' is not one of A+, A, B, C, F"),
    ("[instances]\nown = 5", "instances.own", "it is not a list of text"),
    ("[instances]\nown = [5]", "instances.own", "it is not a list of text"),
    (
        "[instances]\nown = 'a.example'",
        "instances.own",
        "'a.example' is not an address with http:// or",
    ),
    ("[instances]\nown = 'ftp://a.example/'", "instances.own", "is not an http or https address"),
    ("[instances]\nown = 'http:///x'", "instances.own", "is not an http or https address"),
    ("[instances]\nown = 'http://a.example/?q'", "instances.own", "without ? and #"),
    ("[instances]\nown = 'http://a.example/#'", "instances.own", "without ? and #"),
    ("[instances]\nown = 'http://a b.example/'", "instances.own", "is not an http or https"),
    ("[instances]\nown = 'http://a.example:99999/'", "instances.own", "is not an http or https"),
    ("[instances]\nown = 'http://[::1/'", "instances.own", "is not an http or https address"),
    ("[server]\nstructured_output = 'yes'", "server.structured_output", "one of auto, on, off"),
    (
        "[server]\ntools = ['web_serch']",
        "server.tools",
        "'web_serch' is not one of web_search, web_fetch, read_page, answer, search_corpus",
    ),
    ("[server]\ntools = 5", "server.tools", "5 is not a list of web_search, web_fetch"),
    ("[server]\ntool_names = 'x'", "server.tool_names", "'x' is not a table of text"),
    (
        "[server.tool_names]\nweb_serch = 'x'",
        "server.tool_names",
        "'web_serch' is not a tool (did you mean web_search?): name one of web_search, web_fetch,",
    ),
    (
        "[server.tool_names]\nweb_search = 'web_fetch'",
        "server.tool_names",
        "'web_fetch' names both web_search and web_fetch: rename one of them",
    ),
    (
        "[server.tool_names]\nanswer = 'ask.me'",
        "server.tool_names",
        "'ask.me' cannot be the name of answer: choose 1 to 63 ASCII letters, digits, - and _",
    ),
    ("[server.tool_names]\nanswer = ''", "server.tool_names", "'' cannot be the name of answer"),
    ("[server.tool_names]\nanswer = 5", "server.tool_names", "5 is not a table of text"),
    (
        "[server]\ntool_prefix = '1'",
        "server.tool_prefix",
        "'1web_search' cannot be the name of web_search: choose 1 to 63 ASCII letters",
    ),
    (
        f"[server]\ntool_prefix = '{'x' * 54}'",
        "server.tool_prefix",
        "starting with a letter or _",
    ),
    ("[server]\ntool_timeout = 4", "server.tool_timeout", "4 is not a number from 5 to 600"),
    (
        f"[search]\ncache_ttl = {'9' * 4_000}",
        "search.cache_ttl",
        "a huge number is not a number from",
    ),
    (f"[search]\ncache_ttl = 0x{'f' * 5_000}", "search.cache_ttl", "is not a number"),
    (f"{'a.' * 1_000}b = 1", "a", "is not a setting"),
    (f"[instances]\nown = {'[' * 50}{']' * 50}", "instances.own", "it is not a list of text"),
]


@pytest.mark.parametrize(
    ("text", "field", "message"),
    BAD_FILES,
    ids=[row[0].replace("\n", " ")[:60] for row in BAD_FILES],
)
def test_a_mistake_in_the_file_is_told(text, field, message, write, refusal):
    path = write(text)
    error = refusal(path=path)
    assert error.code == ErrorCode.INVALID_ARGUMENT
    assert error.field == field
    assert message in error.message
    assert error.origin == f"file {path}"
    assert len(error.message) < 250 + len(str(path))


_ADDRESS = "an http or https address without user name, ? and #, or empty"
PATTERNS = {
    "embedding.model": "at most 200 visible ASCII characters without spaces",
    "embedding.url": _ADDRESS,
    "http.allowed_hosts": "a host such as search.example.org, [::1] or 192.0.2.1:8765",
    "http.allowed_origins": "an origin such as https://app.example.org, without a path",
    "http.host": "a host name or IP address, such as 127.0.0.1 or ::1",
    "instances.categories": "1 to 60 characters without commas",
    "instances.blocked": "a host such as search.example.org",
    "instances.source": "an http or https address, or empty",
    "open_sources.contact": "an email address or URL without spaces and parentheses, or empty",
    "open_sources.npm_url": _ADDRESS,
    "open_sources.photon_url": _ADDRESS,
    "own.source": "an http or https address without ? and #, or empty",
    "providers.google.search_engine_id": "at most 100 ASCII letters, digits, -, _ and :",
    "quality.demoted_domains": "a domain or pattern in lower case, such as docs.rs, *.gov or */docs/*",
    "quality.preferred_domains": "a domain or pattern in lower case, such as docs.rs, *.gov or */docs/*",
    "redis.prefix": "1 to 64 ASCII letters, digits, -, _, . and :",
    "rerank.model": "at most 200 visible ASCII characters without spaces",
    "rerank.url": _ADDRESS,
    "search.default_language": "a language such as en, a region such as en-US, all or auto",
    "server.traces": _ADDRESS,
    "storage.namespace": "1 to 64 ASCII letters, digits, -, _ and .",
    "web_fetch.user_agent": "printable ASCII of at most 256 characters",
}


def patterned(model: type[BaseModel], table: str = "") -> Iterator[str]:
    """Name the settings whose texts, or the texts in whose lists, have a pattern."""
    rules = model.model_json_schema()["properties"]
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from patterned(field.annotation, f"{table}{name}.")
        elif "pattern" in rules[name].get("items", rules[name]):
            yield f"{table}{name}"


def test_every_setting_with_a_pattern_is_in_the_table():
    assert sorted(patterned(Settings)) == sorted(PATTERNS)


@pytest.mark.parametrize(("key", "wanted"), PATTERNS.items(), ids=PATTERNS)
def test_a_text_that_matches_no_pattern_is_answered_in_words(key, wanted, write, refusal):
    table, _, name = key.rpartition(".")
    is_list = isinstance(value_of(Settings(), key), list)
    wrong = "é, é"
    value = json.dumps([wrong] if is_list else wrong, ensure_ascii=False)
    error = refusal(path=write(f"[{table}]\n{name} = {value}"))
    assert error.message.endswith(f": '{wrong}' is not {wanted}")


@pytest.mark.parametrize("key", [key for key, wanted in PATTERNS.items() if wanted == _ADDRESS])
def test_an_address_that_may_hold_a_password_is_not_shown(key, write, refusal):
    table, _, name = key.rpartition(".")
    error = refusal(path=write(f"[{table}]\n{name} = 'https://me:hunter2@a.example/'"))
    assert error.message.endswith(f": it is not {_ADDRESS}")


BAD_ENVIRONMENTS = [
    ({"SEARX_MCP_SEARCH__CACHE_TTL": "soon"}, "search.cache_ttl", "'soon' is not a number"),
    ({"SEARX_MCP_SEARCH__CACHE_TLL": "1"}, "search.cache_tll", "SEARX_MCP_SEARCH__CACHE_TTL?"),
    ({"SEARX_MCP_SEARCH_CACHE_TTL": "1"}, "search_cache_ttl", "SEARX_MCP_SEARCH__CACHE_TTL?"),
    ({"SEARX_MCP_CONFG": "x"}, "confg", "did you mean SEARX_MCP_CONFIG?"),
    (
        {"SEARX_MCP_NODES": "x"},
        "nodes",
        "nodes (from environment SEARX_MCP_NODES): is not a setting",
    ),
    ({"searx_mcp_zzz": "1"}, "zzz", "is not a setting"),
    ({"SEARX_MCP_": "1"}, "", "is not a setting"),
    ({"SEARX_MCP_ZZZ": ""}, "zzz", "is not a setting"),
    ({f"SEARX_MCP_{'Z' * 3_000}": ""}, f"{'z' * 56}..", "is not a setting"),
    ({"SEARX_MCP_SEARCH": "1"}, "search", "'1' is not a table"),
    ({"SEARX_MCP_SEARCH": "{"}, "search", "'{' is not a table"),
    ({"SEARX_MCP_SEARCH": '{"x": 1}'}, "search.x", "is not a setting"),
    ({"SEARX_MCP_PROFILE": "x"}, "profile", "'x' does not exist"),
    ({"SEARX_MCP_PROFILES__NEWS": "x"}, "profiles.news", "'x' is not a table"),
    ({"SEARX_MCP_PROFILES__NEWS__X": "x"}, "profiles.news.x", "is unknown"),
    ({"SEARX_MCP_PROFILES__NEWS__X__Y": "x"}, "profiles.news.x", "is unknown"),
    ({"SEARX_MCP_SEARCH": '{"a":' * 100_000}, "search", "is not a table"),
    ({"SEARX_MCP_SEARCH": f'{{"cache_ttl":{"9" * 5_000}}}'}, "search", "is not a table"),
    ({"SEARX_MCP_SEARCH__CACHE_TTL": "\udcff"}, "search.cache_ttl", "is not a number"),
    ({"SEARX_MCP_INSTANCES__OWN": "[" * 100_000}, "instances.own", "it is not a list"),
    ({"SEARX_MCP_INSTANCES__CREDENTIALS": "[" * 100_000}, "instances.credentials", "a list of"),
    ({"SEARX_MCP_INSTANCES__OWN": "[1"}, "instances.own", "is not a list"),
    (
        {"SEARX_MCP_INSTANCES__OWN": "a.example"},
        "instances.own",
        "'a.example' is not an address with http://",
    ),
    (
        {"SEARXNG_URL": "http://a.example;b.example"},
        "instances.own",
        "'b.example' is not an address with http://",
    ),
]


@pytest.mark.parametrize(
    ("environ", "field", "message"),
    BAD_ENVIRONMENTS,
    ids=[str(row[0])[:60] for row in BAD_ENVIRONMENTS],
)
def test_a_mistake_in_the_environment_is_told(environ, field, message, refusal):
    error = refusal(environ=environ)
    assert error.field == field
    assert message in error.message
    assert len(error.message) < 350
    assert f"environment {next(iter(environ))}".startswith(error.origin.rstrip("."))


@pytest.mark.parametrize("name", ["FETCH__NOPE", "STORAGE__DIRECTORY", "POOL__X"])
def test_a_setting_that_shares_only_its_table_with_another_is_not_taken_for_it(name, refusal):
    assert refusal(environ={f"SEARX_MCP_{name}": "x"}).message.endswith(": is not a setting")
    assert refusal(overrides={name.lower().replace("__", "."): 1}).message.endswith("not a setting")


@pytest.mark.parametrize(
    ("overrides", "field", "message"),
    [
        ({"search.cache_ttl": "x"}, "search.cache_ttl", "'x' is not a number"),
        ({"search.cache_ttl.x": 1}, "search.cache_ttl", "{'x': 1} is not a number"),
        ({"search": 1}, "search", "1 is not a table"),
        ({"hedge_delay": 1}, "hedge_delay", "(did you mean search.hedge_delay?)"),
        ({"profile.x": 1}, "profile", "{'x': 1} is not text"),
        ({"search.cache_ttl": "a" * 10_000}, "search.cache_ttl", "aaa..."),
    ],
)
def test_a_mistake_in_an_argument_is_told(overrides, field, message, refusal):
    error = refusal(overrides=overrides)
    assert error.field == field
    assert message in error.message
    assert error.origin.startswith("argument ")
    assert len(error.message) < 250


def test_the_key_that_was_changed_is_blamed_for_a_broken_pair(refusal):
    error = refusal(
        environ={"SEARX_MCP_WEB_SEARCH__DEFAULT_RESULTS_COUNT": "50"},
        overrides={
            "web_search.max_results_count": 40,
            "web_search.max_redirects": None,
        },
    )
    assert error.field in {"web_search.default_results_count", "web_search.max_results_count"}
    assert error.origin != "default"


def test_invalid_toml_is_told_with_its_line(write, refusal):
    path = write("[search]\ncache_ttl = \n")
    error = refusal(path=path)
    assert (error.field, error.origin) == ("config", "--config")
    assert str(path) in error.message
    assert "line 2" in error.message


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfe[\x00", "it is not UTF-8 text"),
        (b"x = '\xff'", "it is not UTF-8 text"),
        (b"x = '\0'", "invalid character"),
        (b"x = " + b"[" * 100_000, "nested too deeply"),
        (b"x = " + b"[" * 50_000 + b"]" * 50_000, "nested too deeply"),
        (b"x = " + b"{a=" * 50_000, "nested too deeply"),
        (b"[search]\ncache_ttl = " + b"9" * 5_000, "4300 digits"),
        (b"#" + b"x" * 1_000_000, "it is longer than 1,000,000 bytes"),
    ],
    ids=["UTF-16", "Latin-1", "NUL", "lists", "closed lists", "tables", "number", "long"],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path, content, reason, refusal):
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    error = refusal(path=path)
    assert (error.field, error.origin) == ("config", "--config")
    assert f"{path} cannot be read as TOML: " in error.message
    assert reason in error.message
    assert len(error.message) < 350


def test_a_broken_file_in_the_users_folder_is_told(no_configuration_of_the_user, refusal):
    no_configuration_of_the_user.parent.mkdir()
    no_configuration_of_the_user.write_text("=", encoding="utf-8")
    error = refusal()
    assert str(no_configuration_of_the_user) in error.message
    assert error.origin == ""


@pytest.mark.parametrize("name", ["missing.toml", "."])
def test_a_file_that_is_named_must_be_there(name, tmp_path, refusal):
    path = tmp_path / name
    error = refusal(environ={"SEARX_MCP_CONFIG": str(path)})
    assert (error.field, error.origin) == ("config", "environment SEARX_MCP_CONFIG")
    assert f"{path} is not a file" in error.message
    assert refusal(path=path).origin == "--config"


def test_a_file_that_cannot_be_opened_is_told(write, monkeypatch, refusal):
    path = write("")

    def refuse(*args: object, **options: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("searx_mcp.files._open", refuse)
    assert "Permission denied" in refusal(path=path).message


@pytest.mark.parametrize(
    "url",
    [
        "https://user:hunter2@a.example/",
        "https://hunter2@a.example/",
        "http:user:hunter2@a.example",
        "user:hunter2@a.example",
        "ftp://user:hunter2@a.example/",
        "http:///user:hunter2@a.example",
        "http://a.example/?key=user:hunter2@x",
        ["https://user:hunter2@a.example/"],
    ],
)
def test_a_password_in_an_address_is_refused_and_never_shown(url, refusal):
    error = refusal(overrides={"instances.own": [url]})
    assert error.field == "instances.own"
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({"instances": {"own": [url]}})
    assert "hunter2" not in str(caught.value)
    assert "instances.own" in str(caught.value)


def test_building_settings_reads_no_environment_and_no_file(
    monkeypatch, no_configuration_of_the_user
):
    no_configuration_of_the_user.parent.mkdir()
    no_configuration_of_the_user.write_text("[search]\ncache_ttl = 1\n", encoding="utf-8")
    monkeypatch.setenv("SEARX_MCP_SEARCH__CACHE_SIZE", "1")
    monkeypatch.setenv("SEARXNG_URL", "http://a.example/")
    assert Settings().search.cache_ttl == 300
    assert Settings().search.cache_size == 256
    assert Settings().instances.own == ()


def test_loading_reads_only_the_environment_it_is_given(monkeypatch):
    monkeypatch.setenv("SEARX_MCP_SEARCH__CACHE_SIZE", "1")
    monkeypatch.setenv("SEARX_MCP_ZZZ", "1")
    assert load(environ={}).settings == Settings()


def test_settings_are_frozen():
    with pytest.raises(ValidationError):
        Settings().profile = "x"  # type: ignore[misc] # the test is that this fails
    assert ServerConfig().structured_output == "auto"


@pytest.mark.slow
def test_importing_the_settings_loads_no_slow_library():
    code = (
        "import sys, searx_mcp.settings.sources;"
        "print([name for name in ('aiohttp', 'selectolax', 'mcp', 'yarl', 'click', 'rich',"
        " 'markdownify', 'apscheduler', 'fake_useragent', 'dotenv') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


SECRET_KEYS = sorted(key for key in SECRETS if "." in key)


def test_every_setting_that_is_a_secret_is_known():
    assert len(SECRET_KEYS) >= 5
    assert {*SECRET_KEYS, "redis", "fetch.headers"} <= SECRETS


@pytest.mark.parametrize("key", SECRET_KEYS)
@pytest.mark.parametrize("value", ["hunter2 hunter2\n", ["hunter2"], {"is": "hunter2"}, 4711])
def test_no_wrong_value_of_a_secret_is_shown(write, key, value):
    table, _, name = key.rpartition(".")
    text = json.dumps(value) if not isinstance(value, dict) else '{ is = "hunter2" }'
    path = write(f"[{table}]\n{name} = {text}\n")
    try:
        settings, origins = load(path=path, environ={})
        said = f"{settings!r} {[row.value for row in effective(settings, origins)]}"
    except SettingsError as exc:
        said = f"{exc} {exc.__cause__}"
    assert "hunter2" not in said
    assert "4711" not in said


@pytest.mark.parametrize("key", SECRET_KEYS)
@pytest.mark.parametrize("text", ['{{"{}": "hunter2"', "hunter2", '["hunter2"]'])
def test_no_wrong_table_of_a_secret_is_shown(key, text, refusal):
    table, _, name = key.rpartition(".")
    variable = f"SEARX_MCP_{table.upper().replace('.', '__')}"
    error = refusal(environ={variable: text.format(name)})
    assert error.field == table


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("EMBEDDING_SERVER_URL", "http://127.0.0.1:1/v1", "embedding.url", "http://127.0.0.1:1/v1"),
        ("EMBEDDING_SERVER_API_KEY", "abc", "embedding.key", SecretStr("abc")),
        ("EMBEDDING_MODEL_NAME", "nomic-embed-text", "embedding.model", "nomic-embed-text"),
        ("SIMILARITY_THRESHOLD", "0.72", "embedding.threshold", 0.72),
        ("EMBEDDING_TOKENS_SIZE", "512", "corpus.chunk_tokens", 512),
        ("CONCURRENCY", "2", "corpus.concurrency", 2),
        ("GOOGLE_API_KEY", "abc", "providers.google.key", SecretStr("abc")),
        ("GOOGLE_SEARCH_ENGINE_ID", "01:a_b", "providers.google.search_engine_id", "01:a_b"),
        ("GOOGLE_SAFE_SEARCH", "strict", "providers.google.safe_search", "strict"),
        ("BRAVE_API_KEY", "abc", "providers.brave.key", SecretStr("abc")),
        ("DATA_DIR", "/srv/data", "storage.folder", "/srv/data"),
        ("REQUEST_TIMEOUT_MS", "20000", "web_fetch.default_timeout", 20.0),
        ("REQUEST_TIMEOUT_MS", "1500", "web_fetch.default_timeout", 1.5),
        ("MCP_RESPONSE_TOKEN_BUDGET", "30000", "server.response_token_budget", 30_000),
        ("MCP_TOOL_TIMEOUT", "120", "server.tool_timeout", 120.0),
        ("SEARX_MCP_NAMESPACE", "team", "storage.namespace", "team"),
        ("MCP_TRANSPORT", "streamable-http", "server.transport", "streamable-http"),
        ("MCP_HOST", "0.0.0.0", "http.host", "0.0.0.0"),
        ("MCP_PORT", "9000", "http.port", 9_000),
        ("MCP_AUTH_TOKEN", "0123456789abcdef", "http.token", SecretStr("0123456789abcdef")),
    ],
)
def test_a_name_of_the_specification_is_another_name_of_a_setting_which_beats_it(
    variable: str, text: str, key: str, value: object
) -> None:
    settings, origins = load(environ={variable: text})
    assert attrgetter(key)(settings) == value
    assert origins[key] == f"environment {variable}"
    ours = f"SEARX_MCP_{key.replace('.', '__')}".upper()
    _, origins = load(environ={variable: text, ours: "5" if variable.endswith("_MS") else text})
    assert origins[key] == f"environment {ours}"


@pytest.mark.parametrize("text", ["soon", "-5", "20000ms", "9" * 40])
def test_milliseconds_that_are_no_number_are_refused_with_the_name_of_the_variable(
    text: str,
) -> None:
    with pytest.raises(SettingsError, match="environment REQUEST_TIMEOUT_MS"):
        load(environ={"REQUEST_TIMEOUT_MS": text})
