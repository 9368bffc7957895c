"""`searx-mcp instances`: what a person and a program get."""

import asyncio
import contextlib
import io
import json
import os
import pty
import re
import signal
import sys

import pytest

from searx_mcp import SearxClient
from searx_mcp.cli import instances as commands
from searx_mcp.cli.running import ExitCode
from searx_mcp.models.instance import InstanceReport, InstanceState, PoolReport, Tier
from searx_mcp.ops.instance_reports import Selection
from searx_mcp.search.background.membership import PULL_INTERVAL
from searx_mcp.sources.open.config import OpenSourcesConfig
from searx_mcp.sources.open.table import engines_of
from searx_mcp.storage.sqlite_state import FILE_NAME, open_store
from searx_mcp.testing.clock import FakeClock
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb

REPORT = {
    "url", "tier", "grade", "state", "score", "successes", "failures", "consecutive_failures",
    "latency", "p50", "p95", "success", "format", "json_enabled", "last_verdict", "last_detail",
    "reason", "score_parts", "version", "limiter", "link_token", "drift", "retry_after",
    "budget_left", "source", "engines", "uptime", "last_checked", "rate_limited_until",
}  # fmt: skip
CONFIG = {"version", "limiter", "link_token", "public_instance", "engines", "categories"}
CHANGE = {"subject", "changed", "message", "notes"}
LINE = {"name", "spent", "left", "limit", "free_at", "pace", "dry_at"}


@pytest.fixture
def environment(tmp_path):
    """Makes an environment with public instances on loopback."""

    def make(*public: FakeSearxng, web: FakeWeb | None = None, **more: str) -> dict[str, str]:
        catalog = tmp_path / "instances.json"
        rows = [{"url": fake.url, "tls_grade": "A+", "http_grade": "A+"} for fake in public]
        catalog.write_text(
            json.dumps(
                {"schema_version": 1, "listed_at": "2026-08-05T00:00:00Z", "instances": rows}
            )
        )
        reachable = [*public, *([web] if web else [])]
        return {
            "SEARX_MCP_FETCH__ALLOW_PRIVATE": json.dumps([fake.origin for fake in reachable]),
            "SEARX_MCP_SEARCH__ATTEMPT_TIMEOUT": "20",
            "SEARX_MCP_WEB_SEARCH__REQUEST_DELAY_RANGE": "[0, 0]",
            **({} if web else {"SEARX_MCP_INSTANCES__CATALOG": str(catalog)}),
            **more,
        }

    return make


@pytest.fixture
async def public():
    async with FakeSearxng(link_token=True) as fake:
        yield fake


async def json_of(run_cli, *arguments: str, **environment: str):
    ran = await run_cli("instances", *arguments, "--json", **environment)
    assert ran.code == ExitCode.DONE, ran.err
    return json.loads(ran.out)


async def test_list_as_json(run_cli, public, environment):
    data = await json_of(run_cli, "list", **environment(public))
    assert set(data) == {"instances", "catalog_source", "catalog_age_days", "month", "notes"}
    assert set(data["instances"][0]) == REPORT


async def test_open_sources_are_a_tier_of_their_own(run_cli):
    on = {"SEARX_MCP_OPEN_SOURCES__MODE": "auto", "COLUMNS": "80"}
    data = await json_of(run_cli, "list", "--tier", "open", **on)
    assert {row["tier"] for row in data["instances"]} == {"open"}
    sources = [row["source"] for row in data["instances"]]
    assert sorted(sources) == sorted(engines_of(OpenSourcesConfig()))
    ran = await run_cli("instances", "list", "--tier", "open", **on)
    assert re.search(r"api\.openverse\.org +open +new +180 +now", ran.out)
    ran = await run_cli("instances", "show", "api.openverse.org", **on)
    assert "operator    WordPress Foundation, US" in ran.out
    assert "in 1.0 d  0 of 180" in ran.out
    assert "/config" not in ran.out
    ran = await run_cli("instances", "check", "api.openverse.org", **on)
    assert ran.code == ExitCode.USAGE
    assert "api.openverse.org" in ran.err


