"""Configured proxies: parsing them, and choosing one for a request.

Pure: resolves no names, opens no connections.
"""

import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final, Self
from urllib.parse import unquote, urlsplit

from typing_extensions import override

from searx_mcp.urls.hosts import is_onion

LOCAL: Final = "<local>"
"""Stands for all names without a dot, such as those of containers, in a list of hosts without a proxy."""

DIRECT: Final = (
    LOCAL,
    "localhost",
    "local",
    "lan",
    "internal",
    "home.arpa",
    "127.0.0.0/8",
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "100.64.0.0/10",
    "::1",
    "fc00::/7",
    "fe80::/10",
)
"""Hosts that bypass the proxy by default: this machine and private networks."""

_PORTS: Final = {"http": None, "https": 443, "socks5": 1_080, "socks5h": 1_080}
"""Schemes with their default ports. http has none: curl takes 1080 and others 80, so it must be given."""

_MAX_SOCKS_TEXT: Final = 255  # bytes, RFC 1929 2
_PRINTABLE: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_NOT_IN_URL: Final = re.compile(r"[\x00-\x20\x7f\\]")
_NAME: Final = re.compile(r"(?:\*?\.)?([a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?")
_BRACKETS: Final = re.compile(r"\[(.*)\]")
_WITH_PORT: Final = re.compile(r"(\[[^\]]*\]|[^:\[\]]*):([0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class ProxyUrl:
    """The address of a proxy; neither `str` nor `repr` shows the credentials.

    Attributes:
        scheme: `http` or `https` (CONNECT, RFC 9110 9.3.6), `socks5` or `socks5h` (RFC 1928). The last two
            are the same: the proxy always resolves names.
        host: a name or an address, without brackets.
        username: with a password, or `None`.
    """

    scheme: str
    host: str
    port: int
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse an address such as `http://user:password@proxy.example.org:3128`.

        Without a scheme it is an http proxy. User name and password are percent-decoded.

        Raises:
            ValueError: with a sentence for a person, which shows no part of the text.
        """
        try:
            parts = urlsplit(text if "://" in text else f"http://{text}")
            host, port = parts.hostname, parts.port
        except ValueError:
            raise ValueError(_WANTED) from None  # its text contains a part of the address
        if parts.scheme not in _PORTS:
            raise ValueError("must start with http://, https://, socks5:// or socks5h://")
        if not host or _NOT_IN_URL.search(text) or parts.path not in {"", "/"}:
            raise ValueError(_WANTED)
        if parts.query or parts.fragment:
            raise ValueError(_WANTED)
        port = port or _PORTS[parts.scheme]
        if port is None:
            raise ValueError("names no port: write it, such as http://proxy.example.org:3128")
        username, password = _userinfo(parts.netloc, is_socks=parts.scheme.startswith("socks"))
        return cls(parts.scheme, host, port, username, password)

    @property
    def is_socks(self) -> bool:
        """Whether it speaks SOCKS instead of HTTP."""
        return self.scheme.startswith("socks")

    @property
    def address(self) -> str:
        """The address without credentials."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def authorization(self) -> str | None:
        """The value of the `Proxy-Authorization` header (RFC 7617): a secret in the clear."""
        if self.username is None:
            return None
        pair = f"{self.username}:{self.password or ''}"
        return f"Basic {b64encode(pair.encode()).decode('ascii')}"

    @override
    def __str__(self) -> str:
        return self.address if self.username is None else self.address.replace("//", "//***@", 1)


_WANTED: Final = (
    "must look like http://user:password@host:3128 or socks5://host:1080; in a user name or password,"
    " write % @ : / ? # as %25 %40 %3A %2F %3F %23"
)


def _userinfo(authority: str, *, is_socks: bool) -> tuple[str | None, str | None]:
    userinfo, at, _ = authority.rpartition("@")
    if not at:
        return None, None
    name, colon, password = (
        unquote(part, errors="surrogateescape") for part in userinfo.partition(":")
    )
    if not name or ":" in name:
        raise ValueError("its user name must not be empty or contain a colon")
    if not _PRINTABLE.fullmatch(name + password):
        raise ValueError("its user name and password must not contain control characters")
    if is_socks and not (_fits_socks(name) and _fits_socks(password)):
        raise ValueError("for SOCKS, user name and password must be 1 to 255 ASCII characters each")
    return name, password if colon else ""


def _fits_socks(text: str) -> bool:
    return text.isascii() and 0 < len(text) <= _MAX_SOCKS_TEXT


@dataclass(frozen=True, slots=True)
class Bypass:
    """Hosts that bypass the proxy.

    Attributes:
        everything: whether all do, except Tor services.
        local: whether names without a dot do.
        names: domains, subdomains included, each with a port or `None` for all.
        networks: addresses, likewise.
    """

    everything: bool
    local: bool
    names: tuple[tuple[str, int | None], ...]
    networks: tuple[tuple[IPv4Network | IPv6Network, int | None], ...]

    @classmethod
    def parse(cls, entries: Iterable[str]) -> Self:
        """Parse entries of NO_PROXY as curl does, and `<local>`.

        `example.org`, `.example.org` and `*.example.org` all mean the domain with its subdomains.
        Addresses, networks such as `10.0.0.0/8`, and `*` are allowed, too. A port may follow.

        Raises:
            ValueError: for the first invalid entry.
        """
        marks: set[str] = set()
        names: list[tuple[str, int | None]] = []
        networks: list[tuple[IPv4Network | IPv6Network, int | None]] = []
        for entry in entries:
            if entry in {"*", LOCAL}:
                marks.add(entry)
                continue
            with_port = _WITH_PORT.fullmatch(entry)
            host, port = (with_port[1], int(with_port[2])) if with_port else (entry, None)
            try:
                networks.append((ip_network(_BRACKETS.sub(r"\1", host), strict=False), port))
            except ValueError:
                if (name := _NAME.fullmatch(host.lower())) is None:
                    raise ValueError(
                        f"{entry[:60]!r} is not a domain, address or network such as example.org or"
                        " 10.0.0.0/8"
                    ) from None
                names.append((name[1], port))
        return cls("*" in marks, LOCAL in marks, tuple(names), tuple(networks))

    def covers(self, host: str, port: int) -> bool:
        """Return whether a host bypasses the proxy; names are not resolved.

        Args:
            host: as in a URL, without brackets.
            port: of the request.
        """
        if self.everything:
            return True
        name = host.lower().removesuffix(".")
        try:
            address = ip_address(name)
        except ValueError:
            if self.local and "." not in name:
                return True
            return any(
                f".{name}".endswith(f".{domain}") and wanted in {None, port}
                for domain, wanted in self.names
            )
        return any(
            address in network and wanted in {None, port} for network, wanted in self.networks
        )


BLIND: Final = (
    "The proxy resolves names: pages and public instances are judged by their address as written, and"
    " a public name that resolves to a private address goes unnoticed here."
)
"""What the guard against private addresses cannot check behind a proxy, as a sentence."""


@dataclass(frozen=True, slots=True)
class ProxyRules:
    """Which requests use which proxy.

    Attributes:
        https: the proxy for https addresses, or `None`.
        http: the proxy for http addresses, or `None`.
        bypass: hosts that use none.
    """

    https: ProxyUrl | None
    http: ProxyUrl | None
    bypass: Bypass

    @property
    def onion(self) -> ProxyUrl | None:
        """The proxy that can reach Tor services, if there is one."""
        return next((proxy for proxy in (self.https, self.http) if proxy and proxy.is_socks), None)

    def proxy_for(self, scheme: str, host: str, port: int) -> ProxyUrl | None:
        """Return the proxy for a request, or `None` for a direct one.

        Tor services are never requested directly: that would reveal their names to a resolver.
        """
        if self.https is None and self.http is None:
            return None
        if is_onion(host) and self.onion:
            return self.onion
        proxy = self.http if scheme == "http" else self.https
        if proxy is None or self.bypass.covers(host, port):
            return None
        return proxy

    def notes(self) -> tuple[str, ...]:
        """Describe the routes in sentences without passwords; empty without a proxy."""
        if self.https is None and self.http is None:
            return ()
        ways = [
            f"{name} goes {f'through {proxy}' if proxy else 'directly'}."
            for name, proxy in (("https", self.https), ("Plain http", self.http))
        ]
        if self.https == self.http:
            ways = [f"Requests go through {self.https}."]
        onion = () if self.onion is None else (f"Tor services are asked through {self.onion}.",)
        return (*ways, *onion, BLIND)
