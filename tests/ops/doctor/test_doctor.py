"""Which checks are made of a machine, of own instances and of the list of public ones."""

import datetime as dt
import json
import re
from email.utils import format_datetime
from pathlib import Path

import pytest
from aiohttp import web

from searx_mcp.cli.running import ExitCode
from searx_mcp.models.instance import InstanceReport, InstanceState, MonthReport, PoolReport, Tier
from searx_mcp.ops.doctor import doctor
from searx_mcp.testing.loopback import LoopbackServer
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb

JSON = ("html", "json")
MACHINE = ["configuration", "data_folder", "clock", "proxy"]
WAY = ["dns", "tcp", "tls"]
INSTANCE = [*WAY, "healthz", "json", "limiter", "engine_errors", "engines"]


@pytest.fixture
def known(tmp_path):
    """Give the environment of an own instance with a state folder that is kept."""

    def make(fake: FakeSearxng) -> dict[str, str]:
        return {"SEARXNG_URL": fake.url, "SEARX_MCP_STORAGE__FOLDER": str(tmp_path / "state")}

    return make


@pytest.fixture
def search_once(run_cli, known):
    async def run(fake: FakeSearxng, **more: str):
        arguments = ("search", "tea", "--no-fetch-content", "--json")
        return await run_cli(*arguments, **known(fake), **more)

    return run


async def test_an_instance_that_works_has_nothing_wrong(diagnose):
    async with FakeSearxng(formats=JSON) as fake:
        found = await diagnose(fake.url)
        asked = [request.target for request in fake.requests]
    assert found.code == ExitCode.DONE
    assert [*found.checks] == MACHINE + INSTANCE
    assert {check["status"] for check in found.checks.values()} == {"ok"}
    assert found.data["summary"] == "Everything works."
    assert asked == ["/healthz", "/search?format=json", "/config", "/stats/errors"]
    assert fake.requests[0].headers["User-Agent"].startswith("searx-mcp/")


async def test_what_searches_learned_of_engines_is_told(known, diagnose, search_once):
    async with FakeSearxng(formats=JSON, engines_failed=[("brave", "CAPTCHA")]) as fake:
        await search_once(fake)
        found = await diagnose(**known(fake))
    said = found.said("searches")
    assert said.startswith("Results come from alpha ")
    assert "In cooldown: brave (CAPTCHA)." in said


async def test_a_hung_instance_skips_what_needs_it(diagnose, monkeypatch):
    monkeypatch.setattr("searx_mcp.ops.doctor.checks.STEP_TIMEOUT", 0.2)
    async with FakeSearxng(hang=True) as fake:
        found = await diagnose(fake.url)
        monkeypatch.setattr(doctor, "STEP_TIMEOUT", 0.1)
        given_up_first = await diagnose(fake.url)
    assert found.failed == ["healthz"]
    assert "but nothing answers" in found.said("healthz")
    assert "but nothing answers" in given_up_first.said("healthz")
    for name in INSTANCE[INSTANCE.index("json") :]:
        assert found.said(name) == "Needs /healthz."
    assert found.status("clock") == "skipped"


async def test_all_own_instances_are_looked_at_without_an_address(diagnose):
    async with FakeSearxng(formats=JSON) as one, FakeSearxng() as other:
        found = await diagnose(SEARXNG_URL=f"{one.url};{other.url}")
    subjects = [each["subject"] for each in found.data["examinations"]]
    assert subjects == ["this machine", one.url, other.url]
    assert found.failed == ["json"]


@pytest.mark.parametrize(
    ("break_it", "believed"),
    [
        (lambda fake: fake.fail(429, {"Retry-After": "7200"}), "limits our requests"),
        (lambda fake: fake.challenge(), "challenge"),
        (lambda fake: fake.block(), "home page"),
        (lambda fake: fake.drop(), "connection"),
    ],
    ids=["limit", "challenge", "block", "down"],
)
async def test_after_a_fix_the_doctor_shows_the_wait_and_the_next_search_works(
    known, diagnose, search_once, break_it, believed
):
    async with FakeSearxng(formats=JSON) as fake:
        break_it(fake)
        for _ in range(4):
            assert (await search_once(fake)).code != ExitCode.DONE
        ill = await diagnose(**known(fake))
        fake.recover()
        found = await diagnose(**known(fake))
        served = await search_once(fake)
    assert "pool" in ill.failed
    assert believed in ill.said("pool")
    assert "so searches use it again" in found.said("pool")
    assert found.code == served.code == ExitCode.DONE
    assert json.loads(served.out)["results_count"] > 0


