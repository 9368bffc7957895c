"""Addresses of instances, and what lets us in to them."""

import pytest
from pydantic import ValidationError

from searx_mcp.models.credentials import Credentials, base_url

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
    ("written", "normal"),
    [
        ("http://a.example", "http://a.example/"),
        ("HTTP://A.Example:80/", "http://a.example/"),
        ("https://a.example:443/searx", "https://a.example/searx/"),
        ("https://a.example:80/searx", "https://a.example:80/searx/"),
        ("http://a.example:8080//", "http://a.example:8080/"),
        ("http://[::1]:8080", "http://[::1]:8080/"),
        ("http://a.example/x@y", "http://a.example/x@y/"),
    ],
)
def test_an_instance_has_one_address(written, normal):
    assert base_url(written) == base_url(normal) == normal


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("a.example", "'a.example' is not an address with http:// or https:// in front"),
        ("a.example/x@y", "this is not an address with http:// or https:// in front"),
        ("x" * 99, f"'{'x' * 60}' is not an address with http"),
        ("ftp://a.example/", "'ftp://a.example/' is not an http or https address such as https://"),
        ("http:///x", "'http:///x' is not an http or https address"),
        ("http://a.example/?q", "without ? and #"),
        ("http://a.example/#", "without ? and #"),
        ("http://a b.example/", "is not an http or https address"),
        ("http://a.example:99999/", "is not an http or https address"),
        ("http://[::1/", "is not an http or https address"),
        ("http://me:hunter2@a.example/x", "must not contain a user name or password"),
        ("me:hunter2@a.example", "must not contain a user name or password"),
    ],
)
def test_what_is_no_address_of_an_instance_is_refused(written, said):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - what it says is in the table
        base_url(written)
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)


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
