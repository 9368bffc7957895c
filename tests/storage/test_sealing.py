"""What may be put on a server that others may read, and write to."""

import pytest

from searx_mcp.storage.redis import Sealing

OURS = Sealing(b"correct horse battery staple")
OTHERS = Sealing(b"another secret, also long")


def test_a_value_opens_under_its_name_and_for_its_secret_alone():
    value = OURS.seal("name", b"text")
    assert OURS.open("name", value) == b"text"
    assert Sealing(b"correct horse battery staple").open("name", value) == b"text"
    assert OURS.open("other", value) is None
    assert OURS.open("name" + "te", value.replace(b"text", b"xt")) is None
    assert OTHERS.open("name", value) is None


@pytest.mark.parametrize("damage", [b"", b"x", b"x" * 16, b"x" * 17], ids=len)
def test_what_nobody_sealed_does_not_open(damage):
    assert OURS.open("name", damage) is None


def test_every_byte_of_a_value_counts():
    value = OURS.seal("name", b"text")
    for place in range(len(value)):
        changed = bytearray(value)
        changed[place] ^= 1
        assert OURS.open("name", bytes(changed)) is None
    assert OURS.open("name", value[:-1]) is None
    assert OURS.open("name", value + b"x") is None


def test_a_name_is_that_of_its_parts_and_its_secret_and_shows_neither():
    name = OURS.name("page", "mine", 1)
    assert name == OURS.name("page", "mine", 1)
    assert len(name) == 32
    assert set(name) <= set("0123456789abcdef")
    others = [OURS.name("page", "mine1"), OURS.name("pagemine", 1), OTHERS.name("page", "mine", 1)]
    assert len({name, *others}) == 4
    assert OURS.name("half \ud800") != OURS.name("half \ud801")
