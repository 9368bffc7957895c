"""A search starts the instance that is down, once, and waits for it if nobody else can serve."""

import asyncio
import json
import os
import random
import signal
import sys

import pytest
from typing_extensions import override

from searx_mcp.client.facade import persistent_client
from searx_mcp.client.stores import open_state
from searx_mcp.errors import NoInstancesError, UnavailableReason
from searx_mcp.models.attempt import Attempt, Format, Verdict
from searx_mcp.models.instance import InstanceState
from searx_mcp.models.own_instance import Installed, NativeFailure
from searx_mcp.ops.own import launcher
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.ops.own.installation import NativeFolder
from searx_mcp.ops.own.native import NativeOptions, open_native
from searx_mcp.ops.own.native_process import NativeProcess, Starting
from searx_mcp.ops.own.waking import Waking
from searx_mcp.pool.pool import InstancePool
from searx_mcp.pool.proposal import InstanceQuery
from searx_mcp.search.providers.context import Found, SearchContext
from tests.doubles.virtual_time import in_virtual_time

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "a test", "version": "1"},
}
URL = "http://127.0.0.1:8888/"
FOUND = Found((), URL, (), complete=True)


def message(method, number=None, **fields):
    named = {} if number is None else {"id": number}
    return json.dumps({"jsonrpc": "2.0", "method": method, **named, **fields}).encode() + b"\n"


@pytest.fixture
async def installed(stand_in, until):
    """An instance that is installed and down, as after a restart of the machine."""
    stand_in.install_uv()
    async with open_native(
        stand_in.settings, open_state(stand_in.settings), progress=lambda _: None
    ) as runner:
        up = await runner.up(NativeOptions(str(stand_in.archive()), stand_in.port))
    process = NativeProcess(stand_in.state / "own-native" / "run")
    assert up.pid is not None
    os.kill(up.pid, signal.SIGKILL)
    await until(lambda: not process.is_held)
    return up


@pytest.fixture
def patient(stand_in):
    """Settings of a busy machine: a search has more time."""
    tables = stand_in.settings.model_dump()
    tables["search"] |= {"phase_timeout": 120, "attempt_timeout": 60}
    tables["web_search"] |= {"default_timeout": 120}
    return type(stand_in.settings).model_validate(tables)


@pytest.mark.slow
async def test_many_clients_at_once_start_one(installed, patient, stand_in):
    async def search():
        async with persistent_client(patient) as client:
            return await client.search("bees", fetch_content=False)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(search()) for _ in range(4)]
    assert {task.result().instance_used for task in tasks} == {installed.url}
    assert NativeProcess(stand_in.state / "own-native" / "run").find() is not None


@pytest.mark.slow
async def test_one_that_hangs_is_started_anew_after_two_timeouts_in_a_row(
    installed, stand_in, until
):
    tables = stand_in.settings.model_dump()
    tables["search"] |= {"phase_timeout": 20, "attempt_timeout": 5, "cache_ttl": 0}
    tables["web_search"] |= {"default_timeout": 120}
    process = NativeProcess(stand_in.state / "own-native" / "run")
    async with persistent_client(type(stand_in.settings).model_validate(tables)) as client:

        async def search(text):
            return await client.search(text, fetch_content=False, timeout=60, results_count=3)

        async def miss(text):
            with pytest.raises(NoInstancesError, match="did not answer in time"):
                await search(text)

        await search("bees")
        first = await until(process.find)
        os.kill(first.pid, signal.SIGSTOP)
        async with asyncio.TaskGroup() as group:
            for text in "abcd":
                group.create_task(miss(text))
        assert process.find() == first
        response = await search("bees again")
    assert [attempt.verdict for attempt in response.attempts] == ["timeout", "full"]
    latest = process.find()
    assert latest is not None
    assert latest.pid != first.pid