async def test_what_no_check_can_see_is_told_by_what_the_last_search_came_to(
    known, diagnose, search_once
):
    async with FakeSearxng(formats=JSON) as fake:
        untried = await diagnose(**known(fake))
        await search_once(fake)
        served = await diagnose(**known(fake))
        fake.fail_engines()
        await search_once(fake, SEARX_MCP_SEARCH__CACHE_TTL="0")
        fake.recover()
        found = await diagnose(**known(fake))
    assert untried.said("pool") == "Not searched yet."
    assert served.said("pool").startswith("It is healthy")
    assert (found.code, found.failed) == (ExitCode.FAILED, ["pool"])
    assert "last search there failed" in found.said("pool")
    assert found.fix("pool")[-1] == f"searx-mcp instances test {fake.url} tea"


def public(source: FakeWeb, **more: str) -> dict[str, str]:
    return {
        "SEARX_MCP_INSTANCES__SOURCE": source.url("/instances.json"),
        "SEARX_MCP_FETCH__ALLOW_PRIVATE": source.origin,
        **more,
    }


async def test_without_an_own_instance_the_way_to_the_public_ones_is_looked_at(diagnose):
    async with FakeWeb({"/instances.json": FakePage("{}")}) as source:
        found = await diagnose(**public(source))
        asked = source.requests
    assert found.code == ExitCode.DONE
    assert [*found.checks] == [*MACHINE, *WAY, "list", "budget"]
    assert [request.path for request in asked] == ["/instances.json"]
    assert "If-Modified-Since" in asked[0].headers
    assert re.match(r"\d+ listed; \d+ searches left", found.said("budget"))
    assert found.status("clock") == "ok"


async def test_a_list_that_is_never_fetched_is_not_looked_at(diagnose, tmp_path):
    rows = [{"url": f"https://s{n}.example/", "tls_grade": "A"} for n in range(12)]
    catalog = {"schema_version": 1, "listed_at": "2026-08-05T00:00:00Z", "instances": rows}
    (tmp_path / "instances.json").write_text(json.dumps(catalog))
    (tmp_path / "no_source.toml").write_text('[instances]\nsource = ""\n')
    async with FakeWeb({"/instances.json": FakePage("{}")}) as source:
        named = {"SEARX_MCP_INSTANCES__CATALOG": str(tmp_path / "instances.json")}
        of_a_file = await diagnose(**public(source, **named))
        reachable = {"SEARX_MCP_FETCH__ALLOW_PRIVATE": source.origin}
        without = await diagnose(SEARX_MCP_CONFIG=str(tmp_path / "no_source.toml"), **reachable)
    assert not source.requests
    assert [*of_a_file.checks] == [*without.checks] == [*MACHINE, "budget"]
    assert of_a_file.said("budget").startswith("12 listed; ")


async def test_a_list_that_cannot_be_fetched_is_told(diagnose):
    async with FakeWeb({}) as source:
        found = await diagnose(**public(source))
        refused = await diagnose(**public(source, SEARX_MCP_FETCH__ALLOW_PRIVATE="10.0.0.1:80"))
    assert found.failed == refused.failed == ["list"]
    assert found.said("list") == "The list's server answered with status 404."
    assert "[instances]\nsource = " in found.checks["list"]["fix"]


