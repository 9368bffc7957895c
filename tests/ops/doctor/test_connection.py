"""The way to a host, and what each failure means."""

import asyncio
import datetime as dt
import errno
import socket
import ssl

import pytest
import trustme
from yarl import URL

from searx_mcp.cli.running import ExitCode
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.diagnosis import Reached
from searx_mcp.ops.doctor import connection, doctor
from searx_mcp.ops.doctor.checks import CheckRunner, CheckStatus
from searx_mcp.ops.doctor.connection import (
    ConnectionOptions,
    ConnectionPath,
    check_dns,
    check_path,
    check_tcp,
)
from searx_mcp.testing.searxng import FakeSearxng

HOST = "127.0.0.1"
PAST = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
JSON = ("html", "json")


def options(*addresses: str, contained: bool = False, error: Exception | None = None, **network):
    async def look_up(_host: str, _port: int) -> tuple[str, ...]:
        if error is not None:
            raise error
        return addresses

    config = NetworkConfig.model_validate(network)
    return ConnectionOptions(look_up, config.proxies(), in_container=contained)


def way(url: str, *addresses: str, contained: bool = False) -> ConnectionPath:
    return ConnectionPath(URL(url), options(contained=contained), addresses=addresses)


@pytest.fixture
def ends(monkeypatch):
    """Let a step of the way, by the name of its function, end with an error or a value."""

    def put(name: str, end: object) -> None:
        async def step(*_, **__):
            if isinstance(end, Exception):
                raise end
            return end

        monkeypatch.setattr(connection, name, step)

    return put


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
        (
            "https://a.exampel/",
            False,
            socket.EAI_NONAME,
            "If a.exampel is spelled correctly, check this machine's network and DNS.",
        ),
        ("https://a.exampel/", True, socket.EAI_NONAME, "If a.exampel is spelled correctly"),
        ("https://a.example/", False, socket.EAI_AGAIN, "its name server"),
    ],
    ids=[
        *("container from outside", "container from inside", "host", "misspelt"),
        *("misspelt in a container", "offline"),
    ],
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
    assert found.detail == "a.example is not a host name."


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
async def test_a_refused_connection_has_one_fix(ends, target, contained, fix):
    ends("connect", ConnectionRefusedError())
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
async def test_a_host_out_of_reach_is_told(ends, error, said):
    ends("connect", error)
    found = await check_tcp(way("https://a.example/", "192.0.2.1"))
    assert (found.status, found.detail) == (CheckStatus.FAILED, said)


async def test_plain_http_to_a_public_host_fails(ends):
    ends("connect", Reached("192.0.2.1", "192.168.1.2"))
    runner = CheckRunner("x", deadline=float("inf"), progress=None)
    await check_path(runner, ConnectionPath(URL("http://a.example/x/"), options("192.0.2.1")))
    assert runner.checks[-1].status is CheckStatus.FAILED
    assert runner.checks[-1].fix.endswith("SEARXNG_URL=https://a.example/x/")


class _Refused(ssl.SSLCertVerificationError):
    """What OpenSSL raises, with its code."""

    def __init__(self, code: int) -> None:
        super().__init__("refused")
        self.verify_code = code


PUBLIC = way("https://a.example/", "192.0.2.1")


@pytest.mark.parametrize(
    ("error", "target", "said", "fix"),
    [
        (_Refused(9), PUBLIC, "not valid yet", "timedatectl"),
        (_Refused(20), PUBLIC, "does not trust", "fullchain.pem"),
        (
            _Refused(20),
            way("https://a.example/", "10.0.0.1"),
            *("does not trust", 'ca_file = "/path/to/ca.pem"'),
        ),
        (
            _Refused(18),
            way("https://[fd00::1]:8443/", "fd00::1"),
            *("", "-connect [fd00::1]:8443 -servername fd00::1 "),
        ),
        (_Refused(1), PUBLIC, "handshake failed", "TLS 1.2 or 1.3"),
        (ConnectionResetError(), PUBLIC, "handshake failed", "TLS 1.2 or 1.3"),
        (TimeoutError(), PUBLIC, "", "SEARXNG_URL=http://a.example/"),
    ],
    ids=[
        *("not yet", "chain", "private authority", "self-signed by IPv6", "other certificate"),
        *("reset", "silent"),
    ],
)
async def test_a_failed_handshake_has_one_fix(ends, error, target, said, fix):
    ends("shake_hands", error)
    found = await connection.check_tls(target)
    assert found.status is CheckStatus.FAILED
    assert said in found.detail
    assert fix in found.fix


