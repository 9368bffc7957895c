"""Free ports of loopback."""

import socket

import pytest

from searx_mcp.models.own_instance import NativeFailure
from searx_mcp.ops.own import loopback
from searx_mcp.ops.own.failures import OwnInstanceError
from searx_mcp.ops.own.loopback import free_port


@pytest.fixture
def taken():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_port_whose_last_connection_has_just_ended_is_free():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            server.accept()[0].close()  # the side that closes first waits for a minute
            assert client.recv(1) == b""
    assert free_port(port) == port


def test_a_wanted_port_that_is_taken_is_refused(taken):
    with pytest.raises(OwnInstanceError, match=f"Port {taken} is taken") as caught:
        free_port(taken)
    assert caught.value.reason is NativeFailure.PORT_TAKEN


def test_without_a_wish_the_first_free_one_is_given(taken, monkeypatch):
    monkeypatch.setattr(loopback, "FIRST_PORT", taken)
    assert taken < free_port(None) < taken + 20


def test_when_all_are_taken_that_is_said(taken, monkeypatch):
    monkeypatch.setattr(loopback, "FIRST_PORT", taken)
    monkeypatch.setattr(loopback, "_TRIED", 1)
    with pytest.raises(OwnInstanceError, match=f"Ports {taken} to {taken} are taken"):
        free_port(None)
