"""What is wrong with an instance that can be reached, found by asking it."""

import pytest
from aiohttp import web

from searx_mcp.cli.running import ExitCode
from searx_mcp.http.diagnosis import Reached
from searx_mcp.ops.doctor import doctor
from searx_mcp.ops.doctor.checks import CheckName, fine
from searx_mcp.testing.instance.index import FakeEngine
from searx_mcp.testing.loopback import LoopbackServer
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb

JSON = ("html", "json")
PASS_US = '[botdetection.ip_lists]\npass_ip = ["127.0.0.1", "172.16.0.0/12"]'
YAML_LIMITER = ["server:", "  limiter: false", "  public_instance: false"]


@pytest.fixture
def straight(monkeypatch):
    """Find the way to an instance fine, as that to a public one over https would be."""

    def make(**seen) -> None:
        async def check_path(runner, way):
            for name in (CheckName.DNS, CheckName.TCP, CheckName.TLS):
                runner.note(name, fine("As if."))
            for field, value in seen.items():
                setattr(way, field, value)

        monkeypatch.setattr(doctor, "check_path", check_path)

    return make


TROUBLES = {
    "limited": (lambda fake: fake.limit(), "json", "(status 429)", PASS_US),
    "sent home": (lambda fake: fake.block(), "json", "link token", "\n".join(YAML_LIMITER)),
    "listed as blocked": (
        lambda fake: fake.answer_with(b"IP is on BLOCKLIST - 127.0.0.1", status=429),
        *("json", "block list", "block_ip"),
    ),
    "failing searches": (
        lambda fake: fake.answer_with(b"", status=500),
        *("json", "failed with 500", "docker logs"),
    ),
    "strange searches": (
        lambda fake: fake.answer_with(b"<h1>It works!</h1>"),
        *("json", "A search returns status 200", "/search reach SearXNG"),
    ),
    "challenged searches": (
        lambda fake: fake.answer_with(b"<title>Just a moment...</title>", status=403),
        *("json", "challenge", "Anubis"),
    ),
    "a challenge": (lambda fake: fake.challenge(), "healthz", "challenge", "Anubis"),
    "down behind a proxy": (lambda fake: fake.fail(500), "healthz", "status 500", "docker logs"),
    "refused": (lambda fake: fake.fail(403), "healthz", "status 403", "/healthz through"),
    "a login page": (
        lambda fake: fake.redirect("https://login.example.org/?next=secret"),
        *("healthz", "https://login.example.org/", "without that page"),
    ),
    "moved": (
        lambda fake: fake.redirect("https://new.example.org/searx/healthz"),
        *("healthz", "has moved", "SEARXNG_URL=https://new.example.org/searx/"),
    ),
    "but not to an address": (
        lambda fake: fake.redirect("http://["),
        *("healthz", "not to an address", "docker logs"),
    ),
    "another program": (
        lambda fake: fake.answer_with(b"<h1>It works!</h1>", path="/healthz"),
        *("healthz", "different program", "docker ps"),
    ),
    "dropping": (lambda fake: fake.drop(), "healthz", "connection", "docker logs"),
}


@pytest.mark.parametrize(("trouble", "name", "said", "fix"), TROUBLES.values(), ids=TROUBLES)
async def test_an_instance_in_trouble_has_one_fix(diagnose, trouble, name, said, fix):
    async with FakeSearxng(formats=JSON) as fake:
        trouble(fake)
        found = await diagnose(fake.url)
    assert found.code == ExitCode.FAILED
    assert found.failed == [name]
    assert said in found.said(name)
    assert "secret" not in found.out
    assert fix in found.checks[name]["fix"]


@pytest.mark.parametrize(
    ("address", "passed"),
    [("192.168.1.2", '["192.168.1.7"]'), ("192.0.2.1", '["THE PUBLIC ADDRESS OF THIS MACHINE"]')],
    ids=["private", "public"],
)
async def test_who_may_pass_depends_on_where_the_instance_is(diagnose, straight, address, passed):
    straight(addresses=(address,), reached=Reached(address, "192.168.1.7"))
    async with FakeSearxng(formats=JSON) as fake:
        fake.limit()
        found = await diagnose(fake.url, "--own")
    assert found.fix("json")[-1] == f"pass_ip = {passed}"


async def test_connections_that_break_after_healthz_are_told(diagnose):
    async def respond(request, received):
        if received.path == "/healthz":
            return web.Response(body=b"OK")
        request.transport.abort()
        return web.Response()

    async with LoopbackServer(respond) as server:
        found = await diagnose(server.base)
    assert found.failed == ["json"]
    assert "docker logs" in found.checks["json"]["fix"]
    for name in ("limiter", "engine_errors"):
        assert "cannot be read: The connection failed" in found.said(name)


