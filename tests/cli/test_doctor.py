"""The doctor and the self-check as a person meets them."""

import datetime as dt
import json
import locale
import os
import re
import signal
import ssl
import sys
from email.utils import format_datetime

import pytest
import trustme
from aiohttp import web

from searx_mcp.cli.doctor import _print_proof
from searx_mcp.cli.running import ExitCode
from searx_mcp.http.diagnosis import Reached
from searx_mcp.models.instance import InstanceReport, InstanceState, MonthReport, PoolReport, Tier
from searx_mcp.ops.doctor import doctor
from searx_mcp.ops.doctor.checks import CheckName, fine
from searx_mcp.ops.selfcheck import KindCount, SelfCheck, Verdict, WrongVector
from searx_mcp.testing.engines import FakeEngine
from searx_mcp.testing.loopback import LoopbackServer
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb

HOST = "127.0.0.1"
PAST = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
JSON = ("html", "json")
MACHINE = ["configuration", "data_folder", "clock", "proxy"]
WAY = ["dns", "tcp", "tls"]
INSTANCE = [*WAY, "healthz", "json", "limiter", "engine_errors", "engines"]
YAML_JSON = ["search:", "  formats:", "    - html", "    - json"]
PASS_US = '[botdetection.ip_lists]\npass_ip = ["127.0.0.1", "172.16.0.0/12"]'
YAML_LIMITER = ["server:", "  limiter: false", "  public_instance: false"]


@pytest.fixture(autouse=True)
def outside_a_container(monkeypatch):
    monkeypatch.setattr(doctor, "in_container", lambda: False)


class Diagnosed:
    """The checks of a run with `--json`, by name."""

    def __init__(self, ran) -> None:
        self.code = ran.code
        self.out = ran.out
        self.data = json.loads(ran.out)
        self.checks = {
            check["name"]: check for each in self.data["examinations"] for check in each["checks"]
        }

    @property
    def failed(self) -> list[str]:
        return [name for name, check in self.checks.items() if check["status"] == "failed"]

    @property
    def warnings(self) -> list[str]:
        return [name for name, check in self.checks.items() if check["status"] == "warning"]

    def fix(self, name: str) -> list[str]:
        lines: list[str] = self.checks[name]["fix"].split("\n")
        return lines


@pytest.fixture
def diagnose(run_cli):
    """Run the doctor with `--json`."""

    async def run(*arguments: str, **environment: str) -> Diagnosed:
        return Diagnosed(await run_cli("doctor", "--json", *arguments, **environment))

    return run


async def test_an_instance_that_works_has_nothing_wrong(diagnose):
    async with FakeSearxng(formats=JSON) as fake:
        found = await diagnose(fake.url)
        asked = [request.target for request in fake.requests]
    assert found.code == ExitCode.DONE
    assert [*found.checks] == MACHINE + INSTANCE
    assert {check["status"] for check in found.checks.values()} == {"ok"}
    assert found.data["summary"] == "Nothing is wrong."
    assert asked == ["/healthz", "/search?format=json", "/config", "/stats/errors"]
    assert fake.requests[0].headers["User-Agent"].startswith("searx-mcp/")


async def test_what_searches_learned_of_engines_is_told(run_cli, diagnose, tmp_path):
    async with FakeSearxng(formats=JSON, engines_failed=[("brave", "CAPTCHA")]) as fake:
        there = {"SEARXNG_URL": fake.url, "SEARX_MCP_STORAGE__FOLDER": str(tmp_path / "state")}
        await run_cli("search", "bees", "--no-fetch-content", **there)
        found = await diagnose(**there)
    said = found.checks["searches"]["detail"]
    assert said.startswith("Results come from alpha ")
    assert "Left alone for now: brave (CAPTCHA)." in said


