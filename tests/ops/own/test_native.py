"""The whole way of an instance of one's own: installed, run, updated, removed, for real."""

import asyncio
import os
import shutil
import signal
import stat
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from searx_mcp.client.stores import open_state
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.models.instance import InstanceChoice
from searx_mcp.models.own_instance import Done, NativeFailure, NativeState
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.ops.own.installation import NativeFolder
from searx_mcp.ops.own.native import NativeOptions, open_native
from searx_mcp.ops.own.native_process import NativeProcess
from searx_mcp.ops.own.source import PINNED, unpack
from searx_mcp.pool.config import OwnConfig
from tests.ops.own.conftest import is_running

pytestmark = pytest.mark.slow

TIMEOUT = 100.0


class Machine:
    """The runner of one machine, opened anew for each call as commands do."""

    def __init__(self, stand_in, until) -> None:
        self._until = until
        self.stand_in = stand_in
        self.settings = stand_in.settings
        self.files = NativeFolder(stand_in.state / "own-native")
        self.process = NativeProcess(self.files.run)
        self.steps: list[str] = []

    @asynccontextmanager
    async def runner(self, progress=None):
        async with open_native(
            self.settings, open_state(self.settings), progress=progress or self.steps.append
        ) as runner:
            yield runner

    async def up(self, archive=None, *, progress=None, port=None):
        version = str(archive) if archive else None
        port = port or (self.stand_in.port if archive else None)
        async with self.runner(progress) as runner:
            return await runner.up(NativeOptions(version, port, TIMEOUT))

    async def update(self, archive, *, progress=None):
        async with self.runner(progress) as runner:
            return await runner.update(NativeOptions(str(archive), None, TIMEOUT))

    async def status(self):
        async with self.runner() as runner:
            return await runner.status()

    async def down(self, **options):
        async with self.runner() as runner:
            return await runner.down(**options)

    async def registered(self) -> tuple[str, ...]:
        state = open_state(self.settings)
        try:
            return tuple((await state.choices())[InstanceChoice.OWN])
        finally:
            await state.aclose()

    def versions(self) -> list[str]:
        folder = self.files.path / "versions"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []

    async def kill(self) -> None:
        running = self.process.find()
        assert running is not None
        os.kill(running.pid, signal.SIGKILL)
        await self._until(lambda: not self.process.is_held)


@pytest.fixture
def machine(stand_in, until):
    stand_in.install_uv()
    return Machine(stand_in, until)


def too_long(step, pass_by):
    """Let a step take longer than there is time."""
    return lambda text: pass_by(2 * TIMEOUT) if text.startswith(step) else None