async def test_list_sorts_and_filters(run_cli, environment):
    own = {"SEARX_MCP_INSTANCES__OWN": "http://10.0.0.2/;http://10.0.0.1/"}
    ran = await run_cli("instances", "list", "-s", "host", "-r", **environment(**own))
    assert [line.split()[0] for line in ran.out.splitlines()[1:3]] == [
        "http://10.0.0.2",
        "http://10.0.0.1",
    ]
    few = ("list", "--state", "new", "--tier", "OWN", "--host", "0.1", "--usable")
    data = await json_of(run_cli, *few, **environment(**own))
    assert [row["url"] for row in data["instances"]] == ["http://10.0.0.1/"]
    none = await run_cli("instances", "list", "--state", "half-open", **environment(**own))
    assert none.out.startswith("No instances match.")


@pytest.mark.smoke
async def test_an_instance_is_shown_by_its_address_or_its_host(run_cli, public, environment):
    there = environment(public)
    assert "not read yet" in (await run_cli("instances", "show", public.url, **there)).out
    await run_cli("instances", "test", public.url, "red pandas", **there)
    data = await json_of(run_cli, "show", public.url, **there)
    again = await json_of(run_cli, "show", public.url.split("/")[2], **there)
    assert set(data) == set(again)
    assert set(data) == {
        "instance", "source", "listed", "outcomes", "timers", "windows", "config", "open_source",
    }  # fmt: skip
    assert set(data["instance"]) == REPORT
    assert set(data["outcomes"][0]) == {
        "at", "verdict", "format", "status_code", "elapsed_ms", "detail",
    }  # fmt: skip
    assert set(data["windows"][0]) == {"limit", "seconds", "format", "spent"}
    assert data["outcomes"][0]["verdict"] == "full"
    assert "panda" not in json.dumps(data)


async def test_a_wrong_host_is_told_with_the_one_that_was_meant(run_cli, public, environment):
    host = public.url.split("/")[2]
    for command in ("show", "check", "reset", "test"):
        query = ["x"] if command == "test" else []
        ran = await run_cli("instances", command, host[:-1], *query, **environment(public))
        assert ran.code == ExitCode.USAGE
        assert f"did you mean {host}?" in ran.err


async def test_check_shows_who_answers(run_cli, environment):
    async with FakeSearxng() as gone:
        pass
    async with FakeSearxng(link_token=True) as there:
        ran = await run_cli("instances", "check", **environment(there, gone))
        data = await json_of(run_cli, "check", there.url, **environment(there, gone))
    assert (ran.code, "1 of 2 are up." in ran.out) == (ExitCode.DONE, True)
    assert "allowed" in ran.out
    assert "on, token" in ran.out
    assert set(data) == {"checks", "offline"}
    (check,) = data["checks"]
    assert set(check) == {"url", "alive", "elapsed_ms", "robots", "detail", "config"}
    assert set(check["config"]) == CONFIG


async def test_check_says_when_this_machine_is_offline(run_cli, environment):
    async with FakeSearxng() as one, FakeSearxng() as two:
        pass
    ran = await run_cli("instances", "check", **environment(one, two))
    assert ran.code == ExitCode.FAILED
    assert ran.out == "0 of 2 are up.\n"
    assert "this machine seems to be offline, so it does not count against them" in ran.err


async def test_refresh_tells_what_was_kept_and_dropped(run_cli, environment):
    rows: dict[str, dict[str, object]] = {
        f"https://i{n}.searx-test.org/": {"version": "2026.8.22"} for n in range(12)
    }
    rows["http://x.searx-test.org/"] = {}
    rows["https://t.searx-test.org/"] = {"version": "1", "analytics": True}
    rows["https://w.searx-test.org/"] = {"version": "1", "tls": {"grade": "F"}}
    body = json.dumps({"instances": rows})
    async with FakeWeb({"/i.json": FakePage(body, content_type="application/json")}) as web:
        there = environment(web=web, SEARX_MCP_INSTANCES__SOURCE=web.url("/i.json"))
        ran = await run_cli("instances", "refresh", **there)
        data = await json_of(run_cli, "refresh", **there)
        assert len(web.requests) == 2, "each time, though it is not due"
        listed = await json_of(run_cli, "list", **there)
        web.put("/i.json", FakePage("", status=503))
        failed = await run_cli("instances", "refresh", **there)
    assert "15 listed, 12 kept, 12 in the pool." in ran.out
    assert "1 dropped: not https" in ran.out
    assert "The list has changed." in ran.out
    assert set(data) == {
        "source", "listed", "kept", "dropped", "in_pool", "changed", "listed_at", "problem",
    }  # fmt: skip
    assert data["dropped"] == {"not_https": 1, "analytics": 1, "tls_grade": 1}
    assert data["changed"] is False
    assert "The list was not updated: The server answered with status 503." in failed.out
    assert failed.err == "", "the reason is not logged as well"
    assert len(listed["instances"]) == 12
    ran = await run_cli("instances", "refresh", **environment())
    assert ran.code == ExitCode.FAILED
    assert "The list was not updated: You use your own list" in ran.out


