"""The way to a host, and what each failure means."""

import asyncio
import errno
import socket
import ssl

import pytest
from yarl import URL

from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.diagnosis import Reached
from searx_mcp.ops.doctor import connection
from searx_mcp.ops.doctor.checks import CheckRunner, CheckStatus
from searx_mcp.ops.doctor.connection import (
    ConnectionOptions,
    ConnectionPath,
    check_dns,
    check_path,
    check_proxy,
    check_tcp,
)
from searx_mcp.testing.searxng import FakeSearxng


def options(*addresses: str, contained: bool = False, error: Exception | None = None, **network):
    async def look_up(_host: str, _port: int) -> tuple[str, ...]:
        if error is not None:
            raise error
        return addresses

    config = NetworkConfig.model_validate(network)
    return ConnectionOptions(look_up, config.proxies(), in_container=contained)


def way(url: str, *addresses: str, contained: bool = False) -> ConnectionPath:
    return ConnectionPath(URL(url), options(contained=contained), addresses=addresses)


async def test_a_name_with_addresses_tells_them():
    known = ConnectionPath(URL("https://a.example/"), options("192.168.1.2", "2001:db8::1"))
    found = await check_dns(known)
    assert (found.status, found.detail) == (
        CheckStatus.OK,
        "192.168.1.2 (private), 2001:db8::1 (public)",
    )
    assert known.is_private
    assert not known.is_loopback


async def test_many_addresses_are_cut():
    known = ConnectionPath(URL("https://a.example/"), options(*(f"192.0.2.{n}" for n in range(9))))
    assert (await check_dns(known)).detail.endswith("192.0.2.3 (public), …")


@pytest.mark.parametrize(
    ("url", "contained", "error", "fix"),
    [
        ("http://searxng:8080/", False, socket.EAI_NONAME, "SEARXNG_URL=http://127.0.0.1:8080/"),
        ("http://searxng:8080/", True, socket.EAI_NONAME, "name: NETWORK_OF_SEARXNG"),
        ("http://host.docker.internal/", True, socket.EAI_NONAME, ":host-gateway"),
        ("https://a.exampel/", False, socket.EAI_NONAME, "Correct the name a.exampel"),
        ("https://a.example/", False, socket.EAI_AGAIN, "its name server"),
    ],
    ids=["container from outside", "container from inside", "host", "misspelt", "offline"],
)
async def test_a_name_without_an_address_has_one_fix(url, contained, error, fix):
    failing = options(contained=contained, error=socket.gaierror(error, "no"))
    found = await check_dns(ConnectionPath(URL(url), failing))
    assert found.status is CheckStatus.FAILED
    assert fix in found.fix


async def test_what_is_no_host_name_is_told():
    found = await check_dns(
        ConnectionPath(URL("https://a.example/"), options(error=UnicodeError("label")))
    )
    assert found.detail == "a.example is no host name."


@pytest.mark.parametrize(
    ("target", "contained", "fix"),
    [
        (way("http://127.0.0.1:8081/", "127.0.0.1"), False, '- "127.0.0.1:8081:8080"'),
        (
            way("http://localhost:8081/", "::1"),
            True,
            "SEARXNG_URL=http://host.docker.internal:8081/",
        ),
        (way("http://192.168.1.2/", "192.168.1.2"), False, 'port: 80\n  bind_address: "0.0.0.0"'),
        (way("https://a.example/", "192.0.2.1"), False, "Correct the port 443"),
    ],
    ids=["published", "in a container", "bound to loopback", "public"],
)
async def test_a_refused_connection_has_one_fix(monkeypatch, target, contained, fix):
    async def refuse(*_, **__):
        raise ConnectionRefusedError

    monkeypatch.setattr(connection, "connect", refuse)
    target.options = options(contained=contained)
    found = await check_tcp(target)
    assert found.status is CheckStatus.FAILED
    assert "refuses connections" in found.detail
    assert fix in found.fix


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (TimeoutError(), "Port 443 of a.example does not answer."),
        (OSError(errno.EHOSTUNREACH, "no route"), "There is no route to a.example."),
    ],
    ids=["silent", "unreachable"],
)
async def test_a_host_out_of_reach_is_told(monkeypatch, error, said):
    async def fail(*_, **__):
        raise error

    monkeypatch.setattr(connection, "connect", fail)
    found = await check_tcp(way("https://a.example/", "192.0.2.1"))
    assert (found.status, found.detail) == (CheckStatus.FAILED, said)


async def test_plain_http_to_a_public_host_fails(monkeypatch):
    async def accept(*_, **__):
        return Reached("192.0.2.1", "192.168.1.2")

    monkeypatch.setattr(connection, "connect", accept)
    runner = CheckRunner("x", deadline=float("inf"), progress=None)
    await check_path(runner, ConnectionPath(URL("http://a.example/x/"), options("192.0.2.1")))
    assert runner.checks[-1].status is CheckStatus.FAILED
    assert runner.checks[-1].fix.endswith("SEARXNG_URL=https://a.example/x/")


