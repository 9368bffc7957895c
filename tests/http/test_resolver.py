import socket

import pytest

from searx_mcp.http.guard import AddressGuard, BlockedAddressError
from searx_mcp.http.resolver import GuardedResolver
from searx_mcp.urls.address import AllowList


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


async def test_a_mixed_dns_answer_refuses_the_name(guarded):
    resolver = guarded({"www.example.org": ["93.184.216.34", "10.0.0.1"]})
    with pytest.raises(BlockedAddressError):
        await resolver.resolve("www.example.org", 443)


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