async def test_the_shape_of_json_stays(diagnose):
    async with FakeSearxng() as fake:
        found = await diagnose(fake.url)
    text = re.sub(r'"elapsed_ms": \d+', '"elapsed_ms": 0', found.out).replace(fake.url, "URL/")
    data = json.loads(text)
    assert {*data} == {"healthy", "summary", "examinations"}
    assert data["healthy"] is False
    assert data["summary"] == "1 of 12 checks failed; begin with json of URL/."
    machine, instance = data["examinations"]
    assert (machine["subject"], machine["url"]) == ("this machine", "")
    assert (instance["subject"], instance["url"]) == ("URL/", "URL/")
    assert instance["checks"][INSTANCE.index("json")] == {
        "name": "json",
        "status": "failed",
        "detail": "JSON is switched off (status 403).",
        "fix": "\n".join(
            [
                "Switch JSON on in the settings.yml of the instance, and restart it.",
                *YAML_JSON,
            ]
        ),
        "elapsed_ms": 0,
    }


def limited(fake: FakeSearxng) -> None:
    fake.limit()


def sent_home(fake: FakeSearxng) -> None:
    fake.block()


def listed_as_blocked(fake: FakeSearxng) -> None:
    fake.answer_with(b"IP is on BLOCKLIST - 127.0.0.1", status=429)


def behind_a_challenge(fake: FakeSearxng) -> None:
    fake.challenge()


def down_behind_a_proxy(fake: FakeSearxng) -> None:
    fake.fail(502)


def refused(fake: FakeSearxng) -> None:
    fake.fail(403)


def behind_a_login_page(fake: FakeSearxng) -> None:
    fake.redirect("https://login.example.org/?next=secret")


def moved(fake: FakeSearxng) -> None:
    fake.redirect("https://new.example.org/searx/healthz")


def redirected_nowhere(fake: FakeSearxng) -> None:
    fake.redirect("http://[")


def of_another_program(fake: FakeSearxng) -> None:
    fake.answer_with(b"<h1>It works!</h1>", path="/healthz")


def dropping(fake: FakeSearxng) -> None:
    fake.drop()


def failing_searches(fake: FakeSearxng) -> None:
    fake.answer_with(b"", status=500)


def strange_searches(fake: FakeSearxng) -> None:
    fake.answer_with(b"<h1>It works!</h1>")


def challenged_searches(fake: FakeSearxng) -> None:
    fake.answer_with(b"<title>Just a moment...</title>", status=403)


