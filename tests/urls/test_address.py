import pytest

from searx_mcp.errors import SettingsError
from searx_mcp.urls.address import AllowList, effective_address, is_private, why_blocked

NOTHING = AllowList()


@pytest.mark.parametrize(
    ("first", "last", "before", "after"),
    [
        ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
        ("100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"),
        ("127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"),
        ("169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"),
        ("172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
        ("192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
        ("192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"),
        ("192.31.196.0", "192.31.196.255", "192.31.195.255", "192.31.197.0"),
        ("192.52.193.0", "192.52.193.255", "192.52.192.255", "192.52.194.0"),
        ("192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"),
        ("192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
        ("192.175.48.0", "192.175.48.255", "192.175.47.255", "192.175.49.0"),
        ("198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"),
        ("198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"),
        ("203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"),
        ("168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"),
        ("0.0.0.0", "0.255.255.255", "1.0.0.0", "1.0.0.1"),
        ("224.0.0.0", "255.255.255.255", "223.255.255.255", "223.255.255.254"),
        ("2001::", "2001:1ff:ffff::", "2000::1", "2001:200::"),
        ("2001:db8::", "2001:db8:ffff:ffff::", "2001:db7::", "2001:db9::"),
        ("2002::", "2002:ffff::1", "2001:ffff::", "2003::"),
        ("2620:4f:8000::", "2620:4f:8000:ffff::", "2620:4f:7fff::", "2620:4f:8001::"),
        ("3fff::", "3fff:fff::", "3ffe::", "3fff:1000::"),
        ("4000::", "ffff::", "3fff:1000::", "2000::"),
    ],
    ids=lambda value: value,
)
def test_a_forbidden_block_is_refused_to_its_edges(first, last, before, after):
    assert why_blocked(first, 80, NOTHING)
    assert why_blocked(last, 80, NOTHING)
    assert why_blocked(before, 80, NOTHING) is None
    assert why_blocked(after, 80, NOTHING) is None


@pytest.mark.parametrize(
    ("address", "effective"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("64:ff9b::c000:201", "192.0.2.1"),
        ("2606:4700::1", "2606:4700::1"),
        ("fe80::1%eth0", "None"),
        ("127.1", "None"),
        ("example.org", "None"),
    ],
)
def test_an_embedded_address_is_the_one_that_counts(address, effective):
    assert str(effective_address(address)) == effective


@pytest.mark.parametrize("address", ["example.org", "fe80::1%eth0", "8.8.8.8%1", ""])
def test_what_is_no_plain_address_is_refused(address):
    assert why_blocked(address, 80, NOTHING)


@pytest.mark.parametrize(
    ("entry", "host", "port"),
    [
        ("localhost:8001", "localhost", 8001),
        ("localhost:8001", "LOCALHOST.", 8001),
        ("Wiki.LAN:80", "wiki.lan", 80),
        ("müller.lan:80", "xn--mller-kva.lan", 80),
        ("127.0.0.1:8001", "127.0.0.1", 8001),
        ("127.0.0.1:8001", "::ffff:127.0.0.1", 8001),
        ("10.0.0.0/8:443", "10.255.0.1", 443),
        ("[::1]:8080", "::1", 8080),
        ("[fd00::/8]:443", "fd12::1", 443),
    ],
)
def test_an_entry_lifts_the_guard_for_its_host_at_its_port(entry, host, port):
    allow = AllowList.parse([entry])
    assert allow.permits(host, port)
    assert not allow.permits(host, port + 1)


@pytest.mark.parametrize(
    ("entry", "host"),
    [
        ("localhost:80", "127.0.0.1"),
        ("127.0.0.1:80", "localhost"),
        ("10.0.0.0/8:80", "11.0.0.1"),
        ("10.0.0.0/8:80", "fd00::1"),
        ("[fd00::/8]:80", "10.0.0.1"),
        ("wiki.lan:80", "a.wiki.lan"),
        ("[fe80::1]:80", "fe80::1%eth0"),
    ],
)
def test_an_entry_lifts_the_guard_for_nothing_else(entry, host):
    assert not AllowList.parse([entry]).permits(host, 80)


def test_an_allowed_address_is_not_blocked_at_its_port_only():
    allow = AllowList.parse(["10.0.0.0/8:443"])
    assert why_blocked("10.1.2.3", 443, allow) is None
    assert why_blocked("10.1.2.3", 80, allow)


@pytest.mark.parametrize(
    "entry",
    [
        "localhost",
        "localhost:",
        "localhost:http",
        "localhost:0",
        "localhost:65536",
        ":80",
        "",
        "10.0.0.1/8:80",
        "10.0.0.0/33:80",
        "fd00::1:80",
        "[fd00::1/8]:80",
        "[fe80::1%eth0]:80",
        "[10.0.0.1]:80",
        "[::1]",
        "127.1:80",
        "0x7f.1:80",
        "http://localhost:80",
        "local host:80",
        "*.lan:80",
        "a..lan:80",
    ],
)
def test_a_wrong_entry_is_named_with_the_right_form(entry):
    with pytest.raises(SettingsError, match="host:port") as caught:
        AllowList.parse(["localhost:80", entry])
    assert caught.value.field == "fetch.allow_private"
    assert repr(entry) in str(caught.value)


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
