"""What a model calls for what users say: the table, the comparison, and servers of models on loopback."""

import gzip
import json
import sys

import pytest
from aiohttp import web

from searx_mcp.settings.tools import Tool
from searx_mcp.testing.loopback import LoopbackServer, never
from tests.doubles.raw import RawServer

KEY = "sk-a-key-that-nobody-may-see"


@pytest.fixture(scope="module")
def requests(load_benchmark):
    return load_benchmark("requests")


@pytest.fixture(scope="module")
def table(load_benchmark):
    return load_benchmark("choosing.table")


@pytest.fixture(scope="module")
def model_server(load_benchmark):
    return load_benchmark("choosing.model_server")


@pytest.fixture
async def research(requests):
    return await requests.published("research")


def saying(table, words):
    (found,) = [each for each in table.read_requests() if words in each.says]
    return found


async def test_every_tool_is_asked_for_in_calls_that_it_takes(requests, table, research):
    tools, _ = research
    missed = [each for each in requests.checked(table.read_requests(), tools) if not each.holds]
    assert missed == []


def test_the_tokens_of_every_tool_are_counted(load_benchmark):
    assert {call.tool for call in load_benchmark("tokens").CALLS} == {*Tool}


async def test_a_call_of_what_is_not_published_is_found(requests, table):
    tools, _ = await requests.published("default")
    missed = {
        each.name for each in requests.checked(table.read_requests(), tools) if not each.holds
    }
    assert missed == {"calls of what is not published"}


async def test_no_two_requests_say_the_same(table):
    said = [
        (each.says, each.earlier.result if each.earlier else "") for each in table.read_requests()
    ]
    assert len(set(said)) == len(said)


ECB, SHARKS, DAM = "European Central Bank", "sharks", "Kakhovka"
DOCS, SOURDOUGH, CITIES, GO_ON = "docs.python.org, and", "sourdough", "Oslo", "Go on reading"
WAL, EVIDENCE, LAW, PRODUCT = (
    "checkpoint starvation",
    "a.example.com",
    "law.example.org",
    "17 times",
)

RIGHT = [
    (ECB, [("web_search", {"query": "ECB rate decision", "time_range": "week"})]),
    (ECB, [("web_search", {"q": "ECB rates", "recency": "past week", "topic": "news"})]),
    (ECB, [("web_search", {"query": "ECB rates", "time_range": "week", "results_count": "5"})]),
    (SHARKS, [("web_search", {"query": "Sharks", "safe_search": "strict"})]),
    (DOCS, [("web_search", {"query": "task group cancel", "include_domains": "docs.python.org"})]),
    (
        SOURDOUGH,
        [("web_search", {"query": "sourdough", "exclude_domains": "youtube.com, pinterest.com"})],
    ),
    (CITIES, [("web_search", {"query": f"{city} population"}) for city in ("Oslo", "Bergen", "Trondheim")]),
    (CITIES, [("web_search", {"query": ["Oslo", "Bergen", "Trondheim"]})]),
    (GO_ON, [("web_fetch", {"cursor": "2cfo2vgz6lskx3yz", "offset": 4958})]),
    (GO_ON, [("web_fetch", {"url": "https://gardens.example.org/hedges", "start_index": 4958})]),
    (WAL, [("web_fetch", {"url": "https://www.sqlite.org/wal.html", "prompt": "checkpoint starvation?"})]),
    (WAL, [("read_page", {"url": "www.sqlite.org/wal.html/", "query": "Checkpoint starvation"})]),
    (
        EVIDENCE,
        [
            (
                "answer",
                {
                    "query": "How many retries?",
                    "url": "https://b.example.com/retries",
                    "urls": ["https://a.example.com/retries"],
                },
            )
        ],
    ),
    (LAW, [("ingest", {"url": f"https://law.example.org/code/{n}"}) for n in (2, 1)]),
    (PRODUCT, []),
]  # fmt: skip