@pytest.mark.parametrize(
    ("end", "speaks"),
    [("TLSv1.3", True), (_Refused(18), True), (ConnectionResetError(), False)],
    ids=["yes", "untrusted", "no"],
)
async def test_a_port_that_shakes_hands_speaks_tls(ends, end, speaks):
    ends("shake_hands", end)
    assert await connection.speaks_tls(way("http://a.example/", "192.0.2.1")) is speaks


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


@pytest.fixture
def https(tmp_path):
    """Give a server's TLS, and the file of the authority that issued its certificate."""

    def make(name: str = HOST, **validity):
        authority = trustme.CA()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(name, **validity).configure_cert(context)
        file = tmp_path / "ca.pem"
        authority.cert_pem.write_to_path(str(file))
        return context, str(file)

    return make


async def test_a_certificate_of_a_trusted_authority_is_fine(diagnose, https):
    context, authority = https()
    async with FakeSearxng(formats=JSON, ssl_context=context) as fake:
        found = await diagnose(fake.url, SEARX_MCP_NETWORK__CA_FILE=authority)
    assert found.code == ExitCode.DONE
    assert found.said("tls") == "TLSv1.3, and the certificate is valid."


@pytest.mark.parametrize(
    ("name", "validity", "trusted", "said", "fix"),
    [
        (HOST, {"not_before": PAST, "not_after": PAST}, True, "has expired", "certbot renew"),
        ("a.example", {}, True, "for a name other than", "have one issued for 127.0.0.1"),
        (HOST, {}, False, "does not trust", '[network]\nca_file = "/path/to/ca.pem"'),
    ],
    ids=["expired", "wrong name", "unknown authority"],
)
async def test_a_bad_certificate_has_one_fix(diagnose, https, name, validity, trusted, said, fix):
    context, authority = https(name, **validity)
    more = {"SEARX_MCP_NETWORK__CA_FILE": authority} if trusted else {}
    async with FakeSearxng(formats=JSON, ssl_context=context) as fake:
        found = await diagnose(fake.url, **more)
    assert found.failed == ["tls"]
    assert said in found.said("tls")
    assert fix in found.checks["tls"]["fix"]


async def test_a_self_signed_certificate_can_be_trusted(diagnose, tmp_path):
    authority = trustme.CA()
    file = tmp_path / "self.pem"
    file.write_bytes(authority.private_key_pem.bytes() + authority.cert_pem.bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    async with FakeSearxng(ssl_context=context) as fake:
        found = await diagnose(fake.url)
    assert found.failed == ["tls"]
    assert found.fix("tls")[1].startswith(f"openssl s_client -connect {fake.origin} ")
    assert found.fix("tls")[2:] == ["[network]", 'ca_file = "/path/to/searxng.pem"']


async def test_http_and_https_are_told_apart(diagnose, https):
    context, _ = https()
    async with FakeSearxng(ssl_context=context) as secure, FakeSearxng() as plain:
        too_plain = await diagnose(secure.url.replace("https:", "http:"))
        too_secure = await diagnose(plain.url.replace("http:", "https:"))
    assert too_plain.fix("healthz") == ["Use https.", f"SEARXNG_URL={secure.url}"]
    assert too_secure.fix("tls")[-1] == f"SEARXNG_URL={plain.url}"


async def test_a_web_server_that_wants_https_is_understood(diagnose):
    async with FakeSearxng() as fake:
        body = b"<h1>The plain HTTP request was sent to HTTPS port</h1>"
        fake.answer_with(body, status=400, path="/healthz")
        found = await diagnose(fake.url)
    assert found.fix("healthz")[-1] == f"SEARXNG_URL=https://{fake.origin}/"


async def test_a_closed_port_is_told(diagnose, monkeypatch):
    async with FakeSearxng() as gone:
        pass
    monkeypatch.setattr(doctor, "in_container", lambda: False)
    found = await diagnose(gone.url)
    monkeypatch.setattr(doctor, "in_container", lambda: True)
    contained = await diagnose(gone.url)
    assert found.failed == ["tcp"]
    assert found.fix("tcp")[1:] == ["ports:", f'  - "127.0.0.1:{gone.port}:8080"']
    assert [found.status(name) for name in [*found.checks][-6:]] == ["skipped"] * 6
    assert contained.fix("tcp")[-1] == f"SEARXNG_URL=http://host.docker.internal:{gone.port}/"