async def test_a_link_token_is_a_warning_with_its_lines(diagnose):
    async with FakeSearxng(formats=JSON, link_token=True) as fake:
        found = await diagnose(fake.url)
    assert (found.code, found.warnings) == (ExitCode.DONE, ["limiter"])
    assert "3 searches in 30 days" in found.said("limiter")
    assert found.fix("limiter")[1:] == YAML_LIMITER
    assert found.data["summary"] == "Nothing failed; 1 warning."


@pytest.mark.parametrize(
    ("config", "status", "said"),
    [
        (b'{"version": "1.1"}', "ok", "SearXNG 1.1: it does not report a limiter."),
        (b'{"limiter": {"enabled": false}}', "ok", "the limiter is off."),
        (
            b'{"limiter": {"enabled": true, "botdetection.ip_limit.link_token": false}}',
            "warning",
            "the limiter is on, and allows 4 requests for JSON an hour.",
        ),
        (b"<html>", "skipped", "Its /config is not available (status 200)."),
    ],
    ids=["old", "off", "on", "none"],
)
async def test_the_limiter_is_what_config_says(diagnose, config, status, said):
    async with FakeSearxng(formats=JSON) as fake:
        fake.answer_with(config, path="/config", content_type="application/json")
        found = await diagnose(fake.url)
    assert (found.status("limiter"), found.said("limiter")) == (status, said)
    assert found.status("engines") == "skipped"


ENGINES = [
    FakeEngine("alpha", ("general", "web")),
    FakeEngine("beta"),
    FakeEngine("gamma: 3", enabled=False),
]


async def test_some_failing_engines_are_a_warning_with_their_lines(diagnose):
    failed = [("alpha", "CAPTCHA"), ("zeta", "timeout"), ("eta", "no such key")]
    async with FakeSearxng(formats=JSON, engines=ENGINES, engines_failed=failed) as fake:
        found = await diagnose(fake.url)
    assert (found.code, found.warnings) == (ExitCode.DONE, ["engine_errors"])
    said = found.said("engine_errors")
    assert said == "Failing engines: alpha (CAPTCHA), eta (no such key), zeta (timeout)."
    assert found.fix("engine_errors")[1:] == [
        *("engines:", "  - name: alpha", "    disabled: true"),
        *("  - name: zeta", "    disabled: true"),
    ]
    assert found.said("engines") == "Working engines: general 1."


@pytest.mark.parametrize(
    ("given", "limit", "line"),
    [
        (3.0, "5", "    timeout: 4.7"),
        (4.6, "5", "    timeout: 4.7"),
        (4.7, "5", "    disabled: true"),
        (10.0, "5", "    disabled: true"),
        (10.0, "20", "    timeout: 19.7"),
        (1.0, "1.25", "    disabled: true"),
    ],
)
async def test_a_slow_engine_gets_more_time_only_as_far_as_a_search_waits(
    diagnose, given, limit, line
):
    engines = [FakeEngine("alpha", timeout=given), FakeEngine("beta")]
    failed = [("alpha", "timeout")]
    async with FakeSearxng(formats=JSON, engines=engines, engines_failed=failed) as fake:
        found = await diagnose(fake.url, SEARX_MCP_SEARCH__ATTEMPT_TIMEOUT=limit)
    assert found.fix("engine_errors")[-1] == line


@pytest.mark.parametrize(
    ("reason", "fix"),
    [
        ("no such key", "Update SearXNG"),
        ("HTTP connection error", "Check the instance's network"),
    ],
)
async def test_engines_that_no_setting_mends_want_something_else(diagnose, reason, fix):
    async with FakeSearxng(formats=JSON, engines_failed=[("alpha", reason)]) as fake:
        found = await diagnose(fake.url)
    assert found.fix("engine_errors")[0].startswith(fix)


BY_CATEGORY = [
    FakeEngine("alpha", ("general", "web")),
    FakeEngine("beta", ("general", "images", "wikimedia")),
    FakeEngine("gamma", ("music", "lyrics")),
    FakeEngine("delta", ("files",), enabled=False),
]