@pytest.mark.slow
async def test_one_that_refuses_connections_is_started_and_asked_again(installed, patient, until):
    """It ends while a search is on its way to it."""
    async with persistent_client(patient) as client:
        first = await client.search("bees", fetch_content=False, results_count=3)
        process = NativeProcess(patient.state_folder() / "own-native" / "run")
        pids = [(await until(process.find)).pid]

        def end(message):
            if pids and message.startswith("asking"):
                os.kill(pids.pop(), signal.SIGKILL)
                while process.is_held:
                    pass

        second = await client.search("flies", fetch_content=False, results_count=3, progress=end)
    assert [attempt.verdict for attempt in first.attempts] == ["full"]
    assert [attempt.verdict for attempt in second.attempts] == ["connection", "full"]


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "streamable-http"])
async def test_a_server_starts_the_instance_before_the_first_search(
    installed, stand_in, until, start_program, transport
):
    config = stand_in.folder / "config.toml"
    config.write_text(f'storage.folder = "{stand_in.state}"\nopen_sources.mode = "off"\n')
    environment = {**os.environ, "SEARX_MCP_CONFIG": str(config)}
    served = ("serve", "--transport", transport, *(["--port", "0"] if transport != "stdio" else []))
    server = await start_program(sys.executable, "-m", "searx_mcp", *served, env=environment)
    process = NativeProcess(stand_in.state / "own-native" / "run")
    if transport == "stdio":
        server.stdin.write(message("initialize", 1, params=HELLO))  # nothing more until a call
        assert b"serverInfo" in await server.stdout.readline()
    await until(lambda: (running := process.find()) is not None and running.port)


class Starts(Starting):
    """Counts how often it is asked to start the instance, and does so after a time, or not."""

    def __init__(self, *, seconds: float, works: bool) -> None:
        self.count = 0
        self._seconds = seconds
        self._works = works

    @override
    async def serve(self, process, installed, *, port, deadline):
        self.count += 1
        await asyncio.sleep(self._seconds)
        if not self._works:
            raise OwnInstanceError(
                "SearXNG exited.", reason=NativeFailure.EXITED, advice="Mend it."
            )
        return installed.url


class Answers:
    """Finds something, or cannot serve; remembers when it was asked."""

    def __init__(self, *failures: NoInstancesError) -> None:
        self.at: list[float] = []
        self._failures = [*failures]

    async def run(self, context):
        self.at.append(round(asyncio.get_running_loop().time(), 3))
        if self._failures:
            raise self._failures.pop(0)
        return FOUND


REFUSED = NoInstancesError(
    "It does not answer.",
    reason=UnavailableReason.OWN_DOWN,
    attempts=(Attempt(instance=URL, verdict=Verdict.CONNECTION, format=Format.JSON),),
    advice="Start it.",
)


@pytest.fixture
def waking(tmp_path):
    folder = NativeFolder(tmp_path / "own-native")
    folder.prepare("")
    name = folder.make_version()
    python = folder.environment(name) / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    described = {"version": "1", "commit": "", "tree": "", "released_at": 0.0, "port": 8888}
    folder.switch(Installed(folder=name, **described))

    def make(clock, *, seconds=1.0, works=True, own=(URL,), provider=None):
        pool = InstancePool(own=own, rng=random.Random(1))
        starts = Starts(seconds=seconds, works=works)
        made = Waking(
            provider or Answers(),
            folder=folder,
            starting=starts,
            pool=pool,
            spawn=lambda work: asyncio.get_running_loop().create_task(work),
            clock=clock,
        )

        async def search(seconds=10.0, **options):
            deadline = asyncio.get_running_loop().time() + seconds
            return await made.run(SearchContext(InstanceQuery("bees"), 10, deadline, **options))

        return search, starts, pool

    return make


@in_virtual_time
async def test_all_searches_wait_for_one_start_until_it_is_up(waking, clock):
    search, starts, _ = waking(clock, seconds=13)
    said: list[str] = []
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(search(30, progress=said.append)) for _ in range(8)]
    assert [task.result() for task in tasks] == [FOUND] * 8
    assert (clock.elapsed, starts.count) == (pytest.approx(13), 1)
    assert said == [f"starting {URL}"] * 8


