"""An own instance in a container, with a stand-in for docker and podman."""

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from searx_mcp.cli.running import ExitCode
from searx_mcp.cli.spinner import Spinner
from searx_mcp.storage.sqlite_state import FILE_NAME

pytestmark = pytest.mark.slow

IMAGE = "docker.io/searxng/searxng:latest"
SOURCE = Path(__file__).with_name("stand_in_engine.py")


class Machine:
    """A machine with stand-in engines and a state folder of its own."""

    def __init__(self, root: Path, run_cli, port: int) -> None:
        self.root = root
        self.bin = root / "bin"
        self.bin.mkdir()
        self.folder = root / "state"
        self._run_cli = run_cli
        self.port = port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def settings(self) -> Path:
        return self.folder / "own-instance" / "settings.yml"

    @property
    def state(self) -> dict[str, Any]:
        file = self.root / "engine.json"
        state: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
        return state

    @property
    def containers(self) -> dict[str, Any]:
        containers: dict[str, Any] = self.state.get("containers", {})
        return containers

    def install(self, name: str) -> None:
        file = self.bin / name
        file.write_text(f"#!{sys.executable}\n{SOURCE.read_text()}")
        file.chmod(0o755)

    def environment(self, **mood: object) -> dict[str, str]:
        return {
            "PATH": str(self.bin),
            "SEARX_MCP_STORAGE__FOLDER": str(self.folder),
            "SEARX_MCP_INSTANCES__PUBLIC": "off",
            "STAND_IN": json.dumps(mood),
        }

    async def own(self, *arguments: str, **mood: object):
        if "--engine" not in arguments:
            arguments += ("--engine", "container")
        return await self._run_cli("instances", "own", *arguments, **self.environment(**mood))

    async def up(self, *arguments: str, **mood: object):
        return await self.own("up", "--port", str(self.port), *arguments, **mood)

    async def json_of(self, *arguments: str, **mood: object) -> dict[str, Any]:
        data: dict[str, Any] = json.loads((await self.own(*arguments, "--json", **mood)).out)
        return data

    async def search(self):
        arguments = ("search", "bees", "--no-fetch-content", "--json")
        return await self._run_cli(*arguments, **self.environment())

    def calls(self, verb: str) -> list[list[str]]:
        return [call for call in self.state["calls"] if verb in call[1:3]]

    def stop(self) -> None:
        """Stop the container behind our back."""
        command = [str(self.bin / "docker"), "stop", "-t", "1", "searx-mcp-own"]
        subprocess.run(command, check=True, timeout=60, env={**os.environ, **self.environment()})

    def close(self) -> None:
        for container in self.containers.values():
            with contextlib.suppress(KeyError, ProcessLookupError):
                os.kill(container["pid"], signal.SIGKILL)


@pytest.fixture
def machine(tmp_path, run_cli, unused_port):
    made = Machine(tmp_path, run_cli, unused_port())
    yield made
    made.close()


@pytest.fixture
def docker(machine):
    machine.install("docker")
    return machine


def up_report(machine, **other) -> dict[str, Any]:
    return {
        "engine": "docker",
        "container": "searx-mcp-own",
        "state": "running",
        "image": IMAGE,
        "url": machine.url,
        "healthy": True,
        "registered": True,
        "settings": str(machine.settings),
        "engines": [],
        "notes": [],
        **other,
    }


async def test_from_nothing_to_a_search_and_back(docker):
    up = await docker.up("--json")
    assert up.code == ExitCode.DONE, up.err
    assert json.loads(up.out) == up_report(docker, done="created")

    found = json.loads((await docker.search()).out)
    assert found["instance_used"] == docker.url
    assert [attempt["format"] for attempt in found["attempts"]] == ["json"]

    status = await docker.json_of("status")
    assert [engine["name"] for engine in status["engines"]] == ["alpha", "beta", "gamma"]
    assert status == up_report(docker, engines=status["engines"])

    assert await docker.json_of("up") == up_report(docker, done="unchanged")

    assert await docker.json_of("down") == {
        "engine": "docker",
        "container": "searx-mcp-own",
        "removed": True,
        "unregistered": docker.url,
        "settings": None,
    }
    assert not docker.containers
    assert not docker.settings.parent.exists()
    assert (await docker.search()).code == ExitCode.UNAVAILABLE