@pytest.mark.parametrize(
    ("trouble", "name", "said", "fix"),
    [
        (limited, "json", "(status 429)", [PASS_US]),
        (sent_home, "json", "link token", YAML_LIMITER),
        (listed_as_blocked, "json", "block list", ["block_ip"]),
        (failing_searches, "json", "failed with 500", ["docker logs"]),
        (strange_searches, "json", "with status 200", ["/search reach SearXNG"]),
        (challenged_searches, "json", "challenge", ["Anubis"]),
        (behind_a_challenge, "healthz", "challenge", ["Anubis"]),
        (down_behind_a_proxy, "healthz", "status 502", ["docker logs"]),
        (refused, "healthz", "status 403", ["/healthz through"]),
        (behind_a_login_page, "healthz", "https://login.example.org/", ["without that page"]),
        (moved, "healthz", "has moved", ["SEARXNG_URL=https://new.example.org/searx/"]),
        (redirected_nowhere, "healthz", "nowhere", ["docker logs"]),
        (of_another_program, "healthz", "Another program", ["docker ps"]),
        (dropping, "healthz", "connection", ["docker logs"]),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
async def test_an_instance_in_trouble_has_one_fix(diagnose, trouble, name, said, fix):
    async with FakeSearxng(formats=JSON) as fake:
        trouble(fake)
        found = await diagnose(fake.url)
    assert found.code == ExitCode.FAILED
    assert found.failed == [name]
    assert said in found.checks[name]["detail"]
    assert "secret" not in found.out
    for line in fix:
        assert line in found.checks[name]["fix"]


@pytest.mark.parametrize(
    ("address", "passed"),
    [("192.168.1.2", '["192.168.1.7"]'), ("192.0.2.1", '["THE PUBLIC ADDRESS OF THIS MACHINE"]')],
    ids=["private", "public"],
)
async def test_who_may_pass_depends_on_where_the_instance_is(
    diagnose, monkeypatch, address, passed
):
    async def as_if(runner, way):
        await _straight(runner, way)
        way.addresses, way.reached = (address,), Reached(address, "192.168.1.7")

    monkeypatch.setattr("searx_mcp.ops.doctor.doctor.check_path", as_if)
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
        assert "cannot be read: The connection failed" in found.checks[name]["detail"]


async def test_a_link_token_is_a_warning_with_its_lines(diagnose):
    async with FakeSearxng(formats=JSON, link_token=True) as fake:
        found = await diagnose(fake.url)
    assert (found.code, found.warnings) == (ExitCode.DONE, ["limiter"])
    assert "3 searches in 30 days" in found.checks["limiter"]["detail"]
    assert found.fix("limiter")[1:] == YAML_LIMITER
    assert found.data["summary"] == "Nothing failed; 1 warning."


@pytest.mark.parametrize(
    ("config", "status", "said"),
    [
        (b'{"version": "1.1"}', "ok", "SearXNG 1.1: it does not tell of a limiter."),
        (b'{"limiter": {"enabled": false}}', "ok", "the limiter is off."),
        (
            b'{"limiter": {"enabled": true, "botdetection.ip_limit.link_token": false}}',
            "warning",
            "the limiter is on, and allows 4 requests for JSON an hour.",
        ),
        (b"<html>", "skipped", "Its /config does not tell (status 200)."),
    ],
    ids=["old", "off", "on", "none"],
)
async def test_the_limiter_is_what_config_says(diagnose, config, status, said):
    async with FakeSearxng(formats=JSON) as fake:
        fake.answer_with(config, path="/config", content_type="application/json")
        found = await diagnose(fake.url)
    assert (found.checks["limiter"]["status"], found.checks["limiter"]["detail"]) == (status, said)
    assert found.checks["engines"]["status"] == "skipped"


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
    said = found.checks["engine_errors"]["detail"]
    assert said == "Engines that fail: alpha (CAPTCHA), eta (no such key), zeta (timeout)."
    assert found.fix("engine_errors")[1:] == [
        *("engines:", "  - name: alpha", "    disabled: true"),
        *("  - name: zeta", "    disabled: true"),
    ]
    assert found.checks["engines"]["detail"] == "Working engines: general 1."


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
        ("HTTP connection error", "Look at the network of the instance"),
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
            "All 2 engines of general fail.",
            'engines:\n  - name: "gamma: 3"\n    disabled: false',
        ),
        (
            [FakeEngine("a", ("images",))],
            [],
            "General has no engine.",
            "use_default_settings: true",
        ),
    ],
    ids=["by category", "all fail", "none"],
)
async def test_engines_that_work_are_counted_or_others_are_proposed(
    diagnose, engines, failed, said, fix
):
    async with FakeSearxng(formats=JSON, engines=engines, engines_failed=failed) as fake:
        found = await diagnose(fake.url)
    assert found.checks["engines"]["detail"] == said
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
    assert found.checks["engine_errors"]["status"] == "skipped"
    assert found.checks["engines"]["status"] == "ok"


async def test_a_hung_instance_skips_what_needs_it(diagnose, monkeypatch):
    monkeypatch.setattr("searx_mcp.ops.doctor.checks.STEP_TIMEOUT", 0.2)
    async with FakeSearxng(hang=True) as fake:
        found = await diagnose(fake.url)
    assert found.failed == ["healthz"]
    assert "nothing answers there" in found.checks["healthz"]["detail"]
    for name in INSTANCE[INSTANCE.index("json") :]:
        assert found.checks[name]["detail"] == "It needs /healthz."
    assert found.checks["clock"]["status"] == "skipped"


