"""Checks of the way to a host: name, socket, TLS."""

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
from searx_mcp.models.diagnosis import CheckName
from searx_mcp.ops.doctor.course import STEP_TIMEOUT, Course, Finding, broken, fine
from searx_mcp.urls.private import is_private

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
class Means:
    """What ways are gone with.

    Attributes:
        look_up: gives the addresses of a host.
        proxies: which hosts are reached through which proxy.
        trust: what verifies certificates; `True` is the system's trust store.
        in_container: whether this process runs in a container.
    """

    look_up: LookUp
    proxies: ProxyRules
    trust: ssl.SSLContext | bool = True
    in_container: bool = False


@dataclass(slots=True)
class Way:
    """The way to a host, as far as it has been gone.

    Attributes:
        url: a base URL of the host.
        means: what it is gone with.
        has_login: whether the user gave a name and a password for it.
        addresses: of the host, once they are known.
        reached: the TCP connection that came about.
    """

    url: URL
    means: Means
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
        """Whether an address of it is on this machine or a private network."""
        return any(map(is_private, self.addresses))

    @property
    def is_loopback(self) -> bool:
        """Whether an address of it is this machine, or this container."""
        return any("%" not in each and ip_address(each).is_loopback for each in self.addresses)

    def variable(self, *, scheme: str = "", host: str = "", path: str = "") -> str:
        """The line that makes the instance known under a changed address."""
        url = self.url.with_scheme(scheme) if scheme else self.url
        if host:
            url = url.with_host(host)
        return self.known_as(url.with_path(path) if path else url)

    def known_as(self, url: URL) -> str:
        """The line that makes the instance known; where it has a login, with a place for that."""
        if self.has_login:
            url = url.with_user("USER").with_password("PASSWORD")
        return f"SEARXNG_URL={url}"


async def go(course: Course, way: Way) -> None:
    """Go the way to a host, as far as it leads; a proxy goes it for us."""
    proxy = way.means.proxies.proxy_for(way.url.scheme, way.host, way.port)
    if proxy is not None:
        for name in (CheckName.DNS, CheckName.TCP, CheckName.TLS):
            course.note(name, fine(f"Left to the proxy {proxy}."))
        return
    await course.take(CheckName.DNS, partial(check_dns, way), late=_name_server_silent())
    await course.take(
        CheckName.TCP, partial(check_tcp, way), late=_silent(way), needs={CheckName.DNS}
    )
    await course.take(
        CheckName.TLS, partial(check_tls, way), late=_handshake_silent(way), needs={CheckName.TCP}
    )


async def check_proxy(means: Means) -> Finding:
    """Connect to the proxies."""
    rules = means.proxies
    for proxy in dict.fromkeys(filter(None, (rules.https, rules.http))):
        try:
            addresses = await means.look_up(proxy.host, proxy.port)
            await connect(addresses, proxy.port, timeout=_CONNECT_TIMEOUT)
        except (OSError, UnicodeError):
            return broken(f"The proxy {proxy} cannot be reached.", _PROXY_FIX)
    said = [note for note in rules.notes() if note != BLIND]
    return fine(" ".join(said) or "None: connections are made directly.")


def proxy_silent() -> Finding:
    """What it means when connecting to a proxy takes too long."""
    return broken("The proxy does not answer.", _PROXY_FIX)


async def check_dns(way: Way) -> Finding:
    """Look the host up."""
    try:
        way.addresses = await way.means.look_up(way.host, way.port)
    except UnicodeError:
        return broken(f"{way.host} is no host name.", "Correct the address.")
    except OSError as exc:
        return broken(f"The name {way.host} has no address.", _on_unresolved(way, exc))
    shown = [f"{each} ({_kind(each)})" for each in way.addresses[:_SHOWN_ADDRESSES]]
    more = ", …" * (len(way.addresses) > _SHOWN_ADDRESSES)
    return fine(f"{', '.join(shown)}{more}")


def _name_server_silent() -> Finding:
    """What it means when the look-up takes too long."""
    return broken("The name server does not answer.", _NAME_SERVER)


async def check_tcp(way: Way) -> Finding:
    """Open a connection."""
    try:
        way.reached = await connect(way.addresses, way.port, timeout=_CONNECT_TIMEOUT)
    except TimeoutError:
        return _silent(way)
    except OSError as exc:
        if exc.errno in _UNREACHABLE:
            return broken(
                f"There is no route to {way.host}.",
                f"Connect this machine to {way.host}'s network.",
            )
        return broken(f"Port {way.port} of {way.host} refuses connections.", _on_refused(way))
    return fine(f"Port {way.port} accepts connections.")


def _silent(way: Way) -> Finding:
    """What it means when connecting takes too long."""
    return broken(
        f"Port {way.port} of {way.host} does not answer.",
        f"Correct the address, or let port {way.port} through the firewall in front of it.",
    )