async def test_the_container_is_run_as_documented(docker):
    await docker.up()
    assert [call[1:] for call in docker.calls("pull")] == [["pull", IMAGE]]
    assert [call[1:] for call in docker.calls("run")] == [
        [
            *("run", "--detach", "--pull", "never", "--name", "searx-mcp-own"),
            *("--restart", "unless-stopped", "--publish", f"127.0.0.1:{docker.port}:8080"),
            *("--label", f"searx-mcp.own-instance={docker.url}"),
            *("--volume", f"{docker.settings}:/etc/searxng/settings.yml:ro,Z"),
            *("--env", "GRANIAN_HOST=0.0.0.0", IMAGE),
        ]
    ]


async def test_the_secret_is_random_private_and_never_shown(docker):
    ran = [await docker.up(), await docker.own("status"), await docker.own("status", "--json")]
    secret = yaml.safe_load(docker.settings.read_text())["server"]["secret_key"]
    assert len(secret) == 64
    assert stat.S_IMODE(docker.settings.parent.stat().st_mode) == 0o700
    await docker.own("down")
    ran += [await docker.up(exits=True), await docker.up("--json", exits=True)]
    other = yaml.safe_load(docker.settings.read_text())["server"]["secret_key"]
    assert other != secret
    for shown in ran:
        assert secret not in shown.out + shown.err
        assert other not in shown.out + shown.err


async def test_a_person_reads_what_was_done(docker):
    up = (await docker.up()).out.splitlines()
    assert up[0] == "Installed and running."
    assert up[-1] == ("Searches use it from now on; running servers notice within 15 seconds.")
    assert (await docker.own("up")).out.startswith("Already running.\n")
    await docker.own("down", "--keep-settings")
    assert docker.settings.exists()
    assert (await docker.own("down")).out == "No container exists.\n"
    status = await docker.own("status")
    assert status.code == ExitCode.DONE
    assert status.out.endswith("Start it with `searx-mcp instances own up`.\n")


async def test_a_stopped_container_and_the_next_one_have_the_settings_that_were_kept(docker):
    await docker.up()
    kept = docker.settings.read_text()
    docker.stop()
    status = await docker.json_of("status")
    assert (status["state"], status["healthy"], status["registered"]) == ("stopped", False, True)
    assert await docker.json_of("up") == up_report(docker, done="started")
    assert docker.settings.read_text() == kept
    assert len(docker.calls("run")) == 1
    await docker.own("down", "--keep-settings")
    await docker.up()
    assert docker.settings.read_text() == kept


async def test_always_pulling_makes_the_container_anew_and_keeps_it_where_nothing_comes(docker):
    await docker.up()
    assert await docker.json_of("up", "--pull", "always") == up_report(docker, done="updated")
    assert len(docker.calls("pull")) == len(docker.calls("run")) == 2
    failed = await docker.own("up", "--pull", "always", pull="fails")
    assert failed.code == ExitCode.FAILED
    status = await docker.json_of("status")
    assert (status["healthy"], status["registered"]) == (True, True)


async def test_an_image_of_ones_own_that_is_there_is_not_fetched(docker):
    missing = await docker.up("--image", "localhost/mine:1", "--pull", "never", "--json")
    assert json.loads(missing.out)["reason"] == "pull_failed"
    state = docker.state
    state["images"] = ["localhost/mine:1"]
    (docker.root / "engine.json").write_text(json.dumps(state))
    up = await docker.up("--image", "localhost/mine:1", "--pull", "never", "--json")
    assert json.loads(up.out)["image"] == "localhost/mine:1"
    assert not docker.calls("pull")


async def test_podman_is_used_where_docker_does_not_run(docker):
    docker.install("podman")
    up = await docker.up("--json", down=["docker"])
    assert json.loads(up.out) == up_report(docker, engine="podman", done="created")
    assert (await docker.json_of("status", "--engine", "podman"))["engine"] == "podman"


