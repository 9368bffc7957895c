"""A search starts the instance that is down, once, within its time."""

import asyncio
import os
import random
import signal

import pytest
from typing_extensions import override

from searx_mcp.client.facade import persistent_client
from searx_mcp.client.stores import open_state
from searx_mcp.errors import NoInstancesError
from searx_mcp.models.instance import InstanceState
from searx_mcp.models.own_instance import Installed, NativeFailure
from searx_mcp.ops.own import launcher
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.ops.own.installation import NativeFolder
from searx_mcp.ops.own.native import NativeOptions
from searx_mcp.ops.own.native_process import NativeProcess, Starting
from searx_mcp.ops.own.opening import open_native
from searx_mcp.ops.own.waking import Waking
from searx_mcp.pool.attempt import InstanceQuery
from searx_mcp.pool.pool import InstancePool
from searx_mcp.search.providers.context import Found, SearchContext

URL = "http://127.0.0.1:8888/"
FOUND = Found((), URL, (), complete=True)


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
def patient(stand_in, monkeypatch):
    """Settings of a busy machine: a search may wait longer for the instance."""
    monkeypatch.setattr("searx_mcp.ops.own.waking.WAIT", 60.0)
    tables = stand_in.settings.model_dump()
    tables["search"] |= {"phase_timeout": 120, "attempt_timeout": 60}
    tables["web_search"] |= {"default_timeout": 120}
    return type(stand_in.settings).model_validate(tables)


@pytest.mark.slow
async def test_a_search_starts_the_instance_that_is_down(installed, patient):
    async with persistent_client(patient) as client:
        response = await client.search("bees", fetch_content=False, results_count=3)
    assert response.instance_used == installed.url
    assert [attempt.verdict for attempt in response.attempts] == ["full"]


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 8])
async def test_many_clients_at_once_start_one(installed, patient, stand_in, count):
    async def search():
        async with persistent_client(patient) as client:
            return await client.search("bees", fetch_content=False)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(search()) for _ in range(count)]
    assert {task.result().instance_used for task in tasks} == {installed.url}
    assert NativeProcess(stand_in.state / "own-native" / "run").find() is not None


@pytest.mark.slow
async def test_what_was_removed_is_not_started_again(installed, patient, stand_in):
    async with open_native(
        stand_in.settings, open_state(stand_in.settings), progress=lambda _: None
    ) as runner:
        await runner.down()
    async with persistent_client(patient) as client:
        with pytest.raises(NoInstancesError):
            await client.search("bees", fetch_content=False)
    assert not (stand_in.state / "own-native").exists()


class Starts(Starting):
    """Counts how often it is asked to start the instance, and does so or not."""

    def __init__(self, *, works: bool) -> None:
        self.deadlines: list[float] = []
        self._works = works

    @override
    async def serve(self, process, installed, *, port, deadline):
        self.deadlines.append(deadline - asyncio.get_running_loop().time())
        if not self._works:
            raise OwnInstanceError("no", reason=NativeFailure.EXITED, advice="")
        return installed.url


class Answers:
    async def run(self, context):
        return FOUND


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

    def make(*, works=True, own=(URL,)):
        pool = InstancePool(own=own, rng=random.Random(1))
        starts = Starts(works=works)
        made = Waking(Answers(), folder=folder, starting=starts, pool=pool, clock=lambda: 1_000.0)

        async def search(seconds=10.0, **options):
            deadline = asyncio.get_running_loop().time() + seconds
            return await made.run(SearchContext(InstanceQuery("bees"), 10, deadline, **options))

        return search, starts, pool

    return make


async def test_it_is_waited_for_within_the_time_of_the_search(waking):
    search, starts, _ = waking()
    said: list[str] = []
    assert await search(10.0, progress=said.append) == FOUND
    assert await search(2.0) == FOUND
    assert [round(seconds, 1) for seconds in starts.deadlines] == [3.0, 1.0]
    assert said == [f"starting {URL}"]


async def test_one_that_failed_before_it_was_down_is_asked_again(waking):
    search, _, pool = waking()
    pool.probed(URL, alive=False, now=990.0)
    await search()
    assert pool.snapshot(1_000.0)[0].state is not InstanceState.FAILING


async def test_what_does_not_come_up_is_tried_once_and_the_search_goes_on(waking, pass_by):
    search, starts, _ = waking(works=False)
    for _ in range(3):
        assert await search() == FOUND
    assert len(starts.deadlines) == 1
    pass_by(61.0)
    await search()
    assert len(starts.deadlines) == 2


@pytest.mark.skipif(os.name != "posix", reason="it runs on POSIX alone")
@pytest.mark.parametrize(("port", "waits"), [(0, 1), (8888, 0)], ids=["starts", "serves"])
async def test_one_that_another_process_has_started_is_waited_for(waking, tmp_path, port, waits):
    import fcntl  # noqa: PLC0415 - POSIX alone

    search, starts, _ = waking()
    run = tmp_path / "own-native" / "run"
    run.mkdir(exist_ok=True)
    with (run / "run.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        launcher.write_run(run, tmp_path, port)
        assert await search() == FOUND
    assert len(starts.deadlines) == waits


@pytest.mark.parametrize("own", [(), ("http://127.0.0.1:9999/",)], ids=["none", "another"])
async def test_an_instance_that_is_not_registered_is_left_alone(waking, own):
    search, starts, _ = waking(own=own)
    assert await search() == FOUND
    assert starts.deadlines == []
