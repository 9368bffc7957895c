"""One request to one engine, over a real connection, whatever comes back."""

import json
import ssl
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import trustme
from pydantic import SecretStr

from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.sessions import Sessions
from searx_mcp.models.attempt import Verdict
from searx_mcp.search.providers.concurrent_queries import OpenUpstream
from searx_mcp.sources.open.engine import Ask, Engine, OpenQuery, Parsed, RefusedError
from searx_mcp.sources.open.table import ENGINES
from searx_mcp.testing.web import FakePage, FakeWeb
from tests.doubles.internet import FakeInternet

HOST = "api.crossref.org"
NAME = "searx-mcp/1 (+https://project.example)"
(CROSSREF,) = (row for row in ENGINES if row.name == "crossref")
JSON = "application/json"
NOW = datetime.fromtimestamp(1_790_000_000, UTC)


def rows(*numbers: int) -> FakePage:
    return FakePage(json.dumps([{"n": number} for number in numbers]), content_type=JSON)


def parse(body: bytes, query) -> Parsed:
    from searx_mcp.sources.open.rows import Rows  # noqa: PLC0415 - only what reads needs it

    gathered = Rows("crossref", query)
    value = json.loads(body)
    if value == "refuse":
        raise RefusedError(Verdict.RATE_LIMITED, "Slower, please.", pause=9)
    for row in value:
        gathered.add(f"https://doi.org/{row['n']}", f"Paper {row['n']}")
    return gathered.parsed(pause=3 if len(value) == 1 else None)


ENGINE = replace(CROSSREF, parse=parse, read_refusal=None)


@pytest.fixture(scope="module")
def trusted(tmp_path_factory) -> tuple[ssl.SSLContext, NetworkConfig]:
    """What the host shows, and settings that believe it."""
    authority, file = trustme.CA(), tmp_path_factory.mktemp("authority") / "ca.pem"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(HOST).configure_cert(context)
    authority.cert_pem.write_to_path(file)
    return context, NetworkConfig(ca_file=str(file))


@pytest.fixture
def asked(trusted):
    """Give what asks an engine whose host answers with one page; the requests are of the site."""
    context, config = trusted

    @asynccontextmanager
    async def site(page: FakePage):
        async with FakeWeb({"/works": page}, ssl_context=context) as web, FakeInternet() as net:
            net.host(HOST, web, port=443)
            sessions = Sessions(config, resolver=net.dialling.resolver, dial=net.dialling.dial)
            async with sessions:
                yield web, sessions

    async def run(page, engine: Engine = ENGINE, *, what=None, seconds=5.0, **fields):
        async with site(page) as (web, sessions):
            upstream = OpenUpstream(
                session_for=lambda _: sessions.public,
                user_agent=NAME,
                contact=fields.pop("contact", ""),
                clock=NOW.timestamp,
            )
            query = OpenQuery(text="red panda", keywords=("red", "panda"), now=NOW, **fields)
            answered = await upstream.ask(engine, what or Ask({"q": "a b"}), query, timeout=seconds)
            return answered, web.requests

    return run


@pytest.mark.parametrize(
    ("numbers", "verdict"), [((), Verdict.EMPTY), ((1, 2), Verdict.THIN), ((1, 2, 3), Verdict.FULL)]
)
async def test_an_answer_is_judged_by_its_hits(asked, numbers, verdict):
    answered, requests = await asked(rows(*numbers))
    outcome = answered.outcome
    assert (outcome.verdict, outcome.status_code) == (verdict, 200)
    assert [hit.title for hit in outcome.page.hits] == [f"Paper {n}" for n in numbers]
    assert [request.target for request in requests] == ["/works?q=a%20b"]


async def test_an_engine_that_answers_may_ask_for_a_pause(asked):
    answered, _ = await asked(rows(1))
    assert answered.pause == 3
    spent = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1790000042"}
    answered, _ = await asked(replace(rows(1, 2, 3), headers=spent))
    assert (answered.pause, answered.outcome.verdict) == (42, Verdict.FULL)


@pytest.mark.parametrize(
    ("page", "verdict", "wait"),
    [
        pytest.param(FakePage(status=429), Verdict.RATE_LIMITED, None, id="429"),
        pytest.param(
            FakePage(status=429, headers={"Retry-After": "30"}), Verdict.RATE_LIMITED, 30,
            id="429 with a time",
        ),
        pytest.param(FakePage(status=503), Verdict.RATE_LIMITED, None, id="503"),
        pytest.param(FakePage(status=403), Verdict.REFUSED, 3_600, id="403"),
        pytest.param(
            FakePage(
                status=403,
                headers={"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1790000060"},
            ),
            Verdict.RATE_LIMITED, 60, id="403 for a spent quota",
        ),
        pytest.param(FakePage(status=500), Verdict.SERVER_ERROR, None, id="500"),
        pytest.param(FakePage(status=400), Verdict.REFUSED, None, id="400"),
        pytest.param(FakePage(status=414), Verdict.REFUSED, None, id="414"),
        pytest.param(FakePage(status=422), Verdict.REFUSED, None, id="422"),
        pytest.param(
            FakePage(status=400, headers={"Retry-After": "9"}), Verdict.MALFORMED, 9,
            id="400 that is a limit",
        ),
        pytest.param(FakePage(status=404), Verdict.MALFORMED, None, id="404"),
        pytest.param(FakePage(status=401), Verdict.REFUSED, 3_600, id="401"),
        pytest.param(FakePage(status=406), Verdict.MALFORMED, None, id="406"),
        pytest.param(
            FakePage(status=301, headers={"Location": "https://elsewhere.example/"}),
            Verdict.FOREIGN_REDIRECT, None, id="moved",
        ),
        pytest.param(FakePage("<html>busy</html>"), Verdict.MALFORMED, None, id="a page with 200"),
        pytest.param(FakePage('"refuse"'), Verdict.RATE_LIMITED, 9, id="refused with 200"),
        pytest.param(FakePage('[{"n": 1}', cut_after=5), Verdict.MALFORMED, None, id="cut"),
        pytest.param(FakePage(b" " * 3_000_000), Verdict.MALFORMED, None, id="too long"),
        pytest.param(
            FakePage("[]", headers={"Content-Encoding": "br"}), Verdict.MALFORMED, None,
            id="packed as nobody asked",
        ),
        pytest.param(
            FakePage("[]", status=500, headers={"Content-Encoding": "br"}),
            Verdict.SERVER_ERROR, None, id="a failure packed as nobody asked",
        ),
        pytest.param(FakePage("[1]"), Verdict.MALFORMED, None, id="what breaks the parser"),
    ],
)  # fmt: skip
async def test_a_failure_is_a_value(asked, page, verdict, wait):
    answered, requests = await asked(page)
    assert (answered.outcome.verdict, answered.outcome.retry_after) == (verdict, wait)
    # What the engine would take from nobody is our mistake.
    assert answered.outcome.ours is (page.status in {400, 414, 422} and verdict is Verdict.REFUSED)
    assert answered.outcome.detail
    assert "red panda" not in answered.outcome.detail
    assert len(requests) == 1


