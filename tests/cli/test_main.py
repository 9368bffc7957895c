"""The commands as a person meets them."""

import gc
import json
import re
import sys

import pytest

from searx_mcp import __version__
from searx_mcp.cli.main import EPILOG, exit_code
from searx_mcp.cli.running import ExitCode
from searx_mcp.content.json_layout import laid_out
from searx_mcp.errors import (
    DeadlineError,
    ErrorCode,
    InvalidArgumentError,
    NoInstancesError,
    PolicyError,
    SettingsError,
    UnavailableReason,
)
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article

PAGE = FakePage(article("Bees", ["Bees dance to tell each other where the flowers are."] * 2))


@pytest.fixture
async def own():
    """An own instance that gives JSON."""
    async with FakeSearxng(formats=("html", "json")) as fake:
        yield fake


def environment(*reachable, own=(), **more: str) -> dict[str, str]:
    return {
        "SEARX_MCP_INSTANCES__OWN": json.dumps([fake.url for fake in own]),
        "SEARX_MCP_FETCH__ALLOW_PRIVATE": json.dumps([fake.origin for fake in reachable]),
        "SEARX_MCP_SEARCH__ATTEMPT_TIMEOUT": "20",
        "SEARX_MCP_WEB_SEARCH__DEFAULT_TIMEOUT": "120",
        "SEARX_MCP_WEB_SEARCH__USE_RANDOM_INSTANCES": "false",
        **more,
    }


@pytest.mark.usefixtures("patient_search")
async def test_a_search_shows_summaries_whole_pages_or_everything_as_json(run_cli):
    async with FakeWeb({"/a": PAGE}) as web:
        async with FakeSearxng(links=web.links, formats=("html", "json")) as own:
            there = environment(web, own=[own])
            ran = await run_cli("search", "bees", **there)
            whole = await run_cli("search", "bees", "--pages", **there)
            data = json.loads((await run_cli("search", "bees", "--json", **there)).out)
            room = ("--json", "--max-tokens", "200")
            cut = json.loads((await run_cli("search", "bees", *room, **there)).out)
    assert ran.code == ExitCode.DONE
    assert "Found 1 search result for query 'bees'" in ran.out
    assert web.url("/a") in ran.out
    assert "Bees dance to tell each other" in ran.out
    assert "1 of 1 pages read" in ran.out
    assert "# Bees" not in ran.out
    assert "# Bees" in whole.out
    assert data["query"] == "bees"
    assert data["results"][0]["content"]["markdown"].startswith("# Bees")
    assert data["attempts"][0]["verdict"] == "thin"
    assert "attempts" not in cut, "what a model needs comes first where room is short"


async def test_a_search_goes_on_where_it_is_told(run_cli, own):
    call = ("search", "bees", "--no-fetch-content", "-n", "2", "--json")
    later = await run_cli(*call, "--page", "2", **environment(own=[own]))
    skipped = await run_cli(*call, "--offset", "10", **environment(own=[own]))
    beyond = await run_cli(*call[:-1], "--page", "40", **environment(own=[own]))
    data = json.loads(later.out)
    assert (data["page"], data["results_count"], data["total_results"]) == (2, 2, 10)
    assert [row["url"] for row in json.loads(skipped.out)["results"]] == [
        row["url"] for row in data["results"]
    ]
    assert "The list ends before page 40" in f"{beyond.out}{beyond.err}"


async def test_open_sources_alone_are_asked_or_nobody_is(run_cli, own):
    ran = await run_cli("search", "bees", "--source", "open", **environment(own=[own]))
    assert (ran.code, own.requests) == (ExitCode.USAGE, [])
    assert "open sources are switched off" in ran.err


async def test_a_profile_is_chosen_by_name(run_cli, tmp_path, own):
    config = tmp_path / "searx-mcp.toml"
    config.write_text("[profiles.few]\nresults_count = 2\nfetch_content = false\n")
    arguments = ("--config", str(config), "search", "bees", "--json", "--profile")
    ran = await run_cli(*arguments, "few", **environment(own=[own]))
    wrong = await run_cli(*arguments, "many", **environment(own=[own]))
    assert json.loads(ran.out)["results_count"] == 2
    assert wrong.code == ExitCode.USAGE
    assert "few" in wrong.err


