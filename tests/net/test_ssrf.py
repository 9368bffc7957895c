"""The whole guard over tables of addresses: what may be dialled, and what may not.

A row is judged as a fetch would be: by URL, then by every DNS answer, then by every socket that
would be opened. Nothing is dialled.
"""

import contextlib
import socket
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest
from aiohttp.abc import AbstractResolver
from yarl import URL

from searx_mcp.errors import ErrorCode, InvalidArgumentError, PolicyError
from searx_mcp.net.address import AllowList
from searx_mcp.net.guard import AddressGuard, BlockedAddressError
from searx_mcp.net.resolver import GuardedResolver
from searx_mcp.net.url import check_url

PUBLIC = "93.184.216.34"
PUBLIC6 = "2606:4700:4700::1111"


def open_once(guard: AddressGuard, address: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    scope = (0, 0) if ":" in address else ()
    guard.open_socket((family, socket.SOCK_STREAM, 0, "", (address, port, *scope))).close()


async def is_fetched(raw: str, resolver: AbstractResolver) -> bool:
    guard = AddressGuard(AllowList(), is_own=lambda address: False)
    try:
        url = check_url(raw, allow=AllowList())
        assert url.raw_host is not None
        assert url.port is not None
        with contextlib.suppress(ValueError):
            ip_address(url.raw_host)
            open_once(guard, url.raw_host, url.port)
            return True
        for answer in await GuardedResolver(resolver, guard).resolve(url.raw_host, url.port):
            open_once(guard, answer["host"], url.port)
    except (InvalidArgumentError, PolicyError, OSError):  # OSError: forbidden, or does not resolve
        return False
    return True


REFUSED_URLS = [
    # literal
    "http://127.0.0.1/",
    "https://127.8.9.10/",
    "http://0.0.0.0/",
    "http://0.1.2.3/",
    "http://10.20.30.40/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.0.10:8080/",
    "http://100.64.0.0/",
    "http://100.127.255.255/",
    "http://169.254.169.254/latest/meta-data/",
    "http://168.63.129.16/",
    "http://192.0.0.170/",
    "http://192.0.2.77/",
    "http://192.88.99.2/",
    "http://198.19.255.255/",
    "http://203.0.113.9/",
    "http://224.0.0.251/",
    "http://255.255.255.255/",
    # numeric
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0X7F.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.1/",
    "http://127.0.1/",
    "http://127.0.0.1./",
    "http://127.000.000.001/",
    "http://0/",
    "http://0x/",
    "http://169.254.43518/",
    "http://1.2.3.4.5/",
    "http://256.256.256.256/",
    "http://foo.0x7f/",
    # v6
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:0:10.0.0.1]/",
    "http://[64:ff9b::192.168.1.1]/",
    "http://[64:ff9b:1::1]/",
    "http://[2001:0:53aa:64c::1]/",
    "http://[2001:10::1]/",
    "http://[2002:c0a8:101::1]/",
    "http://[2001:db8::42]/",
    "http://[3fff:123::1]/",
    "http://[2a00:1450::200:5efe:8.8.8.8]/",
    "http://[2a00:1450::5efe:10.0.0.1]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[2606:4700:4700::1111%25eth0]/",
    "http://[fec0::1]/",
    "http://[fd12:3456::1]/",
    "http://[ff02::fb]/",
    "http://[v1.fe80]/",
    # unicode
    "http://①②⑦.⓪.⓪.①/",
    "http://\uff11\uff12\uff17.\uff10.\uff10.\uff11/",
    "http://127。0。0。1/",
    "http://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54/",
    "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ./",
    "http://loc\xadalhost/",
    "http://example.org\u2028.evil.org/",
    "http://example.org\uff1a6379/",
    "http://example.org\uff0f.evil.org/",
    "http://8.8.8.8\uff0e.local/",
    # parser
    "http://user:secret@example.org/",
    "http://example.org@127.0.0.1/",
    "http://@example.org/",
    "http://[::1]@example.org/",
    "http://example.org\\@127.0.0.1/",
    "http://exa mple.org/",
    "http://exa\tmple.org/",
    "http://example.org/\r\nHost: 127.0.0.1",
    "http://example.org\x00.local/",
    "http:///127.0.0.1/",
    "http:127.0.0.1/",
    "//example.org/",
    "example.org",
    "http://%31%32%37.0.0.1/",
    "http://example.org%2f.local/",
    "http://[127.0.0.1]/",
    "http://[::1]example.org/",
    "http://example.org:80:80/",
    "http://example.org:+80/",
    "http://example.org:8_0/",
    "http://example.org:\uff18\uff10/",
    "http://example.org:99999/",
    "http://a..example.org/",
    "http://-a.example.org/",
    "http://a,b.example.org/",
    "http://" + "a" * 64 + ".example.org/",
    "http://" + "a." * 126 + "example.org/",
    "http://",
    "",
    # scheme
    "file:///etc/passwd",
    "ftp://example.org/",
    "gopher://example.org/_x",
    "ws://example.org/",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/info",
    "view-source:http://example.org/",
    "data:text/html,x",
    "javascript:alert(1)",
    # port
    "http://example.org:22/",
    "http://example.org:25/",
    "http://example.org:6379/",
    "http://example.org:0/",
    "https://example.org:8444/",
    "http://93.184.216.34:9200/",
    # name
    "http://localhost/",
    "http://LOCALHOST./",
    "http://a.localhost/",
    "http://intranet/",
    "http://metadata.google.internal/",
    "http://printer.local/",
    "http://nas.LAN/",
    "http://router.home.arpa/",
    "http://1.0.0.127.in-addr.arpa/",
    "http://x.onion/",
    "http://kubernetes.default.svc/",
    "http://kubernetes.default.svc.cluster.local/",
    "http://x.test/",
]