@in_virtual_time
async def test_a_search_that_ends_before_it_is_up_says_that_it_starts_and_the_next_waits_on(
    waking, clock
):
    search, starts, _ = waking(clock, seconds=13)
    with pytest.raises(NoInstancesError, match="is starting") as caught:
        await search(8)
    assert clock.elapsed == pytest.approx(8)
    assert (caught.value.retry_after, caught.value.reason) == (5, UnavailableReason.OWN_DOWN)
    assert "Search again in 5 s" in caught.value.advice
    assert await search(8) == FOUND
    assert (clock.elapsed, starts.count) == (pytest.approx(13), 1)


@pytest.mark.parametrize(("seconds", "waits"), [(10, 3), (2, 1)])
@pytest.mark.parametrize("others", ["own", "behind"])
@in_virtual_time
async def test_a_search_that_others_can_serve_waits_for_a_moment(
    waking, clock, seconds, waits, others
):
    answers = Answers()
    own = (URL, "http://127.0.0.1:9999/") if others == "own" else (URL,)
    search, _, _ = waking(clock, seconds=60, own=own, provider=answers)
    assert await search(seconds, is_followed=others == "behind") == FOUND
    assert answers.at == [waits]


@in_virtual_time
async def test_what_others_cannot_serve_after_all_waits_on(waking, clock):
    answers = Answers(REFUSED)
    own = (URL, "http://127.0.0.1:9999/")
    search, _, _ = waking(clock, seconds=7, own=own, provider=answers)
    with pytest.raises(NoInstancesError, match="is starting") as caught:
        await search(5)
    assert (caught.value.attempts, clock.elapsed) == (REFUSED.attempts, pytest.approx(5))


@in_virtual_time
async def test_one_that_failed_before_it_was_down_is_asked_by_all_at_once(waking, clock):
    search, _, pool = waking(clock)
    for _ in range(3):
        pool.probed(URL, alive=False, now=clock())
    assert pool.snapshot(clock())[0].state is InstanceState.FAILING
    await search()
    assert pool.snapshot(clock())[0].state is InstanceState.NEW
    for _ in range(32):
        assert pool.propose(clock()) is not None
        pool.begin(URL, clock())


@in_virtual_time
async def test_one_that_ends_as_it_starts_is_tried_once_a_minute_and_the_search_goes_on(
    waking, clock
):
    search, starts, _ = waking(clock, works=False)
    for _ in range(3):
        assert await search() == FOUND
    assert starts.count == 1
    clock.pass_by(61.0)
    await search()
    assert starts.count == 2


@in_virtual_time
async def test_why_it_does_not_start_is_said_where_nobody_else_can_serve(waking, clock):
    search, _, _ = waking(clock, works=False, provider=Answers(REFUSED))
    with pytest.raises(NoInstancesError) as caught:
        await search()
    assert caught.value.message == "Your own SearXNG instance does not start. SearXNG exited"
    assert caught.value.advice == "Mend it."
    assert caught.value.retry_after == pytest.approx(60)
    assert caught.value.attempts == REFUSED.attempts


@pytest.mark.skipif(os.name != "posix", reason="it runs on POSIX alone")
@pytest.mark.parametrize(("port", "starting"), [(0, 1), (8888, 0)], ids=["starts", "serves"])
@in_virtual_time
async def test_one_that_another_process_has_started_is_waited_for(
    waking, clock, tmp_path, port, starting
):
    import fcntl  # noqa: PLC0415 - POSIX alone

    search, starts, _ = waking(clock)
    run = tmp_path / "own-native" / "run"
    run.mkdir(exist_ok=True)
    with (run / "run.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        launcher.write_run(run, tmp_path, port)
        assert await search() == FOUND
    assert starts.count == starting


@pytest.mark.parametrize("own", [(), ("http://127.0.0.1:9999/",)], ids=["none", "another"])
@in_virtual_time
async def test_an_instance_that_is_not_registered_is_left_alone(waking, clock, own):
    search, starts, _ = waking(clock, own=own)
    assert await search() == FOUND
    assert starts.count == 0
