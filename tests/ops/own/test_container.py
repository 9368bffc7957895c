"""What `container inspect` says, cut down from docker 28 and podman 4.3."""

import json

import pytest

from searx_mcp.models.own_instance import ContainerState
from searx_mcp.ops.own.container import Container, parse_container

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
    with pytest.raises(ValueError, match="unknown way"):
        parse_container(text)
