import socket
from collections.abc import Collection

import pytest
from aiohttp import AddrInfoType

from searx_mcp.http.guard import (
    AddressGuard,
    BlockedAddressError,
    GuardedResolver,
    PublicAddressError,
    open_private_socket,
    own_address_probe,
)
from searx_mcp.urls.address import AllowList


def guard_for(*entries: str, own: Collection[str] = ()) -> AddressGuard:
    return AddressGuard(AllowList.parse(entries), is_own=lambda address: address in own)


def target(address: str, port: int = 80, family: int | None = None) -> AddrInfoType:
    if family is None:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
    scope = (0, 0) if family == socket.AF_INET6 else ()
    return family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port, *scope)


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fe80::1%eth0"]
)
def test_no_socket_is_opened_for_a_forbidden_address(address):
    with pytest.raises(BlockedAddressError):
        guard_for().open_socket(target(address))


@pytest.mark.parametrize("address", ["93.184.216.34", "::ffff:93.184.216.34"])
def test_a_socket_is_opened_for_a_public_address(address):
    with guard_for().open_socket(target(address)) as opened:
        assert opened.type == socket.SOCK_STREAM


def test_no_socket_is_opened_for_another_family():
    with pytest.raises(BlockedAddressError):
        guard_for().open_socket(target("/run/x.sock", family=socket.AF_UNSPEC))


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "::1", "::ffff:10.0.0.1", "fe80::1"])
def test_plain_http_opens_a_socket_for_a_private_address(address):
    with open_private_socket(target(address)) as opened:
        assert opened.type == socket.SOCK_STREAM


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "1572395042"]
)
def test_plain_http_opens_no_socket_for_anything_else(address):
    with pytest.raises(PublicAddressError):
        open_private_socket(target(address))


def test_a_public_address_of_this_machine_is_refused():
    guard = guard_for(own={"93.184.216.34"})
    with pytest.raises(BlockedAddressError):
        guard.check_answers("www.example.org", 80, ["93.184.216.34"])
    with pytest.raises(BlockedAddressError):
        guard.open_socket(target("93.184.216.34"))


def test_an_own_address_may_be_allowed():
    guard = guard_for("93.184.216.34:80", own={"93.184.216.34"})
    guard.open_socket(target("93.184.216.34")).close()


def test_an_allowed_name_lifts_the_guard_for_its_addresses_at_its_port_only():
    guard = guard_for("wiki.lan:8080")
    with pytest.raises(BlockedAddressError):
        guard.open_socket(target("10.0.0.5", 8080))
    guard.check_answers("wiki.lan", 8080, ["10.0.0.5"])
    guard.open_socket(target("10.0.0.5", 8080)).close()
    for address, port in [("10.0.0.5", 80), ("10.0.0.6", 8080)]:
        with pytest.raises(BlockedAddressError):
            guard.open_socket(target(address, port))


def test_another_name_with_the_address_of_an_allowed_one_stays_refused():
    guard = guard_for("wiki.lan:8080")
    guard.check_answers("wiki.lan", 8080, ["10.0.0.5"])
    with pytest.raises(BlockedAddressError):
        guard.check_answers("rebind.example.org", 8080, ["10.0.0.5"])


def test_every_refusal_has_the_same_text():
    texts = set()
    for address in ("127.0.0.1", "10.0.0.1", "::1"):
        with pytest.raises(BlockedAddressError) as caught:
            guard_for().open_socket(target(address))
        texts.add(str(caught.value))
    assert len(texts) == 1
    assert not any(character.isdigit() for character in texts.pop().partition("]")[2])


def test_the_probe_knows_the_addresses_of_this_machine():
    is_own = own_address_probe()
    assert is_own("127.0.0.1")
    assert is_own("::ffff:127.0.0.1")
    assert not is_own("93.184.216.34")
    assert not is_own("2606:4700:4700::1111")


def test_the_probe_says_no_where_any_address_can_be_bound(monkeypatch):
    monkeypatch.setattr(socket.socket, "bind", lambda self, address: None)
    assert not own_address_probe()("127.0.0.1")


@pytest.fixture
def guarded(names):
    def make(answers, *allowed):
        guard = AddressGuard(AllowList.parse(allowed), is_own=lambda address: False)
        return GuardedResolver(names(answers), guard)

    return make


async def test_public_answers_are_handed_on(guarded):
    resolver = guarded({"www.example.org": ["93.184.216.34", "2606:4700:4700::1111"]})
    answers = await resolver.resolve("www.example.org", 443)
    assert [answer["host"] for answer in answers] == ["93.184.216.34", "2606:4700:4700::1111"]


@pytest.mark.parametrize(
    "answers", [["93.184.216.34", "10.0.0.1"], ["93.184.216.34", "x"]], ids=str
)
async def test_a_dns_answer_with_anything_but_public_addresses_refuses_the_name(guarded, answers):
    resolver = guarded({"www.example.org": answers})
    with pytest.raises(BlockedAddressError):
        await resolver.resolve("www.example.org", 443)


async def test_a_name_that_turns_private_after_a_look_up_is_refused(guarded):
    resolver = guarded({"rebind.example.org": [["93.184.216.34"], ["127.0.0.1"]]})
    await resolver.resolve("rebind.example.org", 80)
    with pytest.raises(BlockedAddressError):
        await resolver.resolve("rebind.example.org", 80)


async def test_an_allowed_name_may_have_private_addresses(guarded):
    resolver = guarded({"wiki.lan": ["10.0.0.5", "fd00::5"]}, "wiki.lan:443")
    assert len(await resolver.resolve("wiki.lan", 443)) == 2
    with pytest.raises(BlockedAddressError):
        await resolver.resolve("wiki.lan", 80)


@pytest.mark.parametrize("answers", [{}, {"www.example.org": []}], ids=["unknown", "empty"])
async def test_a_name_without_addresses_does_not_resolve(guarded, answers):
    with pytest.raises(OSError, match=f"Errno {int(socket.EAI_NONAME)}"):
        await guarded(answers).resolve("www.example.org", 443)


async def test_closing_leaves_the_inner_resolver_open(guarded):
    await guarded({}).close()