async def test_a_profile_keeps_the_domains_that_the_command_does_not_name(run_cli, tmp_path, own):
    config = tmp_path / "searx-mcp.toml"
    config.write_text('[profiles.docs]\nallowed_domains = ["docs.example"]\n')
    named = ("--config", str(config))
    arguments = (*named, "search", "x", "--no-fetch-content", "--profile", "docs")
    await run_cli(*arguments, **environment(own=[own]))
    await run_cli(*arguments, "--allowed-domains", "a.example", **environment(own=[own]))
    asked = [request.parameters["q"] for request in own.requests if "q" in request.parameters]
    assert asked == ["x site:docs.example", "x site:a.example"]


@pytest.mark.smoke
async def test_a_search_nobody_could_serve_shows_who_was_asked_and_exits_with_three(run_cli):
    async with FakeSearxng(status=429) as own, FakeSearxng(status=429) as other:
        ran = await run_cli("search", "bees", **environment(own=[own]))
        as_json = await run_cli("search", "bees", "--json", **environment(own=[other]))
    assert ran.code == as_json.code == ExitCode.UNAVAILABLE
    assert "rate limited" in ran.err
    for fake, piped in ((own, ran.err), (other, as_json.err)):
        rows = [line for line in piped.splitlines() if fake.origin in line]
        assert [row.split()[1] for row in rows] == ["json", "html"]
        assert rows[0].rstrip().endswith("The instance limits our requests.")
    assert "Traceback" not in ran.err
    assert json.loads(as_json.out)["error_type"] == "no_instances_available"


async def test_four_kinds_of_unavailability_read_differently(run_cli, tmp_path):
    async with FakeSearxng() as gone:
        pass
    catalog = tmp_path / "instances.json"
    row = {"url": gone.url, "tls_grade": "A+", "http_grade": "A+"}
    listed = {"schema_version": 1, "listed_at": "2026-08-05T00:00:00Z", "instances": [row]}
    catalog.write_text(json.dumps(listed))
    offline = await run_cli(
        "search", "x", **environment(gone, SEARX_MCP_INSTANCES__CATALOG=str(catalog))
    )
    nothing = await run_cli("search", "x", **environment(SEARX_MCP_INSTANCES__PUBLIC="off"))
    own_down = await run_cli("search", "x", **environment(own=[gone]))
    messages = {ran.err.strip().splitlines()[-2] for ran in (offline, nothing, own_down)}
    assert len(messages) == 3
    assert {ran.code for ran in (offline, nothing, own_down)} == {ExitCode.UNAVAILABLE}
    assert "offline" in offline.err
    assert "SEARXNG_URL" in nothing.err
    assert "Start it" in own_down.err


async def test_robots_are_obeyed_unless_a_person_says_otherwise(run_cli):
    robots = FakePage("User-agent: *\nDisallow: /\n", content_type="text/plain")
    async with FakeWeb({"/a": PAGE, "/robots.txt": robots}) as web:
        refused = await run_cli("fetch", web.url("/a"), "--json", **environment(web))
        read = await run_cli("fetch", web.url("/a"), "--ignore-robots", **environment(web))
    assert json.loads(refused.out)["error_type"] == "robots_disallowed"
    assert (refused.code, read.code) == (ExitCode.FAILED, ExitCode.DONE)


async def test_a_person_is_told_when_a_busy_site_may_be_asked_again(run_cli):
    busy = FakePage("slow", status=429, headers={"Retry-After": "37"})
    async with FakeWeb({"/a": busy}) as web:
        ran = await run_cli("fetch", web.url("/a"), **environment(web))
    assert "Retry in 37 seconds. " in ran.err


