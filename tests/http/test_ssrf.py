"""The three layers of the guard over the table of addresses, without a client around them.

A row is judged as a fetch would be: by URL, then by every DNS answer, then by every socket that
would be opened. Nothing is dialled. `tests/ops/test_selfcheck.py` runs the same table through the
real client.
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
from searx_mcp.http.guard import AddressGuard, BlockedAddressError, GuardedResolver
from searx_mcp.ops.selfcheck import bundled_vectors
from searx_mcp.urls.address import AllowList
from searx_mcp.urls.url import check_url

PUBLIC = "93.184.216.34"


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


BY_SPELLING = {"ipv4", "spelling", "ipv6", "unicode", "parser", "scheme", "port", "name"}


def vectors(*kinds: str) -> list[Any]:
    return [
        pytest.param(vector, id=vector.id)
        for vector in bundled_vectors()
        if vector.kind in kinds and not vector.redirects
    ]


@pytest.mark.parametrize("vector", vectors(*BY_SPELLING))
async def test_a_forbidden_url_is_refused_before_its_name_is_resolved(vector, names):
    resolver = names({})
    assert not await is_fetched(vector.url, resolver)
    assert resolver.asked == []


@pytest.mark.parametrize("vector", vectors("dns"))
async def test_a_name_with_any_forbidden_address_is_refused(vector, names):
    ((name, answers),) = vector.dns.items()
    resolver = names({name: list(answers[0])})
    assert not await is_fetched(vector.url, resolver)
    assert resolver.asked == [name]


async def test_a_name_with_something_else_than_an_address_is_refused(names):
    assert not await is_fetched("http://www.example.org/", names({"www.example.org": ["x"]}))


@pytest.mark.parametrize("vector", vectors("public"))
async def test_a_public_address_is_fetched(vector, names):
    host = URL(vector.url).raw_host
    answers = vector.dns[host][0] if vector.dns else [PUBLIC]
    assert await is_fetched(vector.url, names({host: list(answers)}))


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