async def test_a_session_that_gives_up_first_says_the_same(diagnose, monkeypatch):
    monkeypatch.setattr(doctor, "STEP_TIMEOUT", 0.1)
    async with FakeSearxng(hang=True) as fake:
        found = await diagnose(fake.url)
    assert "nothing answers there" in found.checks["healthz"]["detail"]


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
    assert "Another program answers" in found.checks["healthz"]["detail"]
    assert older.checks["healthz"]["detail"] == "searx/1.0.0 answers; it is too old for /healthz."


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
        assert found.checks["healthz"]["status"] == "ok"
        assert "hunter2" not in found.out
        assert "alice" not in found.out


async def test_a_closed_port_is_told(diagnose, monkeypatch):
    async with FakeSearxng() as gone:
        pass
    found = await diagnose(gone.url)
    monkeypatch.setattr(doctor, "in_container", lambda: True)
    contained = await diagnose(gone.url)
    assert found.failed == ["tcp"]
    assert found.fix("tcp")[1:] == ["ports:", f'  - "127.0.0.1:{gone.port}:8080"']
    assert [found.checks[name]["status"] for name in INSTANCE[2:]] == ["skipped"] * 6
    assert contained.fix("tcp")[-1] == f"SEARXNG_URL=http://host.docker.internal:{gone.port}/"


async def test_a_name_nobody_knows_is_told(diagnose, monkeypatch):
    async def nowhere(_host, _port):
        raise OSError

    monkeypatch.setattr(doctor.Doctor.__init__, "__kwdefaults__", _with(doctor, look_up=nowhere))
    found = await diagnose("http://searxng:8080/")
    assert found.failed == ["dns"]
    assert found.fix("dns")[-1] == "SEARXNG_URL=http://127.0.0.1:8080/"


def _with(module, **defaults):
    return module.Doctor.__init__.__kwdefaults__ | defaults


@pytest.fixture
def https(tmp_path):
    """Give a server's TLS, and the file of the authority that issued its certificate."""

    def make(name: str = HOST, **validity):
        authority = trustme.CA()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(name, **validity).configure_cert(context)
        file = tmp_path / "ca.pem"
        authority.cert_pem.write_to_path(str(file))
        return context, str(file)

    return make


async def test_a_certificate_of_a_trusted_authority_is_fine(diagnose, https):
    context, authority = https()
    async with FakeSearxng(formats=JSON, ssl_context=context) as fake:
        found = await diagnose(fake.url, SEARX_MCP_NETWORK__CA_FILE=authority)
    assert found.code == ExitCode.DONE
    assert found.checks["tls"]["detail"] == "TLSv1.3, and the certificate is valid."


@pytest.mark.parametrize(
    ("name", "validity", "trusted", "said", "fix"),
    [
        (HOST, {"not_before": PAST, "not_after": PAST}, True, "has expired", "certbot renew"),
        ("a.example", {}, True, "for another name", "have one issued for 127.0.0.1"),
        (HOST, {}, False, "Nobody we trust", '[network]\nca_file = "/path/to/ca.pem"'),
    ],
    ids=["expired", "wrong name", "unknown authority"],
)
async def test_a_bad_certificate_has_one_fix(diagnose, https, name, validity, trusted, said, fix):
    context, authority = https(name, **validity)
    more = {"SEARX_MCP_NETWORK__CA_FILE": authority} if trusted else {}
    async with FakeSearxng(formats=JSON, ssl_context=context) as fake:
        found = await diagnose(fake.url, **more)
    assert found.failed == ["tls"]
    assert said in found.checks["tls"]["detail"]
    assert fix in found.checks["tls"]["fix"]


