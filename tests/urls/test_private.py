import pytest

from searx_mcp.urls.private import is_private


@pytest.mark.parametrize(
    ("first", "last", "before", "after"),
    [
        ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
        ("100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"),
        ("127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"),
        ("169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"),
        ("172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
        ("192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
        ("0.0.0.0", "0.0.0.0", "255.255.255.255", "0.0.0.1"),
        ("fc00::", "fdff:ffff::", "fbff::", "fe00::"),
        ("fe80::", "febf:ffff::", "fe7f::", "fec0::"),
        ("::", "::1", "ffff::", "::2"),
    ],
    ids=lambda value: value,
)
def test_a_private_network_is_private_to_its_edges(first, last, before, after):
    assert is_private(first) is is_private(last) is True
    assert is_private(before) is is_private(after) is False


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("::ffff:10.0.0.1", True),
        ("::ffff:93.184.216.34", False),
        ("64:ff9b::a00:1", False),
        ("fe80::1%eth0", True),
        ("2606:2800:220:1::1%eth0", False),
        ("203.0.113.1", False),
        ("224.0.0.1", False),
    ],
)
def test_an_address_counts_as_what_it_reaches(address, expected):
    assert is_private(address) is expected


@pytest.mark.parametrize(
    "name", ["", "localhost", "searxng", "10.0.0", "2130706433", "0x7f000001", "[::1]", "010.0.0.1"]
)
def test_a_name_is_neither_private_nor_public(name):
    assert is_private(name) is None