@pytest.mark.smoke
async def test_own_instances_are_added_and_removed(run_cli, public, environment):
    async with FakeSearxng(formats=("html", "json")) as own:
        there = environment(public)
        added = await run_cli("instances", "add", own.url, **there)
        again = await run_cli("instances", "add", own.url, **there)
        searched = await run_cli("search", "x", "--no-fetch-content", "--json", **there)
        data = await json_of(run_cli, "remove", own.url, **there)
    assert added.out == f"{own.url} is one of your own instances.\n"
    assert "Running servers notice within 15 seconds" in added.err
    assert again.out.startswith("Nothing changed: ")
    assert json.loads(searched.out)["instance_used"] == own.url
    assert set(data) == CHANGE
    assert data["changed"] is True


async def test_what_is_in_the_settings_is_named_with_its_place(run_cli, public, environment):
    own = {"SEARXNG_URL": "http://10.0.0.1/"}
    same = await json_of(run_cli, "add", "http://10.0.0.1/", **environment(public, **own))
    assert same["changed"] is False
    ran = await run_cli("instances", "remove", "10.0.0.1", **environment(public, **own))
    assert ran.code == ExitCode.SETTINGS
    assert (
        "instances.own (from environment SEARXNG_URL): http://10.0.0.1/ comes from the settings"
        in ran.err
    )
    blocked = {"SEARX_MCP_INSTANCES__BLOCKED": "b.example"}
    data = await run_cli("instances", "unblock", "b.example", "--json", **environment(**blocked))
    assert data.code == ExitCode.SETTINGS
    assert json.loads(data.out)["field"] == "instances.blocked"


async def test_hosts_are_blocked_unblocked_and_reset(run_cli, public, environment):
    there = environment(public)
    blocked = await json_of(run_cli, "block", public.url, **there)
    assert blocked["subject"] == "127.0.0.1"
    assert (await json_of(run_cli, "list", **there))["instances"] == []
    ran = await run_cli("instances", "unblock", "127.0.0.1", **there)
    assert ran.out == "127.0.0.1 is no longer blocked; searches use it if it is on the list.\n"
    await run_cli("instances", "test", public.url, "x", **there)
    ran = await run_cli("instances", "reset", public.url, **there)
    assert "was reset" in ran.out
    assert "still count against its budget" in ran.err
    (row,) = (await json_of(run_cli, "list", **there))["instances"]
    assert (row["successes"], row["budget_left"]) == (0, 0)


@pytest.mark.smoke
async def test_a_test_tells_its_cost(run_cli, public, environment):
    there = environment(public)
    ran = await run_cli("instances", "test", public.url, "x", "--format", "html", **there)
    assert "full: 10 of 10 rows read in" in ran.out
    assert "Cost: 1 request. Left now: 0 at this instance, 1 across all public" in ran.out
    refused = await run_cli("instances", "test", public.url, "x", "--json", **there)
    assert refused.code == ExitCode.UNAVAILABLE
    assert json.loads(refused.out)["retry_after"] > 0
    empty = await run_cli("instances", "test", public.url, "", **there)
    assert empty.code == ExitCode.USAGE
    assert public.searches == 1
    async with FakeSearxng(formats=("json", "html"), engines_failed=True) as own:
        mine = environment(public, SEARXNG_URL=own.url)
        free = await run_cli("instances", "test", own.url, "x", "-c", "it", **mine)
        data = await json_of(run_cli, "test", own.url, "x", **mine)
    assert own.requests[0].parameters["categories"] == "it"
    assert "Cost: none" in free.out
    assert "engines without an answer" in free.out
    assert set(data) == {
        "instance", "verdict", "format", "status_code", "elapsed_ms", "detail", "rows_seen",
        "rows_used", "answers", "infoboxes", "suggestions", "unresponsive_engines", "cost", "left",
        "month_left",
    }  # fmt: skip


