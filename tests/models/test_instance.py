import pytest
from pydantic import ValidationError

from searx_mcp.models.credentials import Credentials

URL = "https://search.example.org/"


def credentials(**fields: object) -> Credentials:
    return Credentials.model_validate({"url": URL, **fields})


@pytest.mark.parametrize(
    ("username", "password", "header"),
    [
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),  # RFC 7617 2
        ("test", "123£", "Basic dGVzdDoxMjPCow=="),  # RFC 7617 2.1
        ("me", "", "Basic bWU6"),
        ("me", "a:b", "Basic bWU6YTpi"),
    ],
)
def test_a_user_name_and_password_make_a_basic_header(username, password, header):
    assert credentials(username=username, password=password).authorization == header


def test_a_token_makes_a_bearer_header():
    token = "1|mF_9.B5f-4.1JqM+/=="
    assert credentials(token=token).authorization == f"Bearer {token}"


def test_the_address_is_normalised():
    given = credentials(url="HTTPS://Search.Example.org:443", token="t")
    assert given == credentials(token="t")
    assert len({given, credentials(token="t")}) == 1


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "both username and password, or token"),
        ({"username": "hunter2"}, "both username and password, or token"),
        ({"password": "hunter2"}, "both username and password, or token"),
        ({"token": "hunter2", "username": "me"}, "either username and password, or token"),
        ({"token": "hunter2", "password": ""}, "either username and password, or token"),
        ({"token": ""}, "token must be visible ASCII"),
        ({"token": "hunter2 x"}, "token must be visible ASCII"),
        ({"token": "hunter2\r\nX: y"}, "token must be visible ASCII"),
        ({"token": "hunter2é"}, "token must be visible ASCII"),
        ({"username": "", "password": "hunter2"}, "must not be empty"),
        ({"username": "me:hunter2", "password": ""}, "contain a colon"),
        ({"username": "me\x00", "password": "hunter2"}, "control characters"),
        ({"username": "me", "password": "hunter2\n"}, "control characters"),
        ({"username": "me", "password": "hunter2\x9f"}, "control characters"),
        ({"username": "me", "password": "hunter2\udcff"}, "control characters"),
        ({"url": "hunter2", "token": "t"}, "its url must be"),
        ({"url": "https://me:hunter2@a.example/", "token": "t"}, "its url must be"),
    ],
)
def test_wrong_credentials_are_refused_and_not_shown(fields, reason):
    with pytest.raises(ValidationError, match=reason) as caught:
        credentials(**fields)
    assert "hunter2" not in str(caught.value)


def test_no_text_or_dump_shows_the_credentials():
    for given in (credentials(username="alice", password="hunter2"), credentials(token="hunter2")):
        shown = f"{given} {given!r} {given.model_dump()} {given.model_dump_json()}"
        assert "hunter2" not in shown
        assert "alice" not in shown
        assert URL in shown