async def test_a_month_that_is_used_up_is_a_warning(diagnose, monkeypatch):
    month = MonthReport(capacity=30, spent=24, left_now=0, left_month=0, kept_back=6)
    row = InstanceReport(
        url="https://a.example/", tier=Tier.A, grade="A", state=InstanceState.NEW, score=0.5
    )

    async def report(_admin):
        return PoolReport(instances=(row,), month=next(months))

    months = iter([month, None])
    monkeypatch.setattr("searx_mcp.ops.instance_admin.InstanceAdmin.list", report)
    async with FakeWeb({"/instances.json": FakePage("{}")}) as source:
        environment = public(source, SEARX_MCP_STORAGE__STATE="false")
        spent = await diagnose(**environment)
        unlimited = await diagnose(**environment)
    assert (spent.failed, spent.warnings) == ([], ["budget"])
    assert spent.said("budget").endswith("none of them now.")
    assert unlimited.said("budget") == "1 listed."


async def test_nobody_to_ask_is_a_failure(diagnose):
    found = await diagnose(SEARX_MCP_INSTANCES__PUBLIC="off")
    assert (found.code, found.failed) == (ExitCode.FAILED, ["budget"])
    assert found.fix("budget")[-1] == "searx-mcp instances own up"


@pytest.mark.parametrize(
    ("environment", "said", "fix"),
    [
        (
            {"SEARX_MCP_WEB_SEARCH__DEFAULT_TIMEOUT": "soon"},
            "Web_search.default_timeout",
            "in environment SEARX_MCP_WEB_SEARCH__DEFAULT_TIMEOUT",
        ),
        ({"SEARX_MCP_WEB_SEARCH__DEFAULT_TIMOUT": "9"}, "did you mean", "Correct or remove"),
        (
            {"SEARX_MCP_INSTANCES__CATALOG": "/nowhere/instances.json"},
            "/nowhere/instances.json",
            "Correct the path",
        ),
        ({"SEARX_MCP_NETWORK__CA_FILE": "/nowhere/ca.pem"}, "/nowhere/ca.pem", "PEM"),
    ],
    ids=["wrong value", "unknown key", "missing catalog", "missing certificate"],
)
async def test_a_wrong_setting_skips_the_rest(diagnose, environment, said, fix):
    found = await diagnose(**environment)
    assert (found.code, found.failed) == (ExitCode.FAILED, ["configuration"])
    assert said in found.said("configuration")
    assert fix in found.checks["configuration"]["fix"]
    assert [found.status(name) for name in MACHINE[1:]] == ["skipped"] * 3


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that takes no other")
async def test_a_data_folder_that_cannot_be_made_is_told(diagnose):
    async with FakeSearxng(formats=JSON) as fake:
        found = await diagnose(fake.url, SEARX_MCP_STORAGE__FOLDER="/proc/self/state")
    assert found.failed == ["data_folder"]
    assert "/proc/self/state" in found.said("data_folder")
    assert found.fix("data_folder")[0]


async def test_a_data_folder_that_is_a_file_is_a_wrong_setting(diagnose, tmp_path):
    file = tmp_path / "file"
    file.touch()
    async with FakeSearxng(formats=JSON) as fake:
        found = await diagnose(fake.url, SEARX_MCP_STORAGE__FOLDER=str(file / "state"))
    assert found.failed == ["configuration"]
    assert str(file) in found.said("configuration")


@pytest.mark.parametrize(
    ("date", "age", "status"),
    [
        (dt.datetime(2020, 1, 1, tzinfo=dt.UTC), "", "warning"),
        (-dt.timedelta(hours=1), "3600", "ok"),
        ("soon", "", "skipped"),
        ("1 Aug 2026 12:00:00 +99999999999999", "", "skipped"),
        ("1 Jan 0001 00:00:00 -0000", "", "warning"),
    ],
    ids=["wrong", "cached", "unreadable", "time zone of many digits", "first year"],
)
async def test_the_clock_is_compared_with_that_of_whoever_answers(diagnose, date, age, status):
    async def respond(_request, _received):
        # Not when the tests are collected: the first one may run minutes later.
        at = dt.datetime.now(dt.UTC) + date if isinstance(date, dt.timedelta) else date
        text = at if isinstance(at, str) else format_datetime(at, usegmt=True)
        return web.Response(body=b"OK", headers={"Date": text, "Age": age})

    async with LoopbackServer(respond) as server:
        found = await diagnose(server.base)
    assert found.status("clock") == status