async def test_all_wrong_arguments_are_told_as_they_are_typed(run_cli):
    ran = await run_cli("search", "x", "-n", "0", "-l", "elvish", "--timeout", "0")
    assert ran.code == ExitCode.USAGE
    assert all(f"{name}: " in ran.err for name in ("--results-count", "--language", "--timeout"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["search"], "QUERY"),
        (["search", "x", "-c", "shoping"], "did you mean shopping?"),
        (["search", "x", "--nonsense"], "--nonsense"),
        (["nonsense"], "nonsense"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else "",
)
async def test_a_wrong_argument_is_named_and_exits_with_two(run_cli, arguments, words):
    ran = await run_cli(*arguments, SEARX_MCP_INSTANCES__PUBLIC="off")
    assert ran.code == ExitCode.USAGE
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert len(ran.err) < 1_000


async def test_a_program_reads_of_a_profile_that_is_not_there_too(run_cli):
    ran = await run_cli("search", "x", "--profile", "nope", "--json")
    assert ran.code == ExitCode.USAGE
    assert json.loads(ran.out)["error_type"] == "invalid_argument"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("search --limit 3 x", "--results-count"),
        ("search --max-results=3 x", "--results-count"),
        ("search --exclude_domains a.example x", "--blocked-domains"),
        ("search --safesearch 1 x", "--safe-search"),
        ("search --josn x", "--json"),
        ("search --no-fetch x", "--no-fetch-content"),
        ("read --limit 3 x", "--max-results"),
        ("answer --budget 3 x", "--expansion-budget"),
        ("fetch --max-len 3 x", "--max-chars"),
        ("instances own up --ports 4", "--port"),
        ("--confg x config", "--config"),
        ("sarch x", "search"),
        ("corpus verfy x", "verify"),
        ("configure", "config"),
        ("search --region x", ""),
        ("search --format json x", ""),
        ("fetch --limits 3 x", "--limit"),
        ("instances list --limit 4", ""),
        ("instances list --filter x", ""),
        ("serve --http", ""),
        ("--verbose config", ""),
        ("get x", ""),
        ("install", ""),
    ],
)
async def test_only_a_name_that_may_be_meant_is_proposed(run_cli, typed, meant):
    ran = await run_cli(*typed.split())
    assert ran.code == ExitCode.USAGE
    assert ran.err.startswith("searx-mcp: No such ")
    proposed = re.findall(r"Did you mean (\S+)\?$", ran.err.splitlines()[0])
    assert proposed == ([meant] if meant else [])
    assert ("mean" in ran.err) is bool(meant)


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"SEARX_MCP_WEB_SEARCH__DEFAULT_TIMEOUT": "soon"}, "web_search.default_timeout"),
        ({"SEARX_MCP_CONFIG": "/nowhere/searx-mcp.toml"}, "/nowhere/searx-mcp.toml"),
        ({"SEARX_MCP_LOG_LEVEL": "LOUD"}, "SEARX_MCP_LOG_LEVEL"),
        ({"SEARX_MCP_INSTANCES__CATALOG": "/nowhere/i.json"}, "instances.catalog"),
    ],
)
async def test_a_wrong_setting_is_named_and_exits_with_five(run_cli, more, field):
    ran = await run_cli("instances", "list", **more)
    assert ran.code == ExitCode.SETTINGS
    assert field in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("command", ["config", "paths", "corpus status", "instances own status"])
async def test_a_wrong_setting_is_told_to_programs_as_json(run_cli, command):
    ran = await run_cli(*command.split(), "--json", SEARX_MCP_SERCH="1")
    assert ran.code == ExitCode.SETTINGS
    assert json.loads(ran.out)["field"] == "serch"
    assert "serch (from environment SEARX_MCP_SERCH): is not a setting" in ran.err


async def test_wrong_usage_is_told_like_every_error_with_where_help_is(run_cli):
    ran = await run_cli("instances", "show")
    assert (ran.code, ran.out) == (ExitCode.USAGE, "")
    assert ran.err.splitlines() == [
        "searx-mcp: Missing argument 'HOST'.",
        "Usage: searx-mcp instances show [OPTIONS] HOST",
        "Try `searx-mcp instances show --help`.",
    ]
    alone = await run_cli("instances")
    assert (alone.code, alone.out) == (ExitCode.USAGE, "")
    assert alone.err == (await run_cli("instances", "--help")).out


async def test_instances_list_shows_the_bundled_pool_and_its_age(run_cli):
    ran = await run_cli("instances", "list")
    assert ran.code == ExitCode.DONE
    assert "paulgo.io" in ran.out
    assert "days old" in ran.out
    as_json = json.loads((await run_cli("instances", "list", "--json")).out)
    assert len(as_json["instances"]) > 20
    month = as_json["month"]
    assert month["spent"] == 0
    assert month["left_month"] + month["kept_back"] == month["capacity"] > 60
    assert (
        f"Public budget: {month['left_month']} of {month['left_month']} searches left this month, "
        f"{month['left_now']} available now; {month['kept_back']} held in reserve." in ran.out
    )


