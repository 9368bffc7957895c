"""One step of a connection at a time."""

import asyncio
import datetime as dt
import socket
import ssl

import pytest
import trustme

from searx_mcp.http.diagnosis import TlsFault, connect, look_up, shake_hands, tls_fault
from searx_mcp.testing.searxng import FakeSearxng

HOST = "127.0.0.1"
PAST = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
LATER = PAST + dt.timedelta(days=1)
FUTURE = dt.datetime(2090, 1, 1, tzinfo=dt.UTC)


def serving(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


def self_signed(folder) -> ssl.SSLContext:
    authority = trustme.CA()
    file = folder / "self.pem"
    file.write_bytes(authority.private_key_pem.bytes() + authority.cert_pem.bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


async def fault_of(server: ssl.SSLContext | None, trusted: ssl.SSLContext | None) -> TlsFault:
    async with FakeSearxng(ssl_context=server) as fake:
        with pytest.raises(ssl.SSLError) as caught:
            await shake_hands(HOST, HOST, fake.port, context=trusted)
    return tls_fault(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_a_literal_address_is_its_own(host):
    assert await look_up(host, 80) == (host,)


async def test_a_name_has_each_address_of_any_family_once(monkeypatch):
    def resolve(_host, _port, family=0, *_):
        assert family == socket.AF_UNSPEC
        answer = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 80))
        return [answer, answer]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert await look_up("a.example", 80) == ("192.0.2.1",)


async def test_the_first_address_that_accepts_is_taken_and_told_with_both_ends():
    async with FakeSearxng() as fake:
        reached = await connect(["127.0.0.2", HOST], fake.port, timeout=5)
        assert not fake.requests
    assert (reached.address, reached.source) == (HOST, HOST)


async def test_the_last_failure_is_told():
    async with FakeSearxng() as gone:
        pass
    with pytest.raises(ConnectionRefusedError):
        await connect([HOST], gone.port, timeout=5)
    with pytest.raises(OSError, match="no address"):
        await connect([], gone.port, timeout=5)


async def test_silence_is_a_timeout(monkeypatch):
    async def silent(*_, **__):
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio, "open_connection", silent)
    with pytest.raises(TimeoutError):
        await connect(["192.0.2.1", "192.0.2.2"], 80, timeout=0.02)


async def test_a_silent_address_leaves_time_for_the_next(monkeypatch):
    really = asyncio.open_connection

    async def open_connection(address, port, **more):
        if address == "192.0.2.1":
            await asyncio.Event().wait()
        return await really(address, port, **more)

    monkeypatch.setattr(asyncio, "open_connection", open_connection)
    async with FakeSearxng() as fake:
        async with asyncio.timeout(1):
            reached = await connect(["192.0.2.1", HOST], fake.port, timeout=1)
    assert reached.address == HOST


async def test_a_handshake_tells_the_version_of_the_protocol():
    authority = trustme.CA()
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)
    async with FakeSearxng(ssl_context=serving(authority.issue_cert(HOST))) as fake:
        assert await shake_hands(HOST, HOST, fake.port, context=trusted) == "TLSv1.3"
        assert not fake.requests


@pytest.mark.parametrize(
    ("names", "validity", "fault"),
    [
        (HOST, {"not_before": PAST, "not_after": LATER}, TlsFault.EXPIRED),
        (HOST, {"not_before": FUTURE, "not_after": FUTURE}, TlsFault.NOT_YET_VALID),
        ("192.0.2.1", {}, TlsFault.WRONG_NAME),
        ("a.example", {}, TlsFault.WRONG_NAME),
    ],
    ids=["expired", "not yet", "other address", "other name"],
)
async def test_a_bad_certificate_of_a_trusted_authority_is_told(names, validity, fault):
    authority = trustme.CA()
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)
    assert await fault_of(serving(authority.issue_cert(names, **validity)), trusted) is fault


async def test_nobody_trusts_what_nobody_knows(tmp_path):
    unknown = serving(trustme.CA().issue_cert(HOST))
    assert await fault_of(unknown, None) is TlsFault.UNKNOWN_AUTHORITY
    assert await fault_of(self_signed(tmp_path), None) is TlsFault.SELF_SIGNED


async def test_a_port_without_tls_is_told():
    assert await fault_of(None, None) is TlsFault.NOT_TLS


@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (ConnectionResetError(), TlsFault.OTHER),
        (ssl.SSLError(1, "no shared cipher"), TlsFault.OTHER),
        (ssl.SSLCertVerificationError("of another library"), TlsFault.OTHER_CERTIFICATE),
    ],
    ids=["reset", "cipher", "certificate"],
)
def test_any_other_failure_has_no_name(error, fault):
    assert tls_fault(error) is fault