@pytest.mark.parametrize(
    ("engines", "failed", "said", "fix"),
    [
        (
            BY_CATEGORY,
            [("gamma", "timeout")],
            "Working engines: general 2, images 1; none for music.",
            "",
        ),
        (
            ENGINES,
            [("alpha", "CAPTCHA"), ("beta", "timeout")],
            "All 2 general engines fail.",
            'engines:\n  - name: "gamma: 3"\n    disabled: false',
        ),
        (
            [FakeEngine("alpha"), *(FakeEngine(f"e{n}", enabled=False) for n in range(4))],
            [("alpha", "CAPTCHA")],
            "All 1 general engines fail.",
            "\n".join(["engines:", *(f"  - name: e{n}\n    disabled: false" for n in range(3))]),
        ),
        (
            [FakeEngine("a", ("images",))],
            [],
            "There are no general engines.",
            "use_default_settings: true",
        ),
    ],
    ids=["by category", "all fail", "three are proposed", "none"],
)
async def test_engines_that_work_are_counted_or_others_are_proposed(
    diagnose, engines, failed, said, fix
):
    async with FakeSearxng(formats=JSON, engines=engines, engines_failed=failed) as fake:
        found = await diagnose(fake.url)
    assert found.said("engines") == said
    assert found.checks["engines"]["fix"].partition("\n")[2] == fix
    assert found.failed == (["engines"] if fix else [])


@pytest.mark.parametrize(
    "answer", [(b"{}", 404), (b"[]", 200)], ids=["missing", "another document"]
)
async def test_engine_errors_may_not_be_told(diagnose, answer):
    body, status = answer
    async with FakeSearxng(formats=JSON) as fake:
        fake.answer_with(body, status=status, path="/stats/errors")
        found = await diagnose(fake.url)
    assert found.code == ExitCode.DONE
    assert found.status("engine_errors") == "skipped"
    assert found.status("engines") == "ok"


@pytest.mark.parametrize(
    ("prefix", "named", "right"),
    [("/searx", "", "/searx/"), ("/searxng", "/searx", "/searxng/"), ("", "/searx", "/")],
    ids=["below", "elsewhere", "at the root"],
)
async def test_an_instance_below_another_path_is_found(diagnose, prefix, named, right):
    async with FakeSearxng(formats=JSON, path_prefix=prefix) as fake:
        found = await diagnose(f"{fake.base}{named}")
    assert found.failed == ["healthz"]
    assert found.fix("healthz") == ["Use its address.", f"SEARXNG_URL={fake.base}{right}"]


@pytest.mark.parametrize("trouble", ["below another path", "moved"])
async def test_a_changed_address_of_an_instance_with_a_login_has_a_place_for_it(diagnose, trouble):
    async with FakeSearxng(formats=JSON, path_prefix="/searx") as fake:
        if trouble == "moved":
            fake.redirect("https://new.example.org/healthz")
        found = await diagnose(fake.base.replace("//", "//alice:hunter2@"))
    right = {"moved": "https://USER:PASSWORD@new.example.org/"}
    local = f"http://USER:PASSWORD@{fake.origin}/searx/"
    assert found.fix("healthz")[-1] == f"SEARXNG_URL={right.get(trouble, local)}"
    assert "hunter2" not in found.out


async def test_another_program_is_told_from_an_old_instance(diagnose):
    old = '<meta name="generator" content="searx/1.0.0">'
    async with FakeWeb({}) as web_site, FakeWeb({"/": FakePage(old)}) as searx:
        found = await diagnose(web_site.url("/"))
        older = await diagnose(searx.url("/"))
    assert "A different program answers" in found.said("healthz")
    assert older.said("healthz") == "searx/1.0.0 answers; this version has no /healthz yet."


async def test_a_login_is_told_and_credentials_are_sent_and_never_shown(diagnose):
    async def respond(_request, received):
        if "Authorization" not in received.headers:
            return web.Response(status=401)
        return web.Response(body=b"OK")

    async with LoopbackServer(respond) as server:
        without = await diagnose(server.base)
        address = server.base.replace("//", "//alice:hunter2@")
        inside = await diagnose(address)
        known = await diagnose(SEARXNG_URL=address)
    assert without.fix("healthz")[-1] == f"SEARXNG_URL=http://USER:PASSWORD@{server.origin}/"
    for found in (inside, known):
        assert found.status("healthz") == "ok"
        assert "hunter2" not in found.out
        assert "alice" not in found.out


async def test_strangers_are_asked_for_nothing_that_their_limiter_counts(
    diagnose, straight, monkeypatch
):
    monkeypatch.setattr("searx_mcp.ops.doctor.connection.is_private", lambda _address: False)
    async with FakeSearxng(link_token=True, engines_failed=True) as fake:
        straight()
        found = await diagnose(fake.url)
        searches = fake.searches
        named = await diagnose(fake.url, "--own")
    assert searches == 0
    assert "--own" in found.said("json")
    assert found.status("json") == "skipped"
    assert found.status("limiter") == "ok"
    assert found.fix("engines") == found.fix("engine_errors")
    assert found.fix("engines")[0].startswith("Nothing to do")
    assert fake.searches == 1
    assert named.status("json") == "failed"