async def test_a_self_signed_certificate_can_be_trusted(diagnose, tmp_path):
    authority = trustme.CA()
    file = tmp_path / "self.pem"
    file.write_bytes(authority.private_key_pem.bytes() + authority.cert_pem.bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    async with FakeSearxng(ssl_context=context) as fake:
        found = await diagnose(fake.url)
    assert found.failed == ["tls"]
    assert found.fix("tls")[1].startswith(f"openssl s_client -connect {fake.origin} ")
    assert found.fix("tls")[2:] == ["[network]", 'ca_file = "/path/to/searxng.pem"']


async def test_http_and_https_are_told_apart(diagnose, https):
    context, _ = https()
    async with FakeSearxng(ssl_context=context) as secure, FakeSearxng() as plain:
        too_plain = await diagnose(secure.url.replace("https:", "http:"))
        too_secure = await diagnose(plain.url.replace("http:", "https:"))
    assert too_plain.fix("healthz") == ["Use https.", f"SEARXNG_URL={secure.url}"]
    assert too_secure.fix("tls")[-1] == f"SEARXNG_URL={plain.url}"


async def test_a_web_server_that_wants_https_is_understood(diagnose):
    async with FakeSearxng() as fake:
        body = b"<h1>The plain HTTP request was sent to HTTPS port</h1>"
        fake.answer_with(body, status=400, path="/healthz")
        found = await diagnose(fake.url)
    assert found.fix("healthz")[-1] == f"SEARXNG_URL=https://{fake.origin}/"


async def test_all_own_instances_are_looked_at_without_an_address(diagnose):
    async with FakeSearxng(formats=JSON) as one, FakeSearxng() as other:
        found = await diagnose(SEARXNG_URL=f"{one.url};{other.url}")
    subjects = [each["subject"] for each in found.data["examinations"]]
    assert subjects == ["this machine", one.url, other.url]
    assert found.failed == ["json"]


async def search_once(run_cli, url: str, state: str, **more: str):
    environment = {"SEARXNG_URL": url, "SEARX_MCP_STORAGE__FOLDER": state, **more}
    return await run_cli("search", "tea", "--no-fetch-content", "--json", **environment)


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
    diagnose, run_cli, tmp_path, break_it, believed
):
    state = str(tmp_path / "state")
    known = {"SEARX_MCP_STORAGE__FOLDER": state}
    async with FakeSearxng(formats=JSON) as fake:
        break_it(fake)
        for _ in range(4):
            refused = await search_once(run_cli, fake.url, state)
            assert refused.code != ExitCode.DONE
        ill = await diagnose(SEARXNG_URL=fake.url, **known)
        fake.recover()
        found = await diagnose(SEARXNG_URL=fake.url, **known)
        served = await search_once(run_cli, fake.url, state)
    assert "pool" in ill.failed
    assert believed in ill.checks["pool"]["detail"]
    assert "from now on they ask it again" in found.checks["pool"]["detail"]
    assert found.code == served.code == ExitCode.DONE
    assert json.loads(served.out)["results_count"] > 0


async def test_what_no_check_can_see_is_told_by_what_the_last_search_came_to(
    diagnose, run_cli, tmp_path
):
    known = {"SEARX_MCP_STORAGE__FOLDER": str(tmp_path / "state")}
    async with FakeSearxng(formats=JSON) as fake:
        untried = await diagnose(SEARXNG_URL=fake.url, **known)
        await search_once(run_cli, fake.url, known["SEARX_MCP_STORAGE__FOLDER"])
        served = await diagnose(SEARXNG_URL=fake.url, **known)
        fake.fail_engines()
        await search_once(
            run_cli, fake.url, known["SEARX_MCP_STORAGE__FOLDER"], SEARX_MCP_SEARCH__CACHE_TTL="0"
        )
        fake.recover()
        found = await diagnose(SEARXNG_URL=fake.url, **known)
    assert untried.checks["pool"]["detail"] == "No search has asked it yet."
    assert served.checks["pool"]["detail"].startswith("It is healthy")
    assert (found.code, found.failed) == (ExitCode.FAILED, ["pool"])
    assert "came to nothing" in found.checks["pool"]["detail"]
    assert found.fix("pool")[-1] == f"searx-mcp instances test {fake.url} tea"