async def test_config_shows_values_and_where_they_come_from(run_cli, tmp_path):
    config = tmp_path / "searx-mcp.toml"
    config.write_text("[web_search]\ndefault_timeout = 12\n")
    more = {"SEARX_MCP_SEARCH__MAX_INSTANCES": "2", "SEARX_MCP_CONFIG": str(config)}
    ran = await run_cli("config", **more)
    assert re.search(r"web_search\.default_timeout\s+12\S*\s+file", ran.out)
    assert re.search(r"search\.max_instances\s+2\s+environment SEARX_MCP_SEARCH__", ran.out)
    assert re.search(r"web_fetch\.max_redirects\s+10\s+default", ran.out)
    assert re.search(r"web_fetch\.verify_ssl\s+true\s+default", ran.out)
    assert re.search(r'fetch\.tiers\s+\["npm", "github", ', ran.out)
    assert re.search(r"fetch\.robots\s+respect\s+default", ran.out)
    as_json = json.loads((await run_cli("config", "--json", **more)).out)
    assert as_json["search.max_instances"]["value"] == 2
    assert as_json["web_search.default_timeout"]["origin"] == f"file {config}"


@pytest.mark.parametrize(
    "command",
    [["config"], ["paths"], ["purge", "--yes"], ["instances", "list"], ["instances", "budget"]],
    ids=" ".join,
)
async def test_json_is_written_for_people_too(run_cli, tmp_path, command):
    """Letters as they are, and no line that a terminal would break."""
    folder = tmp_path / "földer"
    ran = await run_cli(*command, "--json", SEARX_MCP_STORAGE__FOLDER=str(folder))
    assert ran.out == laid_out(json.dumps(json.loads(ran.out), ensure_ascii=False)) + "\n"


async def test_the_demo_needs_no_network_and_shows_what_the_pool_learned(run_cli):
    ran = await run_cli("demo")
    assert ran.code == ExitCode.DONE
    for words in ("timeout", "rate limited", "engines failed", "What the pool learned", "JSON"):
        assert words in ran.out
    assert ran.out.count("3 of 3 pages read") == 2
    assert len(re.findall("(?m)^instance +format +verdict", ran.out)) == 2
    assert len(re.findall("(?m)^instance +tier", ran.out)) == 2


async def test_the_demo_gives_programs_both_searches_and_what_the_pool_learned(run_cli):
    searches = json.loads((await run_cli("demo", "--json")).out)["searches"]
    verdicts = [[each["verdict"] for each in search["response"]["attempts"]] for search in searches]
    assert verdicts == [["timeout", "rate_limited", "full"], ["engines_failed", "full"]]
    assert [search["response"]["total_results"] for search in searches] == [3, 3]
    assert [len(search["pool"]["instances"]) for search in searches] == [3, 2]


async def test_version_and_help_say_what_there_is(run_cli):
    assert __version__ in (await run_cli("--version")).out
    shown = (await run_cli("--help")).out
    for command in (
        *("stdio", "search", "fetch", "instances", "suggest", "config", "paths", "purge"),
        *("doctor", "selfcheck", "demo"),
    ):
        assert f"\n  {command} " in shown
    assert "Exit codes" in shown
    pool = (await run_cli("instances", "--help")).out
    for command in (
        *("add", "block", "budget", "check", "export", "import", "list"),
        *("own", "refresh", "remove", "reset", "show", "test", "unblock"),
    ):
        assert f"\n  {command} " in pool


async def test_on_a_terminal_no_command_shows_the_help(run_cli, monkeypatch):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    ran = await run_cli()
    assert ran.code == ExitCode.DONE
    assert "Usage: searx-mcp" in ran.out


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidArgumentError("query", "is empty"), ExitCode.USAGE),
        (SettingsError("a.b", "is wrong"), ExitCode.SETTINGS),
        (NoInstancesError("none", reason=UnavailableReason.OFFLINE), ExitCode.UNAVAILABLE),
        (DeadlineError("late"), ExitCode.DEADLINE),
        (PolicyError("no", code=ErrorCode.BLOCKED_PORT), ExitCode.FAILED),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_error_has_its_exit_code(error, code):
    assert exit_code(error) is code


