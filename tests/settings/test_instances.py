"""Own instances and their credentials: where they are written, and what is wrong with them."""

import json

import pytest
from pydantic import ValidationError

from searx_mcp.pool.config import InstancesConfig
from searx_mcp.settings.sources import effective, load
from searx_mcp.settings.values import Settings

A, B = "https://a.example/", "https://b.example/searx/"
LIST = "SEARX_MCP_INSTANCES__CREDENTIALS"


def headers(settings: Settings) -> dict[str, str]:
    """What is sent to each own instance that has credentials."""
    return {entry.url: entry.authorization for entry in settings.instances.credentials}


TOML = f"""
[instances]
own = ["{A}", "{B}"]
[[instances.credentials]]
url = "https://A.example"
username = "test"
password = "123£"
[[instances.credentials]]
url = "{B}"
token = "abc"
"""
HEADERS = {A: "Basic dGVzdDoxMjPCow==", B: "Bearer abc"}


def test_credentials_can_be_set_in_a_file(write):
    path = write(TOML)
    settings, origins = load(path=path, environ={})
    assert headers(settings) == HEADERS
    assert origins["instances.credentials"] == f"file {path}"


@pytest.mark.parametrize("name", [LIST, "SEARX_MCP_INSTANCES"])
def test_credentials_can_be_set_in_the_environment(name):
    entries = [{"url": A, "username": "test", "password": "123£"}, {"url": B, "token": "abc"}]
    value = entries if name == LIST else {"credentials": entries}
    settings, origins = load(environ={"SEARXNG_URL": f"{A};{B}", name: json.dumps(value)})
    assert headers(settings) == HEADERS
    assert origins["instances.credentials"] == f"environment {name}"


def test_credentials_can_be_set_by_an_argument_and_in_a_program():
    own, entries = [A], [{"url": A, "token": "abc"}]
    overrides = {"instances.own": own, "instances.credentials": entries}
    assert headers(load(environ={}, overrides=overrides).settings) == {A: "Bearer abc"}
    table = {"own": own, "credentials": entries}
    assert headers(Settings.model_validate({"instances": table})) == {A: "Bearer abc"}


@pytest.mark.parametrize(
    ("userinfo", "username", "password"),
    [
        ("me:word", "me", "word"),
        ("me:", "me", ""),
        ("me:a:b", "me", "a:b"),
        ("m%C3%A9:%C2%A3+%20", "mé", "£+ "),
        ("a%40b:%3A%2F%3F%23%3B%2C%25%40", "a@b", ":/?#;,%@"),
        ("me:p@ss", "me", "p@ss"),
    ],
)
def test_searxng_url_may_hold_a_user_name_and_password(userinfo, username, password):
    settings, origins = load(environ={"SEARXNG_URL": f"https://{userinfo}@a.example/x"})
    assert settings.instances.own == ("https://a.example/x/",)
    (entry,) = settings.instances.credentials
    assert entry.username is not None
    assert entry.password is not None
    assert entry.username.get_secret_value() == username
    assert entry.password.get_secret_value() == password
    assert origins["instances.credentials"] == "environment SEARXNG_URL"


def test_each_instance_of_searxng_url_has_its_own_credentials():
    value = f"https://test:123%C2%A3@a.example ; {B}, https://me:@b.example; https://me:@b.example"
    settings, _ = load(environ={"SEARXNG_URL": value})
    assert settings.instances.own == (A, B, "https://b.example/")
    assert headers(settings) == {A: HEADERS[A], "https://b.example/": "Basic bWU6"}


def test_searxng_url_without_user_names_leaves_the_credentials_of_the_file(
    write,
):
    settings, _ = load(path=write(TOML), environ={"SEARXNG_URL": B})
    assert headers(settings) == {B: "Bearer abc"}


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"SEARXNG_URL": "https://me:@c.example/"}, {"https://c.example/": "Basic bWU6"}),
        ({"SEARXNG_URL": "http://127.0.0.1:8080/"}, {}),
        ({"SEARXNG_URL": "https://me:@c.example/", "SEARX_MCP_INSTANCES__OWN": A}, {}),
        ({LIST: json.dumps([{"url": B, "token": "t"}])}, {B: "Bearer t"}),
        ({LIST: "[]"}, {}),
    ],
)
def test_credentials_of_replaced_addresses_are_left_out(environ, expected, write):
    settings, _ = load(path=write(TOML), environ=environ)
    assert headers(settings) == expected


WRONG_URLS = [
    ("https://hunter2@a.example/", "instances.credentials", "both username and password"),
    ("https://:hunter2@a.example/", "instances.credentials", "username must not be empty"),
    ("https://me%3Ahunter2:x@a.example/", "instances.credentials", "contain a colon"),
    ("https://me:hunter2%00@a.example/", "instances.credentials", "control characters"),
    ("https://me:hunter2%ff@a.example/", "instances.credentials", "control characters"),
    (f"https://me:hunter2@a.example/;https://me:x@{A[8:]}", "instances.credentials", "two entries"),
    ("https://me:hunter2;x@a.example/", "instances.own", "in its user name and password, write"),
    ("https://me:123,hunter2@a.example/", "instances.own", "in its user name and password, write"),
    ("https://me:hunter2/x@a.example/", "instances.own", "in its user name and password, write"),
    ("https://me:123/hunter2@a.example/", "instances.own", "in its user name and password, write"),
    ("https://me:hunter2#x@a.example/", "instances.own", "in its user name and password, write"),
    ("https://me:hunter2@a.example/?q", "instances.own", "https://user:password@host/"),
    ("https://me:hunter2@/", "instances.own", "https://user:password@host/"),
    ("ftp://me:hunter2@a.example/", "instances.own", "https://user:password@host/"),
    ("me:hunter2@a.example", "instances.own", "https://user:password@host/"),
    ("https://me:x@a.example/;hunter2", "instances.own", "https://user:password@host/"),
]