@pytest.mark.smoke
async def test_an_export_is_imported_elsewhere(run_cli, public, environment, tmp_path):
    there = environment(public)
    await run_cli("instances", "add", "http://10.0.0.9/", **there)
    ran = await run_cli("instances", "export", "-o", str(tmp_path / "one.json"), **there)
    assert "one.json: 1 choice, 0 instances\n" in ran.err
    await run_cli("instances", "block", "b.example", **there)
    file = tmp_path / "export.json"
    ran = await run_cli("instances", "export", "-o", str(file), **there)
    assert f"{file}: 2 choices, 0 instances\n" in ran.err
    shown = json.loads((await run_cli("instances", "export", "--json", **there)).out)
    assert set(shown) == {"schema_version", "exported_at", "searx_mcp", "choices", "records"}
    elsewhere = {**there, "SEARX_MCP_STORAGE__FOLDER": str(tmp_path / "elsewhere")}
    taken = await run_cli("instances", "import", str(file), **elsewhere)
    assert "Added http://10.0.0.9/\nBlocked b.example\n" in taken.out
    data = await json_of(run_cli, "import", str(file), **elsewhere)
    assert data == {"added": [], "blocked": [], "learned": 0, "known": len(shown["records"])}


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b'{"schema_version": 1, "choices": {"own": ["x"]}}', "file.choices.own.0"),
        (b"\xff\xfe", "file"),
        (None, "file"),
    ],
    ids=["a wrong field", "no text", "no file"],
)
async def test_what_cannot_be_imported_is_named(run_cli, environment, tmp_path, content, field):
    file = tmp_path / "export.json"
    if content is not None:
        file.write_bytes(content)
    ran = await run_cli("instances", "import", str(file), "--json", **environment())
    assert ran.code == ExitCode.USAGE
    assert json.loads(ran.out)["field"] == field


async def test_an_export_may_come_from_standard_input(run_cli, environment, monkeypatch):
    exported = {"schema_version": 1, "choices": {"blocked": ["b.example"]}}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(exported)))
    ran = await run_cli("instances", "import", "-", **environment())
    assert ran.out.startswith("Blocked b.example\nRecords: 0 newer, 0 older and skipped.")
    monkeypatch.setattr(sys, "stdin", io.StringIO("{"))
    assert (await run_cli("instances", "import", "-", **environment())).code == ExitCode.USAGE


async def test_an_export_that_cannot_be_written_is_said(run_cli, environment, tmp_path):
    path = tmp_path / "no" / "x"
    ran = await run_cli("instances", "export", "-o", str(path), **environment())
    assert ran.code == ExitCode.USAGE
    assert f"--output: {path} cannot be written" in ran.err


async def test_the_budget_is_a_ledger_with_a_forecast(run_cli, public, environment):
    async with FakeSearxng() as idle:
        there = environment(public, idle)
        none = await run_cli("instances", "budget", **there)
        await run_cli("instances", "test", public.url, "x", **there)
        ran = await run_cli("instances", "budget", **there)
        everything = await run_cli("instances", "budget", "--all", **there)
        data = await json_of(run_cli, "budget", **there)
    assert "2 instances not used in the last 30 days" in none.out
    assert "All public instances: 1 of 4 searches used in the last 30 days" in ran.out
    assert "runs out " in ran.out
    assert "1 more not used" in ran.out
    assert idle.url.removesuffix("/") in everything.out
    assert set(data) == {"at", "instances", "month", "notes"}
    assert set(data["instances"][0]) == set(data["month"]) == LINE
    own = await run_cli("instances", "budget", **environment(SEARXNG_URL="http://10.0.0.1/"))
    assert "your own have no budget" in own.out