async def test_strangers_are_asked_for_nothing_that_their_limiter_counts(diagnose, monkeypatch):
    monkeypatch.setattr("searx_mcp.ops.doctor.connection.is_private", lambda _address: False)
    async with FakeSearxng(link_token=True, engines_failed=True) as fake:
        # As a public one over https would: plain http to it is refused before anything is asked.
        monkeypatch.setattr("searx_mcp.ops.doctor.doctor.check_path", _straight)
        found = await diagnose(fake.url)
        searches = fake.searches
        named = await diagnose(fake.url, "--own")
    assert searches == 0
    assert "--own" in found.checks["json"]["detail"]
    assert found.checks["json"]["status"] == "skipped"
    assert found.checks["limiter"]["status"] == "ok"
    assert found.fix("engines") == found.fix("engine_errors")
    assert found.fix("engines")[0].startswith("Nothing here")
    assert fake.searches == 1
    assert named.checks["json"]["status"] == "failed"


async def _straight(runner, way):
    for name in WAY:
        runner.note(CheckName(name), fine("As if."))


def listing(count: int) -> str:
    rows = [{"url": f"https://s{n}.example/", "tls_grade": "A"} for n in range(count)]
    return json.dumps({"schema_version": 1, "listed_at": "2026-08-05T00:00:00Z", "instances": rows})


def public(source: FakeWeb, **more: str) -> dict[str, str]:
    return {
        "SEARX_MCP_INSTANCES__SOURCE": source.url("/instances.json"),
        "SEARX_MCP_FETCH__ALLOW_PRIVATE": source.origin,
        **more,
    }


async def test_without_an_own_instance_the_way_to_the_public_ones_is_looked_at(diagnose, tmp_path):
    async with FakeWeb({"/instances.json": FakePage("{}")}) as source:
        found = await diagnose(**public(source))
        asked = source.requests
    assert found.code == ExitCode.DONE
    assert [*found.checks] == [*MACHINE, *WAY, "list", "budget"]
    assert [request.path for request in asked] == ["/instances.json"]
    assert "If-Modified-Since" in asked[0].headers
    assert re.match(r"\d+ listed; \d+ searches left", found.checks["budget"]["detail"])
    assert found.checks["clock"]["status"] == "ok"


async def test_a_list_that_a_file_takes_the_place_of_is_not_looked_at(diagnose, tmp_path):
    catalog = tmp_path / "instances.json"
    async with FakeWeb({"/instances.json": FakePage("{}")}) as source:
        catalog.write_text(listing(12))
        more = {"SEARX_MCP_INSTANCES__CATALOG": str(catalog)}
        found = await diagnose(**public(source, **more))
    assert not source.requests
    assert [*found.checks] == [*MACHINE, "budget"]
    assert found.checks["budget"]["detail"].startswith("12 listed; ")


async def test_a_list_that_cannot_be_fetched_is_told(diagnose, tmp_path):
    async with FakeWeb({}) as source:
        found = await diagnose(**public(source))
        refused = await diagnose(**public(source, SEARX_MCP_FETCH__ALLOW_PRIVATE="10.0.0.1:80"))
    assert found.failed == refused.failed == ["list"]
    assert found.checks["list"]["detail"] == "The list is answered with status 404."
    assert "[instances]\nsource = " in found.checks["list"]["fix"]


async def test_a_list_that_is_never_fetched_is_not_looked_at(diagnose, tmp_path):
    async with FakeWeb({}) as source:
        pass
    none = {"SEARX_MCP_CONFIG": str(tmp_path / "no_source.toml")}
    (tmp_path / "no_source.toml").write_text('[instances]\nsource = ""\n')
    environment = public(source) | none
    del environment["SEARX_MCP_INSTANCES__SOURCE"]
    found = await diagnose(**environment)
    assert [*found.checks] == [*MACHINE, "budget"]


async def test_a_month_that_is_used_up_is_a_warning(diagnose, tmp_path, monkeypatch):
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
    assert spent.checks["budget"]["detail"].endswith("none of them now.")
    assert unlimited.checks["budget"]["detail"] == "1 listed."


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
    assert said in found.checks["configuration"]["detail"]
    assert fix in found.checks["configuration"]["fix"]
    assert [found.checks[name]["status"] for name in MACHINE[1:]] == ["skipped"] * 3