@pytest.mark.parametrize(("value", "field", "message"), WRONG_URLS)
def test_a_mistake_in_searxng_url_is_told_without_what_it_holds(value, field, message, refusal):
    error = refusal(environ={"SEARXNG_URL": value})
    assert (error.field, error.origin) == (field, "environment SEARXNG_URL")
    assert message in error.message


WRONG_ENTRIES: list[tuple[object, str]] = [
    ("hunter2", "entry 1: it is not a table"),
    ('[{"token": "hunter2"', "is not a list of tables with url, username, password, token"),
    ({"url": A, "token": "hunter2"}, "is not a list of tables"),
    (["hunter2"], "entry 1: it is not a table"),
    ([{"token": "hunter2"}], "entry 1: url is missing"),
    ([{"url": 5, "token": "hunter2"}], "entry 1: its url is not text"),
    ([{"url": "hunter2", "token": "t"}], "entry 1: its url must be an http or https address"),
    ([{"url": "https://me:hunter2@a.example/", "token": "t"}], "entry 1: its url must be"),
    ([{"url": A, "token": ["hunter2"]}], "entry 1: its token is not text"),
    ([{"url": A, "tokn": "hunter2"}], "entry 1: tokn is unknown (did you mean token?)"),
    ([{"url": A, "token": "t"}, {"url": B}], "entry 2: set both username and password, or token"),
    ([{"url": A, "token": "hunter2", "password": ""}], "entry 1: set either"),
    ([{"url": A, "token": "t"}, {"url": A, "token": "hunter2"}], f"two entries for {A}"),
    (
        [{"url": "https://c.example", "token": "hunter2"}],
        "https://c.example/ is not one of the",
    ),
]


@pytest.mark.parametrize(("value", "message"), WRONG_ENTRIES)
def test_a_mistake_in_the_credentials_is_told_without_them(value, message, refusal):
    text = value if isinstance(value, str) else json.dumps(value)
    environ = {"SEARXNG_URL": f"{A};{B}", LIST: text}
    error = refusal(environ=environ)
    assert (error.field, error.origin) == ("instances.credentials", f"environment {LIST}")
    assert message in error.message
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({"instances": {"own": [A, B], "credentials": value}})
    assert "hunter2" not in str(caught.value)


def test_a_file_whose_entries_and_addresses_differ_is_a_mistake(
    write,
    refusal,
):
    error = refusal(path=write(TOML.replace(f', "{B}"]', "]")))
    assert error.field == "instances.credentials"
    assert f"{B} is not one of the addresses in instances.own" in error.message


def test_the_table_alone_shows_no_wrong_value():
    for table in ({"own": [["hunter2"]]}, {"credentials": ["hunter2"]}):
        with pytest.raises(ValidationError) as caught:
            InstancesConfig.model_validate(table)
        assert "hunter2" not in str(caught.value)


def test_a_broken_table_in_the_environment_is_not_shown(refusal):
    error = refusal(environ={"SEARX_MCP_INSTANCES": '{"credentials": [{"token": "hunter2"'})
    assert error.field == "instances"


@pytest.mark.parametrize(
    "own",
    [
        "https://me:hunter2@a.example/",
        "https://me:hunter2;x@a.example/",
        ["a", "https://hunter2@b/"],
    ],
)
def test_credentials_among_the_addresses_get_the_advice_where_they_belong(own, refusal):
    error = refusal(overrides={"instances.own": own})
    assert error.field == "instances.own"
    assert "they belong in instances.credentials" in error.message
    assert "SEARXNG_URL" in error.message


@pytest.mark.parametrize(
    "url",
    ["http://93.184.216.34/", "http://[2606:2800:220:1::1]:8080/x", "http://[::ffff:8.8.8.8]/"],
)
def test_plain_http_to_a_public_address_is_refused_with_advice(url, refusal):
    error = refusal(environ={"SEARXNG_URL": url})
    assert error.field == "instances.own"
    assert "use https" in error.message


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/",
        "http://[::1]:8080/",
        "http://10.1.2.3/",
        "http://100.100.1.2/",
        "http://[fd00::1]/",
        "http://searxng:8080/",
        "http://search.example.org/",
        "https://93.184.216.34/",
        "https://[2606:2800:220:1::1]/",
    ],
)
def test_private_addresses_names_and_https_are_fine(url):
    assert load(environ={"SEARXNG_URL": url}).settings.instances.own == (url,)


def test_what_is_shown_of_the_settings_holds_no_credentials():
    loaded = load(environ={"SEARXNG_URL": "https://alice:hunter2@a.example/"})
    rows = effective(*loaded)
    assert [row.value for row in rows if row.key == "instances.credentials"] == [
        [{"url": A, "username": "**********", "password": "**********", "token": None}]
    ]
    shown = f"{loaded!r} {rows!r} {loaded.settings} {loaded.settings.model_dump_json()}"
    assert "hunter2" not in shown
    assert "alice" not in shown