async def test_from_nothing_to_an_instance_and_back(machine, stand_in):
    up = await machine.up(stand_in.archive())
    assert (up.done, up.state, up.healthy, up.registered) == (
        Done.CREATED,
        NativeState.RUNNING,
        True,
        True,
    )
    assert up.version == "2026.8.22+c0ffeec0f"
    assert up.failing == {"brave": "CAPTCHA"}
    assert up.missing == ()
    assert list(up.seconds) == ["source", "environment", "start", "search"]
    assert await machine.registered() == (up.url,)
    assert stat.S_IMODE(machine.files.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(machine.files.settings.stat().st_mode) == 0o600

    again = await machine.up()
    assert (again.done, again.pid) == (Done.UNCHANGED, up.pid)

    down = await machine.down()
    assert (down.removed, down.unregistered, down.settings) == (True, up.url, None)
    assert await machine.registered() == ()
    assert not machine.files.path.exists()
    assert not machine.process.is_held
    assert (await machine.status()).state is NativeState.ABSENT
    assert not (await machine.down()).removed


@pytest.mark.parametrize(("is_pinned", "version"), [(True, "1.0"), (False, "2.0")])
async def test_the_pinned_version_alone_has_fixed_packages(
    machine, stand_in, monkeypatch, is_pinned, version
):
    stand_in.add_wheel("something-searxng-needs", "2.0")
    constraints = stand_in.folder / "constraints.txt"
    constraints.write_text("something-searxng-needs==1.0\n")
    monkeypatch.setattr("searx_mcp.ops.own.native.CONSTRAINTS", constraints)
    archive = stand_in.archive()
    if is_pinned:
        tree = unpack(archive.read_bytes(), None).tree
        monkeypatch.setattr("searx_mcp.ops.own.native.PINNED_TREE", tree)
    await machine.up(archive)
    pattern = "versions/*/environment/lib/*/site-packages/something_searxng_needs-*.dist-info"
    (found,) = machine.files.path.glob(pattern)
    assert found.name == f"something_searxng_needs-{version}.dist-info"


async def test_what_hangs_is_started_anew(machine, stand_in):
    first = await machine.up(stand_in.archive())
    assert first.pid is not None
    os.kill(first.pid, signal.SIGSTOP)
    again = await machine.up()
    assert (again.done, again.healthy) == (Done.STARTED, True)


async def test_it_ends_when_it_is_idle_and_stays_registered(machine, stand_in, until):
    machine.settings = machine.settings.model_copy(update={"own": OwnConfig(idle=1.0)})
    up = await machine.up(stand_in.archive())
    await until(lambda: not machine.process.is_held)
    now = await machine.status()
    assert (now.state, now.registered, now.url) == (NativeState.STOPPED, True, up.url)


async def test_changed_settings_are_taken_over_by_up(machine, stand_in):
    first = await machine.up(stand_in.archive())
    text = machine.files.settings.read_text()
    machine.files.settings.write_text(text.replace("      - wikipedia\n", ""))
    later = (machine.files.run / "run.json").stat().st_mtime + 5
    os.utime(machine.files.settings, (later, later))
    again = await machine.up()
    assert again.done is Done.STARTED
    assert again.pid != first.pid


async def test_another_port_is_taken_over_and_registered(machine, stand_in, unused_port):
    first = await machine.up(stand_in.archive())
    port = unused_port()
    moved = await machine.up(port=port)
    assert moved.url == f"http://127.0.0.1:{port}/" != first.url
    assert await machine.registered() == (moved.url,)


async def test_of_several_at_once_one_installs(machine, stand_in):
    archive = stand_in.archive()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(machine.up(archive)) for _ in range(8)]
    done = sorted(task.result().done for task in tasks)
    assert done == [Done.CREATED, *[Done.UNCHANGED] * 7]
    assert len({task.result().pid for task in tasks}) == 1
    assert len(machine.versions()) == 1


async def test_the_installed_version_is_started_under_each_of_its_names_without_room(
    machine, stand_in, monkeypatch
):
    archive = stand_in.archive()
    first = await machine.up(archive)
    full(stand_in, monkeypatch)
    copy = archive.with_name("a copy.zip")
    copy.write_bytes(archive.read_bytes())
    for name in (archive, copy, stand_in.commit):
        again = await machine.up(name)
        assert (again.done, again.pid) == (Done.UNCHANGED, first.pid)
    await machine.kill()
    assert (await machine.up(copy)).done is Done.STARTED
    assert len(machine.versions()) == 1
    assert "installing" not in " ".join(machine.steps[machine.steps.index("searching once") :])


async def test_an_update_switches_and_leaves_one_version(machine, stand_in):
    old = await machine.up(stand_in.archive())
    newer = stand_in.archive(commit="d" * 40, more="newer")
    new = await machine.update(newer)
    assert (new.done, new.url, new.healthy) == (Done.UPDATED, old.url, True)
    assert new.version != old.version
    assert len(machine.versions()) == 1
    same = await machine.update(newer)
    assert (same.done, same.pid) == (Done.UNCHANGED, new.pid)
    assert len(machine.versions()) == 1


@pytest.mark.parametrize(
    ("mood", "late", "reason"),
    [
        ("ends", "-", NativeFailure.EXITED),
        ("hangs", "trying", NativeFailure.NOT_READY),
        ("finds nothing", "-", NativeFailure.NOT_READY),
    ],
)
async def test_an_update_that_serves_less_keeps_the_old_version(
    machine, stand_in, pass_by, mood, late, reason
):
    old = await machine.up(stand_in.archive())
    archive = stand_in.archive(mood, commit="d" * 40)
    with pytest.raises(OwnInstanceError) as caught:
        await machine.update(archive, progress=too_long(late, pass_by))
    assert caught.value.reason is reason
    assert caught.value.advice.startswith("The old version stays. ")
    now = await machine.status()
    assert (now.version, now.pid, now.healthy) == (old.version, old.pid, True)
    assert len(machine.versions()) == 1