async def test_a_data_folder_that_cannot_be_made_is_told(diagnose, tmp_path):
    file = tmp_path / "file"
    file.touch()
    async with FakeSearxng(formats=JSON) as fake:
        found = await diagnose(fake.url, SEARX_MCP_STORAGE__FOLDER=str(file / "state"))
    assert found.failed == ["data_folder"]
    assert str(file / "state") in found.checks["data_folder"]["detail"]
    assert found.fix("data_folder")[0]


@pytest.mark.parametrize(
    ("date", "age", "status"),
    [
        (dt.datetime(2020, 1, 1, tzinfo=dt.UTC), "", "warning"),
        (dt.datetime.now(dt.UTC) - dt.timedelta(hours=1), "3600", "ok"),
        ("soon", "", "skipped"),
        ("1 Aug 2026 12:00:00 +99999999999999", "", "skipped"),
        ("1 Jan 0001 00:00:00 -0000", "", "warning"),
    ],
    ids=["wrong", "cached", "unreadable", "time zone of many digits", "first year"],
)
async def test_the_clock_is_compared_with_that_of_whoever_answers(diagnose, date, age, status):
    text = date if isinstance(date, str) else format_datetime(date, usegmt=True)

    async def respond(_request, _received):
        return web.Response(body=b"OK", headers={"Date": text, "Age": age})

    async with LoopbackServer(respond) as server:
        found = await diagnose(server.base)
    assert found.checks["clock"]["status"] == status


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
    assert down.failed == ["proxy", "healthz"]
    assert closed.failed == ["healthz"]
    assert "hunter2" not in closed.out
    assert closed.checks["tls"]["detail"].startswith("Left to the proxy")
    assert closed.fix("healthz")[0]


@pytest.mark.parametrize(
    "address",
    [
        "searx.example.org",
        "ftp://searx.example.org/",
        "https://searx.example.org/?q=x",
        "https://user@searx.example.org/",
        "https://user:pass@word@searx.example.org:port/",
    ],
    ids=["no scheme", "scheme", "query", "no password", "port"],
)
async def test_what_is_no_address_is_a_wrong_argument(run_cli, address):
    ran = await run_cli("doctor", address)
    assert ran.code == ExitCode.USAGE
    assert "url" in ran.err
    assert "pass@word" not in ran.err


async def test_the_list_wraps_and_indents_its_fixes(run_cli):
    async with FakeSearxng() as fake:
        ran = await run_cli("doctor", fake.url)
    lines = ran.out.splitlines()
    assert ran.code == ExitCode.FAILED
    assert lines[0] == "this machine"
    assert "  ✓ proxy          None: connections are made directly." in lines
    begin = lines.index("  ✗ json           JSON is switched off (status 403).")
    assert lines[begin + 2 : begin + 6] == [f"      {line}" for line in YAML_JSON]
    # A path is never broken.
    assert max(len(line) for line in lines if "xdg_state_home" not in line) <= 80
    assert lines[-1] == f"1 of 12 checks failed; begin with json of {fake.url}."
    assert "\x1b" not in ran.out


async def test_marks_are_ascii_where_nothing_else_can_be_shown(run_cli, monkeypatch):
    monkeypatch.setattr(locale, "getencoding", lambda: "ISO-8859-1")
    async with FakeSearxng() as fake:
        ran = await run_cli("doctor", fake.url)
    assert ran.out.isascii()
    assert "  + proxy " in ran.out
    assert "  x json " in ran.out