async def test_without_an_engine_it_says_what_to_do(machine, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    for command in ("up", "status", "down"):
        ran = await machine.own(command)
        assert ran.code == ExitCode.FAILED
        assert ran.out == ""
        assert ran.err.startswith(
            "searx-mcp: Neither docker nor podman is installed.\n"
            "Do one of these:\n"
            "- Run it without a container: searx-mcp instances own up --engine native\n"
            "- Install Podman (Debian and Ubuntu: sudo apt install podman; "
        )
        assert ran.err.endswith("docs/guides/own-instance.md#by-hand-with-compose\n")
    assert not machine.folder.joinpath("own-instance").exists()


@pytest.mark.parametrize(
    ("arguments", "mood", "reason", "words"),
    [
        ([], {"down": ["docker"]}, "engine_down", "sudo systemctl start docker"),
        ([], {"pull": "fails"}, "pull_failed", "pull access denied. Run `docker pull"),
        (["--timeout", "1"], {"pull": "hangs"}, "pull_failed", "was not fetched in time"),
        ([], {"port": "taken"}, "port_taken", "Choose another with --port."),
        ([], {"exits": True}, "exited", "The container exited."),
        ([], {"hang": True, "loops": True}, "exited", "The container exited."),
    ],
    ids=[
        *("daemon down", "fetch refused", "fetch too slow", "port lost"),
        *("ends at once", "ends again and again"),
    ],
)
async def test_a_failure_names_its_remedy_and_leaves_no_container(
    docker, monkeypatch, arguments, mood, reason, words
):
    monkeypatch.setattr(sys, "platform", "linux")
    ran = await docker.up("--json", *arguments, **mood)
    assert words in await said_by(ran, docker, reason)


async def test_one_that_never_answers_is_left_when_the_time_is_over(docker, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    # The time begins with the fetch of the image, which takes a busy machine some of it.
    seconds = 5
    ran = await docker.up("--json", "--timeout", str(seconds), hang=True)
    while json.loads(ran.out)["reason"] == "pull_failed" and seconds < 60:
        seconds *= 4
        ran = await docker.up("--json", "--timeout", str(seconds), hang=True)
    assert "--timeout" in await said_by(ran, docker, "not_ready")


async def said_by(ran, docker, reason: str) -> str:
    """What a command that failed says, once it is known that it has left nothing behind."""
    assert ran.code == ExitCode.FAILED
    data = json.loads(ran.out)
    assert set(data) == {"error_type", "error_details", "reason", "log"}
    assert (data["error_type"], data["reason"]) == ("container_failed", reason)
    assert not docker.containers
    status = await docker.json_of("status")
    assert (status["state"], status["registered"]) == ("absent", False)
    details: str = data["error_details"]
    return details


async def test_the_last_lines_of_a_container_that_ended_are_told(docker):
    data = await docker.json_of("up", "--port", str(docker.port), exits=True)
    assert data["log"] == ["SearXNG 2026.8.22", "key … is wrong"]


async def test_a_started_container_that_does_not_come_up_is_stopped_and_stays(docker):
    await docker.up()
    docker.stop()
    ran = await docker.own("up", "--timeout", "1", hang=True)
    assert ran.code == ExitCode.FAILED
    assert docker.containers["searx-mcp-own"]["status"] == "exited"


async def test_a_taken_port_is_refused_before_anything_is_done(docker):
    with socket.socket() as other:
        other.bind(("127.0.0.1", docker.port))
        other.listen()
        ran = await docker.up("--json")
    data = json.loads(ran.out)
    assert data["reason"] == "port_taken"
    assert data["error_details"] == (f"Port {docker.port} is taken. Choose another with --port.")
    assert not docker.calls("pull")


async def test_a_container_of_somebody_else_is_left_alone(docker):
    theirs = {"status": "running", "image": "theirs", "labels": {}, "restarts": 0}
    state = {"calls": [], "containers": {"searx-mcp-own": theirs}}
    (docker.root / "engine.json").write_text(json.dumps(state))
    for command in ("up", "status", "down"):
        assert (await docker.json_of(command))["reason"] == "name_taken"
    assert docker.containers == {"searx-mcp-own": theirs}


@pytest.mark.parametrize(
    ("arguments", "field"), [(["--port", "1"], "port"), (["--image", "localhost/mine:1"], "image")]
)
async def test_another_port_or_image_wants_the_old_container_gone(docker, arguments, field):
    await docker.up()
    ran = await docker.own("up", "--json", *arguments)
    assert ran.code == ExitCode.USAGE
    data = json.loads(ran.out)
    assert set(data) == {"error_type", "error_details", "field"}
    assert (data["error_type"], data["field"]) == ("invalid_argument", field)
    assert "down --keep-settings" in ran.err


@pytest.mark.parametrize("image", ["", "-v", "--privileged", "a b", "x" * 256])
async def test_an_image_cannot_be_an_option_of_the_engine(docker, image):
    ran = await docker.up(f"--image={image}")
    assert ran.code == ExitCode.USAGE
    assert "is not an image name such as" in ran.err
    assert not docker.state


async def test_without_a_state_folder_nothing_is_run(docker):
    environment = {**docker.environment(), "SEARX_MCP_STORAGE__STATE": "false"}
    ran = await docker._run_cli("instances", "own", "up", "--engine", "docker", **environment)
    assert ran.code == ExitCode.SETTINGS
    assert "storage.state" in ran.err
    assert "SEARXNG_URL" in ran.err
    assert not docker.state


async def test_a_folder_that_cannot_be_written_is_named(docker):
    docker.folder.mkdir()
    docker.settings.parent.touch()
    ran = await docker.up()
    assert ran.code == ExitCode.SETTINGS
    assert str(docker.settings.parent) in ran.err
    assert not docker.calls("run")


async def test_a_state_that_cannot_be_kept_is_told(docker):
    (docker.folder / FILE_NAME).mkdir(parents=True)
    ran = await docker.up()
    assert ran.code == ExitCode.DONE
    assert "used by searches  no" in ran.out
    assert "Searches use it" not in ran.out
    assert re.search(rf"^Note: .*{re.escape(str(docker.folder))}", ran.err, re.MULTILINE)


async def test_on_a_terminal_every_step_is_shown(docker, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    shown = []
    monkeypatch.setattr(Spinner, "update", lambda self, text: shown.append(text))
    await docker.up()
    assert shown == [
        "loading",
        "looking for the instance",
        "looking for a container engine",
        f"fetching {IMAGE}",
        f"fetching {IMAGE}: latest: Pulling from searxng",
        f"fetching {IMAGE}: abc: Pull complete",
        "starting",
        f"waiting for {docker.url}healthz",
    ]


@pytest.mark.parametrize("mood", [{"pull": "hangs"}, {"hang": True}], ids=["fetching", "waiting"])
async def test_an_interrupt_leaves_no_process_and_no_container(start_program, docker, mood):
    with socket.create_server(("127.0.0.1", 0)) as ears:
        ears.settimeout(60)
        environment = docker.environment(tell=ears.getsockname()[1], **mood)
        config = docker.root / "empty.toml"
        config.touch()
        process = await start_program(
            *(sys.executable, "-m", "searx_mcp"),
            *("instances", "own", "up", "--port", str(docker.port), "--engine", "container"),
            env={**os.environ, **environment, "SEARX_MCP_CONFIG": str(config)},
        )
        connection, _ = await asyncio.to_thread(ears.accept)
        with connection:
            pid = int(connection.makefile().readline())
        serving = docker.containers.get("searx-mcp-own", {}).get("pid")
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate()
    assert process.returncode == ExitCode.INTERRUPTED, err
    assert (out, b"Traceback" in err) == (b"", False)
    assert not docker.containers
    for ended in filter(None, (pid, serving)):
        assert not is_running(ended)


def is_running(pid: int) -> bool:
    """Whether a process of that id runs; one that waits to be collected does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