async def test_an_update_that_was_killed_before_the_switch_was_over_is_finished_by_up(
    machine, stand_in
):
    first = await machine.up(stand_in.archive())
    current = machine.files.recorded
    moved = machine.files.make_version()
    for part in ("source", "environment"):
        kept = machine.files.path / "versions" / current.folder / part
        await asyncio.to_thread(
            shutil.copytree, kept, kept.parents[1] / moved / part, symlinks=True
        )
    machine.files.switch(current.model_copy(update={"folder": moved}))
    again = await machine.up()
    assert (again.done, again.healthy) == (Done.STARTED, True)
    assert again.pid != first.pid


async def test_there_is_nothing_to_update_before_up(machine, stand_in):
    with pytest.raises(OwnInstanceError) as caught:
        await machine.update(stand_in.archive())
    assert caught.value.reason is NativeFailure.NOT_INSTALLED


async def test_an_installed_version_is_changed_by_update_alone(machine, stand_in):
    await machine.up(stand_in.archive())
    newer = stand_in.archive(more="newer")
    spaced = newer.rename(newer.with_name("the newer.zip"))
    for name, shown in ((spaced, f"'{spaced}'"), ("d" * 40, "d" * 40)):
        with pytest.raises(InvalidArgumentError, match="is installed") as caught:
            await machine.up(name)
        assert caught.value.advice == f"Run `searx-mcp instances own update --version {shown}`."
    assert (await machine.status()).healthy


async def test_what_engines_say_is_shown_only_while_it_does_not_answer(machine, stand_in):
    up = await machine.up(stand_in.archive("says something"))
    assert up.log == (await machine.status()).log == ()
    await machine.kill()
    assert (await machine.status()).log == ("ErrorContext('an engine')",)
    async with machine.runner() as runner:
        assert await runner.log(1) == ("ErrorContext('an engine')",)


@pytest.mark.parametrize(
    ("mood", "missing", "notes"),
    [
        ("lacks an engine", ("wikipedia",), ()),
        ("finds nothing", (), ("The first search found nothing: wikipedia (timeout).",)),
    ],
)
async def test_what_an_instance_lacks_is_said_and_no_failure(
    machine, stand_in, mood, missing, notes
):
    up = await machine.up(stand_in.archive(mood))
    assert (up.done, up.missing, up.notes) == (Done.CREATED, missing, notes)


@pytest.mark.parametrize(
    ("mood", "uv", "late", "reason"),
    [
        ("ends", "", "-", NativeFailure.EXITED),
        ("html", "", "-", NativeFailure.NOT_READY),
        ("hangs", "", "starting", NativeFailure.NOT_READY),
        ("", "full", "-", NativeFailure.DISK_FULL),
        ("", "offline", "-", NativeFailure.NO_NETWORK),
        ("", "hangs", "installing", NativeFailure.INSTALL_FAILED),
    ],
)
async def test_a_failure_is_typed_and_leaves_nothing(
    machine, stand_in, monkeypatch, pass_by, mood, uv, late, reason
):
    monkeypatch.setenv("STAND_IN_UV", uv)
    with pytest.raises(OwnInstanceError) as caught:
        await machine.up(stand_in.archive(mood), progress=too_long(late, pass_by))
    assert caught.value.reason is reason
    assert caught.value.advice
    assert not machine.files.path.exists()
    assert not machine.process.is_held
    assert await machine.registered() == ()