def test_the_codes_are_those_that_the_help_names():
    """Scripts depend on the numbers, so they stand here too."""
    assert {code.name: code.value for code in ExitCode} == {
        "DONE": 0,
        "FAILED": 1,
        "USAGE": 2,
        "UNAVAILABLE": 3,
        "DEADLINE": 4,
        "SETTINGS": 5,
        "INTERRUPTED": 130,
    }
    by_signal = 143  # the system's own, 128 and SIGTERM
    assert sorted(map(int, re.findall(r"[0-9]+", EPILOG))) == [*sorted(ExitCode), by_signal]


async def test_a_raw_answer_is_saved_and_said_to_be_raw(run_cli, tmp_path, own):
    file = tmp_path / "answer.txt"
    ran = await run_cli(
        *("instances", "test", own.url, "red pandas", "-c", "it", "--format", "json"),
        *("--save", str(file)),
        **environment(own=[own]),
    )
    assert ran.code == ExitCode.DONE
    assert own.searches == 1
    head, _, body = file.read_bytes().partition(b"\n\n")
    assert head.startswith(b"HTTP 200\n")
    assert b"application/json" in head
    assert json.loads(body)["query"] == "red pandas"
    assert own.requests[-1].query["categories"] == "it"
    assert f"{file} holds the raw answer" in ran.err
    assert "Read it before you share it." in ran.err


async def test_without_an_answer_the_saved_file_is_empty_and_that_is_said(run_cli, tmp_path):
    file = tmp_path / "answer.txt"
    async with FakeSearxng() as own:
        own.drop()
        ran = await run_cli(
            *("instances", "test", own.url, "x", "--save", str(file)), **environment(own=[own])
        )
    assert file.read_bytes() == b""
    assert f"No complete answer came: {file} is empty." in ran.err


async def test_a_file_that_cannot_be_written_costs_no_search(run_cli, tmp_path):
    async with FakeSearxng() as own:
        there = environment(own=[own])
        file = str(tmp_path / "missing" / "x")
        ran = await run_cli("instances", "test", own.url, "x", "--save", file, **there)
    assert ran.code == ExitCode.USAGE
    assert "save: " in ran.err
    assert "cannot be written" in ran.err
    assert not own.requests


async def test_suggestions_are_printed_one_a_line(run_cli):
    async with FakeSearxng() as own:
        own.answer_with(b'["be", ["bees", "beer garden"]]', path="/autocompleter")
        ran = await run_cli("suggest", "be", **environment(own=[own]))
        words = await run_cli("suggest", "be", "careful", "--json", **environment(own=[own]))
        as_json = await run_cli("suggest", "be", "--json", **environment(own=[own]))
    assert (ran.code, ran.out) == (ExitCode.DONE, "bees\nbeer garden\n")
    assert json.loads(as_json.out) == {"query": "be", "suggestions": ["bees", "beer garden"]}
    assert json.loads(words.out)["query"] == "be careful"
    nobody = await run_cli("suggest", "be", **environment(SEARX_MCP_INSTANCES__PUBLIC="off"))
    assert (nobody.code, nobody.out) == (ExitCode.DONE, "")
    assert nobody.err.endswith("asked for them; `searx-mcp doctor` says whether they answer.\n")


@pytest.mark.parametrize("group", ["", "instances"])
async def test_the_list_of_commands_says_of_each_what_its_help_says(run_cli, group):
    words = group.split()
    listed = (await run_cli(*words, "--help")).out.partition("Commands:")[2].partition("\n\n")[0]
    rows = re.findall(r"^  (\w+) +(\S.*(?:\n {4,}\S.*)*)", listed, re.MULTILINE)
    assert len(rows) > 10
    for name, text in rows:
        told = " ".join((await run_cli(*words, name, "--help")).out.split())
        assert " ".join(text.split()).removesuffix("...").rstrip(".") in told


async def test_a_server_that_cannot_start_leaves_garbage_to_be_collected(run_cli):
    ran = await run_cli("stdio", SEARX_MCP_SERVER__TOOL_TIMEOUT="soon")
    assert ran.code == ExitCode.SETTINGS
    assert gc.isenabled()


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("group", ["", "instances", "instances own", "corpus", "instances list"])
async def test_help_fits_a_terminal_and_cuts_no_sentence(run_cli, group, columns):
    shown = (await run_cli(*group.split(), "--help", COLUMNS=str(columns))).out
    assert max(map(len, shown.splitlines())) <= columns
    assert "..." not in shown.partition("Commands:")[2]