async def test_a_handshake_that_does_not_end_is_told(monkeypatch):
    async def silent(*_, **__):
        raise TimeoutError

    monkeypatch.setattr(connection, "shake_hands", silent)
    found = await connection.check_tls(way("https://a.example/", "192.0.2.1"))
    assert found.fix.endswith("SEARXNG_URL=http://a.example/")


class _Refused(ssl.SSLCertVerificationError):
    """What OpenSSL raises, with its code."""

    def __init__(self, code: int) -> None:
        super().__init__("refused")
        self.verify_code = code


@pytest.mark.parametrize(
    ("error", "address", "said", "fix"),
    [
        (_Refused(9), "192.0.2.1", "not valid yet", "timedatectl"),
        (_Refused(20), "192.0.2.1", "Nobody we trust", "fullchain.pem"),
        (_Refused(20), "10.0.0.1", "Nobody we trust", 'ca_file = "/path/to/ca.pem"'),
        (_Refused(1), "192.0.2.1", "handshake failed", "TLS 1.2 or 1.3"),
        (ConnectionResetError(), "192.0.2.1", "handshake failed", "TLS 1.2 or 1.3"),
    ],
    ids=["not yet", "chain", "private authority", "other certificate", "reset"],
)
async def test_a_failed_handshake_has_one_fix(monkeypatch, error, address, said, fix):
    async def fail(*_, **__):
        raise error

    monkeypatch.setattr(connection, "shake_hands", fail)
    found = await connection.check_tls(way("https://a.example/", address))
    assert found.status is CheckStatus.FAILED
    assert said in found.detail
    assert fix in found.fix


async def test_a_self_signed_certificate_at_an_ipv6_address_can_be_saved(monkeypatch):
    async def fail(*_, **__):
        raise _Refused(18)

    monkeypatch.setattr(connection, "shake_hands", fail)
    found = await connection.check_tls(way("https://[fd00::1]:8443/", "fd00::1"))
    assert "-connect [fd00::1]:8443 -servername fd00::1 " in found.fix


@pytest.mark.parametrize(
    ("error", "speaks"),
    [(None, True), (_Refused(18), True), (ConnectionResetError(), False)],
    ids=["yes", "untrusted", "no"],
)
async def test_a_port_that_shakes_hands_speaks_tls(monkeypatch, error, speaks):
    async def answer(*_, **__):
        if error is not None:
            raise error
        return "TLSv1.3"

    monkeypatch.setattr(connection, "shake_hands", answer)
    assert await connection.speaks_tls(way("http://a.example/", "192.0.2.1")) is speaks


async def test_behind_a_proxy_nothing_is_looked_up():
    behind = options(error=AssertionError(), proxy="http://user:secret@proxy.example.org:3128")
    runner = CheckRunner("x", deadline=float("inf"), progress=None)
    await check_path(runner, ConnectionPath(URL("https://a.example/"), behind))
    assert {check.detail for check in runner.checks} == {
        "Left to the proxy http://***@proxy.example.org:3128."
    }


async def test_without_a_proxy_there_is_nothing_to_reach():
    assert (await check_proxy(options())).detail == "None: connections are made directly."


async def test_a_proxy_that_is_there_is_shown_without_its_password():
    async with FakeSearxng() as standing_in:
        proxy = f"http://user:secret@{standing_in.origin}"
        found = await check_proxy(options("127.0.0.1", proxy=proxy))
    assert found.status is CheckStatus.OK
    assert found.detail == f"Requests go through http://***@{standing_in.origin}."


async def test_a_proxy_that_is_gone_is_told():
    async with FakeSearxng() as gone:
        pass
    found = await check_proxy(options("127.0.0.1", proxy=f"socks5://{gone.origin}"))
    assert found.status is CheckStatus.FAILED
    assert "[network]\nproxy = " in found.fix
    assert connection.proxy_silent().fix == found.fix


async def test_a_connection_that_takes_too_long_is_cut_off(monkeypatch):
    async def silent(*_, **__):
        await asyncio.Event().wait()

    monkeypatch.setattr("searx_mcp.ops.doctor.checks.STEP_TIMEOUT", 0.01)
    monkeypatch.setattr(connection, "connect", silent)
    runner = CheckRunner("x", deadline=float("inf"), progress=None)
    await check_path(runner, ConnectionPath(URL("https://a.example/"), options("192.0.2.1")))
    assert [check.status for check in runner.checks] == [
        CheckStatus.OK,
        CheckStatus.FAILED,
        CheckStatus.SKIPPED,
    ]