@pytest.mark.parametrize("raw", REFUSED_URLS, ids=ascii)
async def test_a_forbidden_url_is_refused_before_its_name_is_resolved(raw, names):
    resolver = names({})
    assert not await is_fetched(raw, resolver)
    assert resolver.asked == []


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["169.254.169.254"],
        [PUBLIC, "127.0.0.1"],
        [PUBLIC, "::1"],
        ["::1", PUBLIC],
        [PUBLIC6, "fd00::1"],
        ["::ffff:10.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["2002:7f00:1::1"],
        ["fe80::1%2"],
        ["0.0.0.0"],
        ["168.63.129.16"],
        ["100.100.100.200"],
        ["not an address"],
    ],
    ids=",".join,
)
async def test_a_name_with_any_forbidden_address_is_refused(addresses, names):
    assert not await is_fetched("http://www.example.org/", names({"www.example.org": addresses}))


@pytest.mark.parametrize(
    ("raw", "addresses"),
    [
        ("http://example.org/", [PUBLIC]),
        ("https://example.org/a?b=c#d", [PUBLIC]),
        ("http://EXAMPLE.org./", [PUBLIC]),
        ("http://example.org:8080/", [PUBLIC]),
        ("https://example.org:8443/", [PUBLIC]),
        ("http://example.org:/", [PUBLIC]),
        ("HTTP://example.org?q", [PUBLIC]),
        ("http://dual.example.org/", [PUBLIC, PUBLIC6]),
        ("http://dns64.example.org/", ["64:ff9b::5db8:d822"]),
        ("https://müller.example.org/", [PUBLIC]),
        ("https://例え.テスト.example.org/", [PUBLIC]),
        ("https://xn--mller-kva.example.org/", [PUBLIC]),
        ("http://a_b.example.org/", [PUBLIC]),
        ("http://127.0.0.1.example.org/", [PUBLIC]),
        ("http://localhost.example.org/", [PUBLIC]),
        ("http://mylocal.org/", [PUBLIC]),
        ("http://3com.com/", [PUBLIC]),
        ("http://0x.org/", [PUBLIC]),
        ("https://example.org/?u=http://127.0.0.1/", [PUBLIC]),
        ("https://example.org/@user:80", [PUBLIC]),
        ("https://en.wikipedia.org/wiki/C%2B%2B_(language)", [PUBLIC]),
        (f"http://{PUBLIC}/", None),
        (f"http://[{PUBLIC6}]/", None),
        (f"http://[::ffff:{PUBLIC}]/", None),
        ("http://100.63.255.255/", None),
        ("http://100.128.0.1/", None),
        ("http://172.15.255.255/", None),
        ("http://172.32.0.1/", None),
        ("http://169.253.255.255/", None),
        ("http://223.255.255.255/", None),
        ("http://[2001:200::1]/", None),
        ("http://[2003::1]/", None),
    ],
)
async def test_a_public_address_is_fetched(raw, addresses, names):
    host = URL(raw).raw_host
    resolver = names({host: addresses} if addresses else {})
    assert await is_fetched(raw, resolver)


async def test_an_address_that_turns_private_after_the_check_is_not_dialled(names):
    guard = AddressGuard(AllowList(), is_own=lambda address: False)
    resolver = GuardedResolver(names({"rebind.example.org": [[PUBLIC], ["127.0.0.1"]]}), guard)
    await resolver.resolve("rebind.example.org", 80)
    with pytest.raises(BlockedAddressError):
        await resolver.resolve("rebind.example.org", 80)
    with pytest.raises(BlockedAddressError):
        open_once(guard, "127.0.0.1", 80)


def errors_of(raws: list[str]) -> Iterator[PolicyError]:
    for raw in raws:
        with pytest.raises(PolicyError) as caught:
            check_url(raw, allow=AllowList())
        yield caught.value


def test_every_forbidden_address_gives_the_same_error():
    """A caller must not learn from the text what is behind an address."""
    errors = list(
        errors_of(["http://10.0.0.1/", "http://[::1]/", "http://intranet/", "http://2130706433/"])
    )
    assert {error.code for error in errors} == {ErrorCode.BLOCKED_ADDRESS}
    assert len({(error.message, error.advice) for error in errors}) == 1


def join_hop(vector: dict[str, Any]) -> str:
    """Resolve a redirect as a fetch does; what cannot be joined is judged as it came."""
    target: str = vector["redirects"][0]
    try:
        return str(URL(vector["url"]).join(URL(target))) if "\\" not in target else target
    except ValueError:
        return target


async def test_every_recorded_vector_is_judged_right(ssrf_vectors, names):
    wrong = []
    for vector in ssrf_vectors:
        raw = join_hop(vector) if vector["kind"] == "redirect" else vector["url"]
        dns = {
            host: answers[-1] if isinstance(answers[0], list) else answers
            for host, answers in (vector.get("dns") or {}).items()
        }
        if await is_fetched(raw, names(dns)) != (vector["verdict"] == "allow"):
            wrong.append((vector["id"], raw))
    assert wrong == []