async def test_what_does_not_answer_is_late(asked):
    answered, _ = await asked(FakePage(silent=True), seconds=0.2)
    assert (answered.outcome.verdict, answered.outcome.status_code) == (Verdict.TIMEOUT, None)


@pytest.mark.parametrize(
    ("page", "verdict", "wait"),
    [
        pytest.param(
            FakePage(status=429, headers={"Retry-After": "5"}),
            Verdict.RATE_LIMITED,
            900,
            id="longer than a limit says",
        ),
        pytest.param(
            FakePage(status=429, headers={"Retry-After": "1800"}),
            Verdict.RATE_LIMITED,
            1_800,
            id="or as long as it says",
        ),
        pytest.param(FakePage(silent=True), Verdict.TIMEOUT, 900, id="after a silence"),
    ],
)
async def test_an_engine_rests_as_long_as_the_table_says(asked, page, verdict, wait):
    answered, _ = await asked(page, replace(ENGINE, rest=900.0), seconds=0.5)
    assert (answered.outcome.verdict, answered.outcome.retry_after) == (verdict, wait)


async def test_another_status_may_be_a_limit_of_one_engine(asked):
    engine = replace(ENGINE, limits=frozenset({406}))
    answered, _ = await asked(FakePage(status=406), engine)
    assert answered.outcome.verdict is Verdict.RATE_LIMITED


async def test_an_engine_may_say_that_one_more_request_may_follow(asked):
    def explain(status, headers, body):
        return RefusedError(Verdict.SERVER_ERROR, "Load.", again=True)

    answered, _ = await asked(FakePage(status=503), replace(ENGINE, read_refusal=explain))
    assert answered.again
    answered, _ = await asked(FakePage(status=503))
    assert not answered.again


@pytest.mark.parametrize("page", [rows(1), FakePage(status=400), FakePage(cut_after=0)])
async def test_a_key_goes_to_its_engine_and_is_shown_nowhere(asked, page, caplog):
    caplog.set_level("DEBUG")
    keyed = ENGINE.keyed(SecretStr("s3cr3t"))
    answered, (request,) = await asked(page, keyed)
    assert request.headers["Authorization"] == "Bearer s3cr3t"
    in_address = replace(keyed, key_parameter="key")
    told, (request,) = await asked(page, in_address)
    assert request.target == "/works?q=a%20b&key=s3cr3t"
    assert "Authorization" not in request.headers
    shown = f"{answered} {told} {keyed} {in_address} {caplog.text}"
    assert "s3cr3t" not in shown


async def test_an_engine_may_explain_another_status(asked):
    def explain(status, headers, body):
        return RefusedError(Verdict.EMPTY, body.decode()) if status == 404 else None

    answered, _ = await asked(FakePage("none", status=404), replace(ENGINE, read_refusal=explain))
    assert (answered.outcome.verdict, answered.outcome.page.hits) == (Verdict.EMPTY, ())
    answered, _ = await asked(FakePage(status=500), replace(ENGINE, read_refusal=explain))
    assert answered.outcome.verdict is Verdict.SERVER_ERROR


async def test_we_say_who_we_are_and_how_to_reach_us_where_that_is_asked_for(asked):
    _, (request,) = await asked(rows(), contact="me@example.org")
    assert request.headers["User-Agent"] == (
        "searx-mcp/1 (+https://project.example; contact: me@example.org)"
    )
    _, (request,) = await asked(rows())
    assert request.headers["User-Agent"] == NAME
    _, (request,) = await asked(
        rows(), replace(ENGINE, wants_contact=False), contact="me@example.org"
    )
    assert request.headers["User-Agent"] == NAME
    assert "Cookie" not in request.headers
    assert "Referer" not in request.headers


async def test_a_body_is_posted_as_json(asked):
    _, (request,) = await asked(rows(), what=Ask(body={"query": "a"}))
    assert (request.method, request.headers["Content-Type"]) == ("POST", "application/json")
    assert request.headers["Content-Length"] == str(len('{"query": "a"}'))


async def test_an_address_that_is_not_public_is_not_asked(asked):
    inside = replace(ENGINE, endpoint="https://10.0.0.7/works")
    answered, requests = await asked(rows(), inside)
    assert answered.outcome.verdict is Verdict.CONNECTION
    assert requests == []
