"""Checks of the connection to a host: name, socket, TLS."""

import errno
import socket
import ssl
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import Final

from yarl import URL

from searx_mcp.http.diagnosis import LookUp, Reached, TlsFault, connect, shake_hands, tls_fault
from searx_mcp.http.proxy import BLIND, ProxyRules
from searx_mcp.ops.doctor.checks import STEP_TIMEOUT, CheckName, CheckRunner, Finding, broken, fine
from searx_mcp.urls.address import is_private

_DOCKER_HOST: Final = "host.docker.internal"
_SHOWN_ADDRESSES: Final = 4
_PROXY_FIX: Final = (
    "Start it, or correct its address in the configuration.\n"
    '[network]\nproxy = "http://proxy.example.org:3128"'
)
_CONNECT_TIMEOUT: Final = 0.9 * STEP_TIMEOUT
_UNREACHABLE: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL})
_NAME_SERVER: Final = "Check the network of this machine and its name server."


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """Options of all connections.

    Attributes:
        look_up: returns the addresses of a host.
        proxies: which hosts use which proxy.
        trust: verifies certificates; `True` is the system's trust store.
        in_container: whether this process runs in a container.
    """

    look_up: LookUp
    proxies: ProxyRules
    trust: ssl.SSLContext | bool = True
    in_container: bool = False


@dataclass(slots=True)
class ConnectionPath:
    """The connection to a host, as far as it was checked.

    Attributes:
        url: a base URL of the host.
        options: of its connections.
        has_login: whether the user gave a name and a password for it.
        addresses: of the host, once they are known.
        reached: the established TCP connection.
    """

    url: URL
    options: ConnectionOptions
    has_login: bool = False
    addresses: tuple[str, ...] = ()
    reached: Reached | None = None

    @property
    def host(self) -> str:
        """The host, IDNA-encoded, without brackets."""
        return self.url.raw_host or ""

    @property
    def port(self) -> int:
        """The port."""
        return self.url.port or 0

    @property
    def is_private(self) -> bool:
        """Return whether one of its addresses is on this machine or a private network."""
        return any(map(is_private, self.addresses))

    @property
    def is_loopback(self) -> bool:
        """Return whether one of its addresses is this machine, or this container."""
        return any("%" not in each and ip_address(each).is_loopback for each in self.addresses)

    def variable(self, *, scheme: str = "", host: str = "", path: str = "") -> str:
        """Return the line that configures the instance with a changed address."""
        url = self.url.with_scheme(scheme) if scheme else self.url
        if host:
            url = url.with_host(host)
        return self.known_as(url.with_path(path) if path else url)

    def known_as(self, url: URL) -> str:
        """Return the line that configures the instance; with a placeholder for a login, if it has one."""
        if self.has_login:
            url = url.with_user("USER").with_password("PASSWORD")
        return f"SEARXNG_URL={url}"


async def check_path(runner: CheckRunner, path: ConnectionPath) -> None:
    """Check the connection to a host, step by step; behind a proxy, these steps are the proxy's."""
    proxy = path.options.proxies.proxy_for(path.url.scheme, path.host, path.port)
    if proxy is not None:
        for name in (CheckName.DNS, CheckName.TCP, CheckName.TLS):
            runner.note(name, fine(f"Left to the proxy {proxy}."))
        return
    await runner.take(CheckName.DNS, partial(check_dns, path), late=_NO_NAME_SERVER)
    await runner.take(
        CheckName.TCP, partial(check_tcp, path), late=_silent(path), needs={CheckName.DNS}
    )
    await runner.take(
        CheckName.TLS, partial(check_tls, path), late=_handshake_silent(path), needs={CheckName.TCP}
    )


async def check_proxy(options: ConnectionOptions) -> Finding:
    """Connect to the proxies."""
    rules = options.proxies
    for proxy in dict.fromkeys(filter(None, (rules.https, rules.http))):
        try:
            addresses = await options.look_up(proxy.host, proxy.port)
            await connect(addresses, proxy.port, timeout=_CONNECT_TIMEOUT)
        except (OSError, UnicodeError):
            return broken(f"The proxy {proxy} cannot be reached.", _PROXY_FIX)
    said = [note for note in rules.notes() if note != BLIND]
    return fine(" ".join(said) or "None: connections are made directly.")


PROXY_LATE: Final = broken("The proxy does not answer.", _PROXY_FIX)
"""The result if connecting to a proxy takes too long."""
_NO_NAME_SERVER: Final = broken("The name server does not answer.", _NAME_SERVER)
"""The result if the lookup takes too long."""


async def check_dns(path: ConnectionPath) -> Finding:
    """Resolve the host."""
    try:
        path.addresses = await path.options.look_up(path.host, path.port)
    except UnicodeError:
        return broken(f"{path.host} is not a host name.", "Correct the address.")
    except OSError as exc:
        return broken(f"The name {path.host} does not resolve.", _on_unresolved(path, exc))
    shown = [f"{each} ({_kind(each)})" for each in path.addresses[:_SHOWN_ADDRESSES]]
    more = ", …" * (len(path.addresses) > _SHOWN_ADDRESSES)
    return fine(f"{', '.join(shown)}{more}")


async def check_tcp(path: ConnectionPath) -> Finding:
    """Open a connection."""
    try:
        path.reached = await connect(path.addresses, path.port, timeout=_CONNECT_TIMEOUT)
    except TimeoutError:
        return _silent(path)
    except OSError as exc:
        if exc.errno in _UNREACHABLE:
            return broken(
                f"There is no route to {path.host}.",
                f"Connect this machine to the network of {path.host}.",
            )
        return broken(f"Port {path.port} of {path.host} refuses connections.", _on_refused(path))
    return fine(f"Port {path.port} accepts connections.")


