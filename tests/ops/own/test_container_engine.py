"""docker and podman: what they say of a container, and an engine that refuses, hangs or is gone."""

import json
import sys

import pytest

from searx_mcp.models.own_instance import ContainerFailure, ContainerState
from searx_mcp.ops.own import container_engine as module
from searx_mcp.ops.own.container_engine import Container, Engine, find_engines, parse_container
from searx_mcp.ops.own.failures import OwnInstanceError

DOCKER = {
    "Id": "9492ade838dc",
    "State": {"Status": "running", "Running": True, "ExitCode": 0, "Health": None},
    "Image": "sha256:4a7e61",
    "Name": "/searx-mcp-own",
    "RestartCount": 2,
    "Config": {"Image": "docker.io/searxng/searxng:latest", "Labels": {"a": "b"}},
}
PODMAN = {
    "Id": "9492ade838dc",
    "State": {"OciVersion": "1.0.2-dev", "Status": "running", "ConmonPid": 12795},
    "Image": "4a7e61",
    "ImageName": "localhost/fake:1",
    "RestartCount": 0,
    "Config": {"Image": "localhost/fake:1", "Labels": None},
}


def test_docker_and_podman_are_understood():
    assert parse_container(json.dumps([DOCKER])) == Container(
        ContainerState.RUNNING, "docker.io/searxng/searxng:latest", {"a": "b"}, 2
    )
    assert parse_container(json.dumps([PODMAN])) == Container(
        ContainerState.RUNNING, "localhost/fake:1", {}, 0
    )


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("running", ContainerState.RUNNING),
        ("restarting", ContainerState.RESTARTING),
        ("created", ContainerState.STOPPED),
        ("exited", ContainerState.STOPPED),
        ("paused", ContainerState.STOPPED),
        ("dead", ContainerState.STOPPED),
        ("configured", ContainerState.STOPPED),
        ("something new", ContainerState.STOPPED),
    ],
)
def test_whatever_does_not_run_is_stopped(status, state):
    described = {**DOCKER, "State": {"Status": status}}
    assert parse_container(json.dumps([described])).state is state


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "[{}]", "null", "[1]", json.dumps([DOCKER, DOCKER]), "\ud800"]
)
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError, match="description of the container cannot be read"):
        parse_container(text)


@pytest.fixture
def engine(tmp_path):
    """Make an engine out of a few lines of Python; `verb` is its subcommand."""

    def make(code: str, name: str = "docker") -> Engine:
        file = tmp_path / name
        head = f"#!{sys.executable} -SE\nimport sys, time\nverb = ' '.join(sys.argv[1:3])\n"
        file.write_text(f"{head}{code}\n")
        file.chmod(0o755)
        return Engine(name, str(file))

    return make


async def test_an_unknown_description_is_a_failure_of_the_engine(engine):
    with pytest.raises(
        OwnInstanceError, match=r"docker failed: .* description of the container cannot be read"
    ) as caught:
        await engine("print('[{}]')").find("a")
    assert caught.value.reason is ContainerFailure.ENGINE_FAILED


@pytest.mark.parametrize(
    "words",
    [
        "Error: No such container: a",
        "Error response from daemon: No such container: a",
        "Error: inspecting object: no such container a",
    ],
    ids=["docker", "docker 23", "podman"],
)
async def test_a_container_that_is_not_there_is_none(engine, words):
    assert await engine(f"print('[]'); sys.exit({words!r})").find("a") is None


async def test_another_failure_of_a_look_is_no_absence(engine):
    with pytest.raises(OwnInstanceError, match="disk on fire"):
        await engine("sys.exit('Error: disk on fire')").find("a")


async def test_removing_what_is_gone_is_harmless(engine):
    await engine("sys.exit('Error response from daemon: No such container: a')").remove("a")
    with pytest.raises(OwnInstanceError, match="in use"):
        await engine("sys.exit('Error: in use')").remove("a")


async def test_logs_of_both_streams_are_given_and_none_when_they_cannot_be_had(engine):
    talking = engine("print('one'); print('two', file=sys.stderr)")
    assert await talking.logs("a", lines=5) == ("one", "two")
    assert await talking.logs("a", lines=1) == ("two",)
    assert await engine("print('one'); sys.exit(1)").logs("a", lines=5) == ()


async def test_an_engine_that_hangs_is_given_up(engine, monkeypatch):
    monkeypatch.setattr(module, "_STOP", 0.5)
    with pytest.raises(OwnInstanceError, match="did not answer within"):
        await engine("time.sleep(600)").stop("a")


async def test_an_engine_that_is_gone_cannot_be_started(tmp_path):
    with pytest.raises(OwnInstanceError, match="cannot be started: No such file"):
        await Engine("docker", str(tmp_path / "docker")).check()


async def test_fetching_is_told_line_by_line(engine):
    told: list[str] = []
    await engine(r"print('abc: Pull complete\n\x1b[2Kdone ' + 'x' * 100)").pull(
        "an/image:1", timeout=30, progress=told.append
    )
    assert told[0] == "fetching an/image:1: abc: Pull complete"
    assert told[1].startswith("fetching an/image:1: done xxx")
    assert len(told[1]) < 100


@pytest.mark.parametrize(
    "words",
    [
        "docker: Error response from daemon: Bind for 127.0.0.1:8888 failed: port is already allocated",
        "Error: rootlessport listen tcp 127.0.0.1:8888: bind: address already in use",
    ],
    ids=["docker", "podman"],
)
async def test_a_port_lost_to_another_program_is_told_apart(engine, words):
    with pytest.raises(OwnInstanceError) as caught:
        await engine(f"sys.exit({words!r})").start("a")
    assert caught.value.reason is ContainerFailure.PORT_TAKEN


async def test_engines_are_tried_in_order_and_those_that_work_are_given(
    engine, tmp_path, monkeypatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OwnInstanceError) as caught:
        await find_engines()
    assert caught.value.reason is ContainerFailure.NO_ENGINE
    engine("sys.exit('Cannot connect to Podman')", "podman")
    with pytest.raises(OwnInstanceError, match="podman is installed, but does not answer"):
        await find_engines()
    engine("sys.exit('Cannot connect to the Docker daemon')", "docker")
    with pytest.raises(OwnInstanceError, match="docker is installed, but does not answer"):
        await find_engines()
    engine("pass", "podman")
    assert [found.name for found in await find_engines()] == ["podman"]
    engine("pass", "docker")
    assert [found.name for found in await find_engines()] == ["docker", "podman"]
    assert [found.name for found in await find_engines("podman")] == ["podman"]
    (tmp_path / "docker").unlink()
    with pytest.raises(OwnInstanceError, match=r"docker is not installed\."):
        await find_engines("docker")


async def test_an_image_is_there_or_not(engine):
    assert await engine("print('sha256:0')").has_image("x")
    assert not await engine("sys.exit('Error: x: image not known')").has_image("x")


async def test_the_command_is_handed_over_without_a_shell(engine, tmp_path):
    file = tmp_path / "call"
    made = engine(f"import json; open({str(file)!r}, 'w').write(json.dumps(sys.argv[1:]))")
    await made.start("$(reboot); x")
    assert json.loads(file.read_text()) == ["start", "$(reboot); x"]