async def test_a_proxy_is_used_and_its_failures_are_told(diagnose):
    async with FakeSearxng() as gone:
        pass
    async with FakeSearxng(status=407) as proxy:
        more = {"SEARX_MCP_NETWORK__NO_PROXY": "localhost"}
        down = await diagnose(
            "https://searx.example.org/", SEARX_MCP_NETWORK__PROXY=f"http://{gone.origin}", **more
        )
        address = f"http://me:hunter2@{proxy.origin}"
        closed = await diagnose(
            "https://searx.example.org/", SEARX_MCP_NETWORK__PROXY=address, **more
        )
        more["SEARX_MCP_NETWORK__HTTP_PROXY"] = f"http://{gone.origin}"
        one_down = await diagnose(
            "https://searx.example.org/", SEARX_MCP_NETWORK__PROXY=address, **more
        )
    assert down.failed == one_down.failed == ["proxy", "healthz"]
    assert "[network]\nproxy = " in down.checks["proxy"]["fix"]
    assert closed.failed == ["healthz"]
    assert "hunter2" not in closed.out
    shown = f"http://***@{proxy.origin}."
    assert closed.said("proxy") == f"Requests go through {shown}"
    assert {closed.said(name) for name in WAY} == {f"Left to the proxy {shown}"}
    assert closed.fix("healthz")[0]


async def test_the_first_search_without_json_says_how_to_switch_it_on(search_once):
    async with FakeSearxng() as own:
        ran = [await search_once(own) for _ in range(2)]
    first, second = (json.loads(each.out).get("notes", []) for each in ran)
    (said,) = [note for note in first if "searx-mcp doctor" in note]
    assert said.startswith(f"JSON is off at {own.origin}, so its pages are read instead: add json")
    assert not [note for note in second if "JSON" in note]


@pytest.mark.parametrize(
    ("mode", "more", "status"),
    [
        ("auto", {}, "warning"),
        ("fallback", {}, "warning"),
        ("auto", {"SEARX_MCP_OPEN_SOURCES__CONTACT": "me@example.org"}, "ok"),
        ("off", {}, None),
        ("auto", {"SEARXNG_URL": "http://127.0.0.1:1/"}, None),
        ("fallback", {"SEARXNG_URL": "http://127.0.0.1:1/"}, "warning"),
    ],
    ids=["auto", "fallback", "given", "off", "never asked beside an own one", "asked after it"],
)
async def test_a_contact_is_asked_for_where_open_sources_are_asked(diagnose, mode, more, status):
    settings = {"SEARX_MCP_OPEN_SOURCES__MODE": mode, "SEARX_MCP_INSTANCES__PUBLIC": "off"}
    found = await diagnose(**settings, **more)
    assert found.checks.get("contact", {}).get("status") == status
    if status == "warning":
        assert found.fix("contact")[1:] == ["[open_sources]", 'contact = "you@example.org"']


GOOGLE = {"GOOGLE_API_KEY": "AIza-hunter2", "GOOGLE_SEARCH_ENGINE_ID": "0175:omuauf"}


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, None),
        (GOOGLE, "google has a key, 100 requests left."),
        ({"BRAVE_API_KEY": "BSA-hunter2"}, "brave has a key, 1,000 requests left."),
        (
            {"GOOGLE_API_KEY": "AIza-hunter2"},
            "google has a key but no search_engine_id, so it is not used.",
        ),
        (
            {**GOOGLE, "SEARX_MCP_PROVIDERS__MODE": "off"},
            "Keys are set, but providers.mode is off: keyed providers are not used.",
        ),
    ],
)
async def test_keyed_providers_are_told_by_their_keys_and_budgets_and_never_asked(
    diagnose, environment, said
):
    found = await diagnose(SEARX_MCP_INSTANCES__PUBLIC="off", **environment)
    check = found.checks.get("providers")
    # From 2027 on, it adds that Google ended its API (`test_machine`).
    assert (check and check["detail"].partition(" Google ended")[0]) == said
    # Who has a key needs no instance.
    is_asked = said is not None and "requests left" in said
    assert found.status("budget") == ("ok" if is_asked else "failed")
    assert "hunter2" not in found.out