async def check_tls(way: Way) -> Finding:
    """Do the handshake as sessions do it, once the host was reached; plain http needs none."""
    if way.url.scheme == "http":
        if way.is_private:
            return fine("Not used: plain http stays on this machine or a private network.")
        return broken(
            "The host is public, and plain http shows queries and passwords on the way.",
            f"Use https.\n{way.variable(scheme='https')}",
        )
    address = way.reached.address if way.reached else way.host
    try:
        trust = way.means.trust
        context = trust if isinstance(trust, ssl.SSLContext) else None
        version = await shake_hands(way.host, address, way.port, context=context)
    except TimeoutError:
        return _handshake_silent(way)
    except OSError as exc:
        return _tls_failure(way, tls_fault(exc))
    return fine(f"{version}, and the certificate is valid.")


def _handshake_silent(way: Way) -> Finding:
    """What it means when the handshake takes too long."""
    return broken(
        "The TLS handshake does not end.",
        f"If the port speaks plain http, use that.\n{way.variable(scheme='http')}",
    )


async def speaks_tls(way: Way) -> bool:
    """Whether the port speaks TLS, with whatever certificate."""
    address = way.reached.address if way.reached else way.host
    try:
        await shake_hands(way.host, address, way.port)
    except OSError as exc:
        return tls_fault(exc) not in {TlsFault.NOT_TLS, TlsFault.OTHER}
    return True


def _kind(address: str) -> str:
    return "private" if is_private(address) else "public"


def _on_unresolved(way: Way, error: OSError) -> str:
    if way.host == _DOCKER_HOST:
        return (
            "Make the name known; in the Compose file, below the service of searx-mcp:\n"
            f'extra_hosts:\n  - "{_DOCKER_HOST}:host-gateway"'
        )
    if "." not in way.host and way.means.in_container:
        return (
            f"Put this container on the network of {way.host}; in its Compose file:\n"
            f"networks:\n  default:\n    name: NETWORK_OF_{way.host.upper()}\n    external: true"
        )
    if "." not in way.host:
        return (
            "Names of containers are known to containers only: publish the port, and use it.\n"
            f"{way.variable(host='127.0.0.1')}"
        )
    if error.errno == socket.EAI_AGAIN:
        return _NAME_SERVER
    return (
        f"Correct the name {way.host} in the address; if it is right, check the network of this"
        " machine."
    )


def _on_refused(way: Way) -> str:
    if way.is_loopback and way.means.in_container:
        return (
            f"Inside a container {way.host} is the container itself: name the host instead, or the"
            f" service if both share a Compose file.\n{way.variable(host=_DOCKER_HOST)}"
        )
    if way.is_loopback:
        return (
            "Start SearXNG. If it runs in a container (docker ps shows it), publish its port; in"
            f' the Compose file:\nports:\n  - "127.0.0.1:{way.port}:8080"'
        )
    if way.is_private:
        return (
            "Start SearXNG, and let it listen on more than 127.0.0.1; in its settings.yml:\n"
            f'server:\n  port: {way.port}\n  bind_address: "0.0.0.0"'
        )
    return f"Correct the port {way.port} in the address, or start the web server there."


def _tls_failure(way: Way, fault: TlsFault) -> Finding:
    host = way.host
    match fault:
        case TlsFault.EXPIRED:
            said = "The certificate has expired."
            fix = f"Renew the certificate of {host}.\ncertbot renew"
        case TlsFault.NOT_YET_VALID:
            said = "The certificate is not valid yet."
            fix = "Set the clock that is wrong, here or where it was issued.\ntimedatectl set-ntp true"
        case TlsFault.SELF_SIGNED:
            said = "The certificate is self-signed."
            fix = (
                "Save it, and trust it in the configuration.\n"
                f"openssl s_client -connect {_authority(way)} </dev/null | openssl x509 > searxng.pem\n"
                '[network]\nca_file = "/path/to/searxng.pem"'
            )
        case TlsFault.WRONG_NAME:
            said = f"The certificate is for another name than {host}."
            fix = f"Use the name it was issued for, or have one issued for {host}."
        case TlsFault.UNKNOWN_AUTHORITY:
            said, fix = "Nobody we trust issued the certificate.", _on_unknown_authority(way)
        case TlsFault.NOT_TLS:
            said = f"Port {way.port} does not speak TLS."
            fix = f"Use http, or the port of https.\n{way.variable(scheme='http')}"
        case _:
            said = "The TLS handshake failed."
            fix = (
                f"Let the web server of {host} offer TLS 1.2 or 1.3 with a certificate for {host}."
            )
    return broken(said, fix)


def _on_unknown_authority(way: Way) -> str:
    if way.is_private:
        return (
            "Trust the authority that issued it; in the configuration:\n"
            '[network]\nca_file = "/path/to/ca.pem"'
        )
    return (
        "Let the web server send the whole chain (certbot calls it fullchain.pem), not the"
        " certificate alone."
    )


def _authority(way: Way) -> str:
    host = f"[{way.host}]" if ":" in way.host else way.host
    return f"{host}:{way.port} -servername {way.host}"