async def test_progress_is_for_a_person_who_looks(run_cli, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    async with FakeSearxng(formats=JSON) as fake:
        ran = await run_cli("doctor", fake.url)
    assert ran.code == ExitCode.DONE


@pytest.mark.slow
async def test_interrupting_leaves_no_trace(start_program, tmp_path):
    config = tmp_path / "empty.toml"
    config.touch()
    async with FakeSearxng(hang=True) as fake:
        process = await start_program(
            *(sys.executable, "-m", "searx_mcp", "doctor", fake.url),
            env={**os.environ, "SEARX_MCP_CONFIG": str(config)},
        )
        await fake.wait_for_requests(1)
        process.send_signal(signal.SIGINT)
        out, errors = await process.communicate()
    assert process.returncode == ExitCode.INTERRUPTED
    assert (out, errors.strip()) == (b"", b"")


async def test_the_first_search_without_json_says_how_to_switch_it_on(run_cli):
    arguments = ("search", "bees", "--no-fetch-content", "--json")
    async with FakeSearxng() as own:
        ran = [await run_cli(*arguments, SEARXNG_URL=own.url) for _ in range(2)]
    first, second = (json.loads(each.out).get("notes", []) for each in ran)
    said = [note for note in first if "searx-mcp doctor" in note]
    assert len(said) == 1
    assert said[0].startswith(
        f"JSON is off at {own.origin}, so its pages are read instead: add json"
    )
    assert not [note for note in second if "JSON" in note]


@pytest.mark.parametrize(
    ("mode", "contact", "status"),
    [
        ("auto", "", "warning"),
        ("fallback", "", "warning"),
        ("auto", "me@example.org", "ok"),
        ("off", "", None),
    ],
)
async def test_a_contact_is_asked_for_where_open_sources_are_asked(diagnose, mode, contact, status):
    settings = {"OPEN_SOURCES__MODE": mode, "INSTANCES__PUBLIC": "off"}
    settings |= {"OPEN_SOURCES__CONTACT": contact} if contact else {}
    found = await diagnose(**{f"SEARX_MCP_{key}": value for key, value in settings.items()})
    assert found.checks.get("contact", {}).get("status") == status
    if status == "warning":
        assert found.fix("contact")[1:] == ["[open_sources]", 'contact = "you@example.org"']


async def test_a_contact_is_not_asked_for_while_an_own_instance_keeps_searches_from_them(diagnose):
    async with FakeSearxng(formats=JSON) as fake:
        environment = {"SEARXNG_URL": fake.url, "SEARX_MCP_OPEN_SOURCES__MODE": "auto"}
        assert "contact" not in (await diagnose(**environment)).checks
        environment["SEARX_MCP_OPEN_SOURCES__MODE"] = "fallback"
        assert "contact" in (await diagnose(**environment)).checks


WRONG = WrongVector(
    id="x-1",
    kind="x",
    url="http://127.0.0.1/\u202e",
    why="loopback",
    expected=Verdict.REFUSED,
    came_to="allowed",
)


async def test_all_is_right_here(run_cli):
    ran = await run_cli("selfcheck")
    assert ran.code == 0, ran.out
    assert ran.out.splitlines()[0].split() == ["kind", "refused", "allowed", "wrong"]
    assert "judged right." in ran.out


async def test_json_has_the_counts_of_each_kind(run_cli):
    ran = await run_cli("selfcheck", "--json")
    assert ran.code == 0
    found = json.loads(ran.out)
    assert found["passed"] is True
    assert found["vectors"] == sum(kind["refused"] + kind["allowed"] for kind in found["kinds"])
    assert found["wrong"] == []


async def test_no_configuration_is_read(run_cli, tmp_path):
    broken = tmp_path / "broken.toml"
    broken.write_text("no toml at all [")
    ran = await run_cli("--config", str(broken), "selfcheck")
    assert ran.code == 0


def test_what_is_wrong_is_shown_with_nothing_a_terminal_would_obey(capsys):
    counts = KindCount(kind="x", refused=1, allowed=0, wrong=1)
    _print_proof(SelfCheck(passed=False, vectors=1, kinds=(counts,), wrong=(WRONG,), error_texts=2))
    shown = capsys.readouterr().out
    assert r"x-1: 'http://127.0.0.1/\u202e'" in shown
    assert "must be refused, came to allowed" in shown
    assert "Errors for forbidden addresses differ" in shown
    assert "1 of 1 addresses were judged wrong." in shown