async def test_what_is_no_terminal_is_not_watched(run_cli, environment):
    for more in ([], ["--json"]):
        ran = await run_cli("instances", "list", "--watch", *more, **environment())
        assert ran.code == ExitCode.USAGE
        assert "--json" in ran.err


@pytest.mark.slow
async def test_a_watched_list_is_drawn_again_and_ends_with_ctrl_c(start_program, tmp_path):
    config = tmp_path / "empty.toml"
    config.write_text(f'[storage]\nfolder = "{tmp_path / "state"}"\n')
    terminal, inside = pty.openpty()
    more = {"COLUMNS": "80", "LINES": "20", "TERM": "xterm", "NO_COLOR": "1"}
    process = await start_program(
        *(sys.executable, "-m", "searx_mcp", "instances", "list", "--watch"),
        env={**os.environ, **more, "SEARX_MCP_CONFIG": str(config)},
        stdin=inside,
        stdout=inside,
        stderr=inside,
    )
    os.close(inside)
    shown = b""
    while shown.count(b"next try") < 2:
        shown += await asyncio.to_thread(os.read, terminal, 65_536)
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # Linux says so when the other end is closed
        while more_shown := await asyncio.to_thread(os.read, terminal, 65_536):
            shown += more_shown
    os.close(terminal)
    text = shown.decode()
    assert await process.wait() == ExitCode.INTERRUPTED, text
    assert "success" not in text, "that is for a wider terminal"
    assert "use a taller window or a filter" in text
    assert "\x1b[?1049l" in text, "the screen before it is back"
    assert "Traceback" not in text


async def test_a_server_that_runs_follows_with_its_next_search(
    run_cli, public, environment, settings_for, catalog_of, tmp_path
):
    clock, folder = FakeClock(), tmp_path / "shared"
    there = environment(public, SEARX_MCP_STORAGE__FOLDER=str(folder))
    async with FakeSearxng(formats=("html", "json")) as own:
        state = open_store(folder / FILE_NAME)
        async with SearxClient(
            settings_for(public), catalog=catalog_of(public), state=state, clock=clock
        ) as server:
            assert [row.url for row in (await server.instances()).instances] == [public.url]
            await run_cli("instances", "block", "127.0.0.1", **there)
            clock.advance(PULL_INTERVAL)
            assert (await server.instances()).instances == ()
            await run_cli("instances", "add", own.url, **there)
            clock.advance(PULL_INTERVAL)
            response = await server.search("x", fetch_content=False)
    assert response.instance_used == own.url


ROW = InstanceReport(
    url="https://a.example/", tier=Tier.A, grade="A", state=InstanceState.HEALTHY, score=0.5
)


class Watched:
    """A pool that is looked at so many times, and is left then."""

    def __init__(self, report: PoolReport, times: int) -> None:
        self._report = report
        self.left = times

    async def list(self, selection: Selection) -> PoolReport:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        return self._report


@pytest.mark.parametrize(
    ("count", "rows", "more"), [(3, 3, ""), (4, 4, ""), (5, 4, "… and 1 more"), (0, 0, "")]
)
async def test_a_watched_list_has_the_rows_that_a_window_holds(
    run_cli, monkeypatch, count, rows, more
):
    monkeypatch.setattr(commands, "WATCH_INTERVAL", 0.0)
    report = PoolReport(instances=(ROW,) * count, notes=("A note.",))
    pool = Watched(report, times=3)
    monkeypatch.setattr(commands, "opened_admin", lambda *_, **__: contextlib.nullcontext(pool))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    ran = await run_cli("instances", "list", "--watch", LINES="10", FORCE_COLOR="1", TERM="xterm")
    shown = ran.out
    assert pool.left == 0
    assert shown.count("healthy") == rows * 3
    assert shown.count("A note.") == 3
    assert more in shown
    assert ("use a taller window" in shown) is bool(more)


async def test_a_watched_list_is_drawn_as_often_as_the_help_says(run_cli):
    told = " ".join((await run_cli("instances", "list", "--help")).out.split())
    assert f"every {commands.WATCH_INTERVAL:g} seconds" in told