WRONG_TOOL = [
    (ECB, [], "no tool was called"),
    (ECB, [("answer", {"query": "ECB rates"})], "'answer' was called"),
    (ECB, [("web_serch\x1b[2J", {"query": "ECB rates"})], "'web_serch\\x1b[2J' was called"),
    (PRODUCT, [("web_search", {"query": "17 * 23"})], "'web_search' was called"),
]
WRONG_ARGUMENTS = [
    (ECB, [("web_search", {"query": "ECB rates"})], "time_range: ''"),
    (ECB, [("web_search", {"query": "ECB", "time_range": "week"})], "query has nothing of rate"),
    (
        ECB,
        [("web_search", {"query": "ECB rates", "time_range": "week", "language": "de"})],
        "language: 'de' instead of 'en'",
    ),
    (ECB, [("web_search", {"query": "ECB rates", "freshnes": "week"})], "refused: "),
    (ECB, [("web_search", None)], "arguments that are no JSON object"),
    (DAM, [("web_search", {"query": "Kakhovka dam"})], "language: 'en' instead of 'all'"),
    (
        SOURDOUGH,
        [("web_search", {"query": "sourdough", "blocked_domains": ["youtube.com"]})],
        "blocked_domains",
    ),
    (CITIES, [("web_search", {"query": "Oslo, Bergen and Trondheim"})], "query: fewer than 3"),
    (GO_ON, [("web_fetch", {"url": "https://gardens.example.org/hedges"})], "cursor: "),
    (LAW, [("ingest", {"url": "https://law.example.org/code/1"})], "url: "),
]


def judged(table, words, calls):
    return table.judge(saying(table, words), [table.Chosen(*call) for call in calls])


@pytest.mark.parametrize(("words", "calls"), RIGHT, ids=str)
def test_a_call_that_the_server_takes_for_the_right_one_is_right(table, words, calls):
    verdict = judged(table, words, calls)
    assert (verdict.is_tool_right, verdict.flaw) == (True, "")


@pytest.mark.parametrize(("words", "calls", "flaw"), WRONG_TOOL, ids=str)
def test_a_wrong_tool_is_told(table, words, calls, flaw):
    verdict = judged(table, words, calls)
    assert (verdict.is_tool_right, verdict.flaw) == (False, flaw)


@pytest.mark.parametrize(("words", "calls", "flaw"), WRONG_ARGUMENTS, ids=str)
def test_wrong_arguments_of_the_right_tool_are_told(table, words, calls, flaw):
    verdict = judged(table, words, calls)
    assert verdict.is_tool_right
    assert flaw in verdict.flaw


class FakeModel(LoopbackServer):
    """Chat completions of a model that follows a script; it reads nothing but the last message.

    Args:
        answer: what it answers to the words of the user: a response, or what a message has.

    Attributes:
        asked: the bodies of all requests.
    """

    def __init__(self, answer):
        super().__init__(self._complete)
        self.asked = []
        self._script = answer

    async def _complete(self, request, received):
        self.asked.append(await request.json())
        answered = await self._script(self.asked[-1]["messages"][-1]["content"])
        if isinstance(answered, web.StreamResponse):
            return answered
        return web.json_response({"choices": [{"message": answered}], "usage": {}})


def message(*calls):
    return {
        "content": None,
        "tool_calls": [
            {"function": {"name": name, "arguments": json.dumps(arguments)}}
            for name, arguments in calls
        ],
    }


async def run(requests, model_server, fake, research, **options):
    tools, instructions = research
    async with model_server.open_model_server(f"{fake.base}/v1", "a-model", **options) as server:
        return await requests.ask(server, requests.read_requests(), tools, instructions)


