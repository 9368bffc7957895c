"""Which instance somebody means."""

import pytest

from searx_mcp.errors import InvalidArgumentError
from searx_mcp.search.finding import find_instance

URLS = (
    "https://a.example/",
    "http://127.0.0.1:8888/",
    "https://two.example/",
    "https://two.example/searx/",
)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("a.example", URLS[0]),
        (" A.Example ", URLS[0]),
        ("https://a.example", URLS[0]),
        ("127.0.0.1:8888", URLS[1]),
        ("https://two.example/searx", URLS[3]),
        ("https://two.example/", URLS[2]),
    ],
)
def test_a_host_or_an_address_is_found(host, url):
    assert find_instance(host, URLS) == url


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("a.exampel", "did you mean a.example?"),
        ("127.0.0.1", "did you mean 127.0.0.1:8888?"),
        ("zzz", "'zzz' is not in the pool"),
        ("two.example", "has several instances"),
    ],
)
def test_what_is_not_clear_is_asked_back(host, words):
    with pytest.raises(InvalidArgumentError) as caught:
        find_instance(host, URLS)
    assert words in caught.value.message