def _silent(path: ConnectionPath) -> Finding:
    """Return the result if connecting takes too long."""
    return broken(
        f"Port {path.port} of {path.host} does not answer.",
        f"Correct the address, or let port {path.port} through the firewall in front of it.",
    )


async def check_tls(path: ConnectionPath) -> Finding:
    """Do the TLS handshake like the sessions, once the host was reached; plain http needs none."""
    if path.url.scheme == "http":
        if path.is_private:
            return fine("Not needed: plain http stays on this machine or a private network.")
        return broken(
            "The host is public, and plain http exposes queries and passwords.",
            f"Use https.\n{path.variable(scheme='https')}",
        )
    address = path.reached.address if path.reached else path.host
    try:
        trust = path.options.trust
        context = trust if isinstance(trust, ssl.SSLContext) else None
        version = await shake_hands(path.host, address, path.port, context=context)
    except TimeoutError:
        return _handshake_silent(path)
    except OSError as exc:
        return _tls_failure(path, tls_fault(exc))
    return fine(f"{version}, and the certificate is valid.")


def _handshake_silent(path: ConnectionPath) -> Finding:
    """Return the result if the handshake takes too long."""
    return broken(
        "The TLS handshake does not finish.",
        f"If the port speaks plain http, use that.\n{path.variable(scheme='http')}",
    )


async def speaks_tls(path: ConnectionPath) -> bool:
    """Return whether the port speaks TLS, with any certificate."""
    address = path.reached.address if path.reached else path.host
    try:
        await shake_hands(path.host, address, path.port)
    except OSError as exc:
        return tls_fault(exc) not in {TlsFault.NOT_TLS, TlsFault.OTHER}
    return True


def _kind(address: str) -> str:
    return "private" if is_private(address) else "public"


def _on_unresolved(path: ConnectionPath, error: OSError) -> str:
    if path.host == _DOCKER_HOST:
        return (
            "Define the name; in the Compose file, under the searx-mcp service:\n"
            f'extra_hosts:\n  - "{_DOCKER_HOST}:host-gateway"'
        )
    if "." not in path.host and path.options.in_container:
        return (
            f"Put this container on the network of {path.host}; in its Compose file:\n"
            f"networks:\n  default:\n    name: NETWORK_OF_{path.host.upper()}\n    external: true"
        )
    if "." not in path.host:
        return (
            "Container names resolve only inside containers: publish the port and use it.\n"
            f"{path.variable(host='127.0.0.1')}"
        )
    if error.errno == socket.EAI_AGAIN:
        return _NAME_SERVER
    return f"If {path.host} is spelled correctly, check this machine's network and DNS."


def _on_refused(path: ConnectionPath) -> str:
    if path.is_loopback and path.options.in_container:
        return (
            f"Inside a container, {path.host} is the container itself: use the"
            f" host's name, or the service's if both share a Compose file.\n{path.variable(host=_DOCKER_HOST)}"
        )
    if path.is_loopback:
        return (
            "Start SearXNG. If it runs in a container (docker ps shows it), publish its port; in"
            f' the Compose file:\nports:\n  - "127.0.0.1:{path.port}:8080"'
        )
    if path.is_private:
        return (
            "Start SearXNG and let it listen beyond 127.0.0.1; in its settings.yml:\n"
            f'server:\n  port: {path.port}\n  bind_address: "0.0.0.0"'
        )
    return f"Correct the port {path.port} in the address, or start the web server there."


def _tls_failure(path: ConnectionPath, fault: TlsFault) -> Finding:
    host = path.host
    match fault:
        case TlsFault.EXPIRED:
            said = "The certificate has expired."
            fix = f"Renew the certificate of {host}.\ncertbot renew"
        case TlsFault.NOT_YET_VALID:
            said = "The certificate is not valid yet."
            fix = "Correct the clock that is wrong, here or where it was issued.\ntimedatectl set-ntp true"
        case TlsFault.SELF_SIGNED:
            said = "The certificate is self-signed."
            fix = (
                "Save it and trust it in the configuration.\n"
                f"openssl s_client -connect {_authority(path)} </dev/null | openssl x509 > searxng.pem\n"
                '[network]\nca_file = "/path/to/searxng.pem"'
            )
        case TlsFault.WRONG_NAME:
            said = f"The certificate is for a name other than {host}."
            fix = f"Use the name it was issued for, or have one issued for {host}."
        case TlsFault.UNKNOWN_AUTHORITY:
            said, fix = (
                "The certificate is from an authority this machine does not trust.",
                _on_unknown_authority(path),
            )
        case TlsFault.NOT_TLS:
            said = f"Port {path.port} does not speak TLS."
            fix = f"Use http, or the port of https.\n{path.variable(scheme='http')}"
        case _:
            said = "The TLS handshake failed."
            fix = f"Set up TLS 1.2 or 1.3 with a certificate for {host} on its web server."
    return broken(said, fix)


def _on_unknown_authority(path: ConnectionPath) -> str:
    if path.is_private:
        return (
            "Trust the authority that issued it; in the configuration:\n"
            '[network]\nca_file = "/path/to/ca.pem"'
        )
    return (
        "Have the web server send the whole chain (certbot's"
        " fullchain.pem), not just the certificate."
    )


def _authority(path: ConnectionPath) -> str:
    host = f"[{path.host}]" if ":" in path.host else path.host
    return f"{host}:{path.port} -servername {path.host}"