async def test_a_model_that_calls_what_the_table_says_has_every_point(
    requests, model_server, research, table
):
    rows = {request.says: request for request in table.read_requests()}

    async def right(said):
        return message(*((call.tool, call.arguments) for call in rows[said].calls[:1]))

    async with FakeModel(right) as fake:
        verdicts = await run(requests, model_server, fake, research, key=KEY)
    targets, (by_tool, misses) = requests.scored(verdicts)
    assert [target.value for target in targets] == [1, 1, 0]
    assert misses.rows == ()
    assert sum(row[1] for row in by_tool.rows) == len(verdicts) == 40
    assert {received.headers["Authorization"] for received in fake.requests} == {f"Bearer {KEY}"}
    assert {received.target for received in fake.requests} == {"/v1/chat/completions"}
    first = fake.asked[0]
    assert first["model"] == "a-model"
    assert first["messages"][0]["content"] == research[1]
    names = [tool["function"]["name"] for tool in first["tools"]]
    assert names == [tool["name"] for tool in research[0]]
    roles = {tuple(each["role"] for each in asked["messages"]) for asked in fake.asked}
    assert roles == {
        ("system", "user"),
        ("system", "user", "assistant", "tool", "assistant", "user"),
    }


async def test_a_model_that_always_calls_one_tool_misses(requests, model_server, research):
    async def one(said):
        return message(("web_search", {"query": said}))

    async with FakeModel(one) as fake:
        verdicts = await run(requests, model_server, fake, research)
    (tool, whole, unanswered), (_, misses) = requests.scored(verdicts)
    assert tool.value == 16 / 40
    assert whole.value < tool.value
    assert not tool.holds
    assert not whole.holds
    assert unanswered.holds
    assert len(misses.rows) > 24
    assert "Authorization" not in fake.requests[0].headers


async def test_requests_for_tools_that_a_profile_has_not_are_left_out(requests, model_server):
    async def silent(said):
        return {"content": "I call nothing."}

    async with FakeModel(silent) as fake:
        verdicts = await run(requests, model_server, fake, await requests.published("default"))
    assert len(verdicts) == 35
    assert {verdict.request.tool for verdict in verdicts} == {
        *("web_search", "web_fetch", "read_page", "answer", ""),
    }


async def hang(said):
    await never()


def answering(**response):
    """A script that answers whatever is said with this response."""

    async def answer(said):
        return web.Response(**response)

    return answer


refuse = answering(status=401, text=json.dumps({"error": f"Incorrect API key provided: {KEY}"}))
fail = answering(status=500, text=f"\x1b[2J{KEY}" + "x" * 1_000)
PACKED = gzip.compress(b'{"choices": [{"message": {}}]}')
UNREADABLE = ("unreadable", "The answer is no chat completion.")
BROKEN = [
    (hang, "silent", "No answer within 0.2 s."),
    (refuse, "refused", "The server refuses the key (401)."),
    (fail, "failed", "The server answered with 500: '\\x1b[2J…xxx"),
    (
        answering(status=307, headers={"Location": "/elsewhere"}),
        *("failed", "The server answered with 307: "),
    ),
    (
        answering(body=b" " * (1 << 20) + b"{}"),
        *("too_large", "The answer has more than 1048576 bytes."),
    ),
    (answering(body=PACKED, headers={"Content-Encoding": "gzip"}), *UNREADABLE),
    *(
        (answering(body=body), *UNREADABLE)
        for body in (
            *(b'{"choices":' + b"[" * 100_000, b"<html>", b"", b"\xff\xfe", b"[]"),
            *(b'{"choices": []}', b'{"choices": [{"message": null}]}'),
            b'{"choices": [{"message": {"tool_calls": [{"function": {"name": 5}}]}}]}',
            b'{"choices": ' + b"9" * 5_000 + b"}",
        )
    ),
]
BROKEN_AS = [
    *("silent", "key refused", "failed", "redirect", "flood", "gzip", "nested without end", "HTML"),
    *("nothing", "no text", "a list", "no choice", "no message", "a number for a name", "digits"),
]


@pytest.mark.parametrize(("script", "reason", "told"), BROKEN, ids=BROKEN_AS)
async def test_a_broken_server_is_a_typed_error(model_server, script, reason, told):
    deadline = 0.2 if script is hang else 10.0
    async with FakeModel(script) as fake:
        async with model_server.open_model_server(
            fake.base, "a-model", key=KEY, deadline=deadline
        ) as server:
            with pytest.raises(model_server.ModelServerError) as caught:
                await server.choose([{"role": "user", "content": "hello"}], [])
    assert caught.value.reason == reason
    assert str(caught.value).startswith(told)
    assert KEY not in str(caught.value)
    assert len(fake.requests) == 1


