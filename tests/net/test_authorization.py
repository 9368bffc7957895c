import pytest
from pydantic import SecretStr
from yarl import URL

from searx_mcp.models.credentials import Credentials
from searx_mcp.net.sessions import Authorizer

OWN = (
    "https://a.example/",
    "https://a.example/x/",
    "https://a.example/x/open/",
    "http://b.example/y/",
)
KNOWN = (OWN[0], OWN[1], OWN[3])


@pytest.fixture
def authorizer() -> Authorizer:
    return Authorizer(OWN, [Credentials(url=url, token=SecretStr(url)) for url in KNOWN])


@pytest.mark.parametrize(
    ("url", "owner"),
    [
        ("https://a.example/", OWN[0]),
        ("https://A.EXAMPLE/search?q=x", OWN[0]),
        ("https://me:word@a.example/search", OWN[0]),
        ("https://a.example/xy/search", OWN[0]),
        ("https://a.example/x", OWN[0]),
        ("https://a.example/x/search?q=/", OWN[1]),
        ("https://a.example/x/%2e%2e/search", OWN[0]),
        ("https://a.example/x/open/search", None),
        ("http://b.example/y/search", OWN[3]),
        ("http://b.example/", None),
        ("http://b.example/Y/", None),
        ("https://b.example/y/", None),
        ("http://b.example:8080/y/", None),
        ("http://a.example/", None),
        ("https://a.example:8443/", None),
        ("https://a.example.net/", None),
        ("https://sub.a.example/", None),
    ],
)
def test_a_request_gets_the_credentials_of_its_instance_only(authorizer, url, owner):
    assert authorizer.value_for(URL(url)) == (f"Bearer {owner}" if owner else None)


def test_the_spelling_of_an_instance_does_not_matter():
    credentials = [Credentials(url="https://Bücher.example:443/ä", token=SecretStr("t"))]
    authorizer = Authorizer(["https://me@bücher.example/ä"], credentials)
    assert authorizer.value_for(URL("https://xn--bcher-kva.example/%C3%A4/search")) == "Bearer t"


def test_it_shows_no_credentials(authorizer):
    assert "Bearer" not in repr(authorizer)
