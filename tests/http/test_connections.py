"""Whose certificates are believed."""

import ssl
from pathlib import Path

import pytest
import trustme

from searx_mcp.errors import SettingsError, TransportError
from searx_mcp.http.config import NetworkConfig
from searx_mcp.http.connections import tls_context
from searx_mcp.http.sessions import Sessions
from searx_mcp.testing.searxng import FakeSearxng

PLATFORMS = ["linux", "darwin", "win32"]


@pytest.fixture
def authority(tmp_path: Path) -> tuple[trustme.CA, Path]:
    """An authority that no system knows, and the file that names it."""
    ca, path = trustme.CA(), tmp_path / "ca.pem"
    ca.cert_pem.write_to_path(path)
    return ca, path


def server_context(ca: trustme.CA, name: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(name).configure_cert(context)
    return context


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_context_verifies_certificates_and_names(authority, platform):
    _, path = authority
    context = tls_context(str(path), platform=platform)
    assert isinstance(context, ssl.SSLContext)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_where_the_system_judges_it_is_asked_without_a_file_too():
    assert isinstance(tls_context("", platform="darwin"), ssl.SSLContext)
    assert tls_context("", platform="linux") is True


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_the_file_is_believed_and_nothing_else_becomes_so(authority, platform, monkeypatch):
    ca, path = authority
    monkeypatch.setattr(
        "searx_mcp.http.connections.tls_context.__kwdefaults__", {"platform": platform}
    )
    async with (
        FakeSearxng(ssl_context=server_context(ca, "127.0.0.1")) as good,
        FakeSearxng(ssl_context=server_context(trustme.CA(), "127.0.0.1")) as strange,
        FakeSearxng(ssl_context=server_context(ca, "www.example.org")) as misnamed,
    ):
        urls = [fake.url for fake in (good, strange, misnamed)]
        config = NetworkConfig(ca_file=str(path))
        async with Sessions(config, own_origins=urls) as sessions:
            async with sessions.own.open(good.url, headers={}, timeout=5) as reply:
                assert reply.status == 200
            for url in urls[1:]:
                with pytest.raises(TransportError) as caught:
                    async with sessions.own.open(url, headers={}, timeout=5):
                        pass
                assert caught.value.code == "tls_error"
    assert (strange.requests, misnamed.requests) == ([], [])


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read"),
        (b"-----BEGIN CERTIFICATE-----\nhunter2\n", "holds no certificates"),
        (b"", "holds no certificates"),
        (bytes(range(256)), "holds no certificates"),
    ],
    ids=["missing", "garbage", "empty", "binary"],
)
def test_a_file_that_is_of_no_use_is_a_wrong_setting(content, reason, platform, tmp_path):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=reason) as caught:
        tls_context(str(path), platform=platform)
    assert caught.value.field == "network.ca_file"
    assert str(path) in caught.value.message
    assert "hunter2" not in caught.value.message
    assert caught.value.advice


def test_a_file_in_a_home_folder_that_does_not_exist_is_a_wrong_setting():
    with pytest.raises(SettingsError, match="cannot be read"):
        tls_context("~nobody-has-this-name/ca.pem")


def test_the_home_folder_may_be_abbreviated(authority, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert tls_context("~/ca.pem")


def test_a_wrong_file_is_told_when_the_sessions_are_described(tmp_path):
    with pytest.raises(SettingsError):
        Sessions(NetworkConfig(ca_file=str(tmp_path / "missing.pem")))