@pytest.mark.parametrize("greeting", [b"no HTTP at all\r\n\r\n", b"HTTP/1.1 200 OK\r\n"], ids=str)
async def test_a_server_that_speaks_no_http_is_a_typed_error(model_server, greeting):
    async def play(connection):
        await connection.send(greeting)

    async with RawServer(greeting=play) as raw:
        async with model_server.open_model_server(raw.url, "a-model", deadline=10.0) as server:
            with pytest.raises(model_server.ModelServerError) as caught:
                await server.choose([], [])
    assert caught.value.reason == "unreachable"


@pytest.mark.parametrize(
    "address",
    [
        *("", "127.0.0.1:8080/v1", "ftp://127.0.0.1/v1", "http://user:word@127.0.0.1/v1"),
        *("http://models.example.com/v1", "http://[::1"),
    ],
)
async def test_an_address_that_would_tell_the_key_is_refused(model_server, address):
    with pytest.raises(model_server.ModelServerError):
        async with model_server.open_model_server(address, "a-model", key=KEY):
            pytest.fail("it was opened")


ODD = [
    ({"tool_calls": None}, []),
    ({"content": "no", "tool_calls": []}, []),
    ({"tool_calls": [{"function": {"name": "a", "arguments": {"b": 1}}}]}, [("a", {"b": 1})]),
    ({"tool_calls": [{"function": {"name": "a", "arguments": ""}}]}, [("a", {})]),
    ({"tool_calls": [{"function": {"name": "a", "arguments": None}}]}, [("a", {})]),
    ({"tool_calls": [{"function": {"name": "a", "arguments": "{"}}]}, [("a", None)]),
    ({"tool_calls": [{"function": {"name": "a", "arguments": "[1]"}}]}, [("a", None)]),
    ({"tool_calls": [{"function": {"name": "a", "arguments": "[" * 100_000}}]}, [("a", None)]),
]


@pytest.mark.parametrize(("answered", "chosen"), ODD, ids=lambda value: f"{value!s:.60}")
async def test_what_servers_write_for_arguments_is_read(model_server, answered, chosen):
    async def answer(said):
        return answered

    async with FakeModel(answer) as fake:
        async with model_server.open_model_server(f"{fake.base}/v1/", "a-model") as server:
            found = await server.choose([{"role": "user", "content": ""}], [])
    assert [(each.tool, each.arguments) for each in found] == chosen


@pytest.mark.parametrize(("script", "tries"), [(refuse, 1), (fail, 3)])
async def test_a_server_that_does_not_answer_is_left_alone(
    requests, model_server, research, script, tries
):
    async with FakeModel(script) as fake:
        with pytest.raises(model_server.ModelServerError):
            await run(requests, model_server, fake, research, key=KEY)
    assert len(fake.requests) == tries


async def test_requests_without_an_answer_are_told_and_the_rest_is_asked(
    requests, model_server, research
):
    async def once(said):
        return await fail(said) if said[-4:] in {"mme.", " is.", " 23?"} else {"content": ""}

    async with FakeModel(once) as fake:
        verdicts = await run(requests, model_server, fake, research)
    (*_, unanswered), (_, misses) = requests.scored(verdicts)
    assert unanswered.value == 3
    assert len(verdicts) == 40
    assert any("The server answered with 500" in row[1] for row in misses.rows)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--quick"], 0),
        ([], "Give --base-url and --model, or --quick to check the table alone."),
        (["--profile", "none"], "--profile must be one of "),
        (["--base-url", "ftp://a", "--model", "m"], "unreachable: --base-url must be an http(s)"),
    ],
    ids=str,
)
def test_the_command_line_says_what_is_missing(requests, monkeypatch, capsys, options, code):
    monkeypatch.setattr(sys, "argv", ["requests", *options])
    with pytest.raises(SystemExit) as caught:
        requests.main()
    assert caught.value.code == code or str(caught.value.code).startswith(str(code))