async def test_without_the_module_venv_it_says_what_to_install(stand_in, until, monkeypatch):
    python = stand_in.folder / "bin" / "python3"
    python.write_text("#!/bin/sh\necho 'ensurepip is not available' >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    machine = Machine(stand_in, until)
    with pytest.raises(OwnInstanceError) as caught:
        await machine.up(stand_in.archive())
    assert caught.value.reason is NativeFailure.NO_VENV
    assert "-venv" in caught.value.advice
    assert not machine.files.path.exists()


async def test_a_taken_port_is_said_before_anything_is_done(machine, stand_in):
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", stand_in.port)
    async with server:
        with pytest.raises(OwnInstanceError) as caught:
            await machine.up(stand_in.archive())
    assert caught.value.reason is NativeFailure.PORT_TAKEN
    assert machine.steps == []
    assert not machine.files.path.exists()


async def test_a_port_that_was_taken_while_it_was_down_is_said(machine, stand_in):
    first = await machine.up(stand_in.archive())
    await machine.kill()
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", int(first.url[17:-1]))
    async with server:
        with pytest.raises(OwnInstanceError) as caught:
            await machine.up()
    assert caught.value.reason is NativeFailure.PORT_TAKEN
    assert "own up --port" in caught.value.advice
    assert (await machine.up()).healthy


def full(stand_in, monkeypatch):
    monkeypatch.setattr("searx_mcp.ops.own.installation.ROOM", 2**62)
    return stand_in.archive()


def unwritable(stand_in, _monkeypatch):
    stand_in.state.parent.mkdir(exist_ok=True)
    stand_in.state.write_text("a file where the folder should be")
    return stand_in.archive()


def of_another_commit(stand_in, _monkeypatch):
    return stand_in.archive(commit=PINNED)


@pytest.mark.parametrize(
    ("trouble", "reason", "words"),
    [
        (full, NativeFailure.DISK_FULL, "150 MB"),
        (unwritable, NativeFailure.NOT_WRITABLE, "storage.folder"),
        (of_another_commit, NativeFailure.WRONG_TREE, "another network"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
async def test_what_cannot_be_installed_is_refused_and_leaves_nothing(
    machine, stand_in, monkeypatch, trouble, reason, words
):
    archive = trouble(stand_in, monkeypatch)
    with pytest.raises(OwnInstanceError) as caught:
        await machine.up(archive)
    assert caught.value.reason is reason
    assert words in caught.value.advice
    assert (machine.steps == []) is (trouble is not of_another_commit)
    assert not machine.files.path.exists()


STEPS = ["fetching", "creating an environment", "installing", "starting SearXNG", "searching once"]


@pytest.mark.parametrize("step", STEPS)
async def test_an_interruption_takes_back_what_was_begun(machine, stand_in, until, step):
    me = asyncio.current_task()
    assert me is not None
    found = []

    def interrupt(text):
        if text.startswith(step):
            found.append(machine.process.find())
            me.cancel()

    with pytest.raises(asyncio.CancelledError):
        await machine.up(stand_in.archive(), progress=interrupt)
    me.uncancel()
    assert not machine.files.path.exists()
    assert await machine.registered() == ()
    (running,) = found
    assert (running is not None) is (step == STEPS[-1])
    if running is not None:
        await until(lambda: not is_running(running.pid))


async def test_what_a_kill_left_behind_is_removed_by_the_next_up(machine, stand_in):
    left = machine.files.path / "versions" / "left"
    left.mkdir(parents=True)
    await machine.up(stand_in.archive())
    assert "left" not in machine.versions()


async def test_an_instance_whose_python_is_gone_is_installed_anew(machine, stand_in):
    first = await machine.up(stand_in.archive())
    await machine.kill()
    (python,) = machine.files.path.glob("versions/*/environment/bin/python")
    python.unlink()
    assert "reinstalls it" in (await machine.status()).notes[0]
    again = await machine.up(stand_in.archive())
    assert (again.done, again.healthy) == (Done.CREATED, True)
    assert await machine.registered() == (again.url,)
    assert first.url == again.url


async def test_kept_settings_serve_the_next_instance(machine, stand_in):
    await machine.up(stand_in.archive())
    kept = machine.files.settings.read_text()
    down = await machine.down(keep_settings=True)
    assert down.settings == str(machine.files.settings)
    await machine.up(stand_in.archive())
    assert machine.files.settings.read_text() == kept


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not show variables")
async def test_variables_of_the_user_do_not_reach_it(machine, stand_in, monkeypatch):
    monkeypatch.setenv("SEARXNG_SECRET", "theirs")
    monkeypatch.setenv("PYTHONPATH", str(stand_in.folder))
    up = await machine.up(stand_in.archive())
    assert b"theirs" not in await asyncio.to_thread(Path(f"/proc/{up.pid}/environ").read_bytes)


async def test_windows_is_told_why_not(machine, stand_in, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(OwnInstanceError) as caught:
        await machine.up(stand_in.archive())
    assert caught.value.reason is NativeFailure.UNSUPPORTED
    assert "WSL" in caught.value.advice
    assert "instances add" in caught.value.advice
