"""Headers of the operator's: for which origins, which of them, and that nothing shows a value."""

import pytest

from searx_mcp.errors import SettingsError
from searx_mcp.settings.sources import effective, load
from searx_mcp.settings.values import Settings


def read(given):
    """The headers of the settings, by origin."""
    return Settings.model_validate({"fetch": {"headers": given}}).fetch.headers


@pytest.mark.parametrize(
    ("written", "origin"),
    [
        ("wiki.example.org", "https://wiki.example.org"),
        ("WIKI.example.org.", "https://wiki.example.org"),
        ("wiki.example.org:443", "https://wiki.example.org"),
        ("wiki.example.org:8443", "https://wiki.example.org:8443"),
        ("https://wiki.example.org/", "https://wiki.example.org"),
        ("http://wiki.internal", "http://wiki.internal"),
        ("http://wiki.internal:80", "http://wiki.internal"),
        ("10.0.0.5:8080", "https://10.0.0.5:8080"),
        ("https://[fd00::5]:8443", "https://[fd00::5]:8443"),
        ("xn--bcher-kva.example", "https://xn--bcher-kva.example"),
    ],
)
def test_a_host_stands_for_its_https_origin(written, origin):
    assert [*read({written: {"X-Key": "k"}})] == [origin]


@pytest.mark.parametrize(
    "written",
    ["", "*", "*.example.org", "bücher.example", "ftp://example.org", "example.org/path", "a b",
     "https://user:s3cr3t@example.org", "https://example.org?x", "https://example.org#x",
     "example.org:99999", "https://", "a\nb.example", "[", "https://a//"],
)  # fmt: skip
def test_what_is_no_host_is_refused(written):
    with pytest.raises(ValueError, match="named after a host") as caught:
        read({written: {"X-Key": "k"}})
    assert "s3cr3t" not in str(caught.value).partition("[type=")[0]


@pytest.mark.parametrize(
    "name",
    ["Host", "content-length", "Transfer-Encoding", "Connection", "Keep-Alive", "TE", "Trailer",
     "Upgrade", "Proxy-Authorization", "Proxy-Authenticate", "Proxy-Connection", "Expect", "Range",
     "Accept-Encoding", "If-None-Match", "Content-Type"],
)  # fmt: skip
def test_headers_of_the_connection_cannot_be_set(name):
    with pytest.raises(ValueError, match="belongs to the connection"):
        read({"example.org": {name: "x"}})


@pytest.mark.parametrize("name", ["", "X Key", "X-Key:", "X\r\nY", "Schlüssel", "x" * 65, "(x)"])
def test_what_is_no_name_of_a_header_is_refused(name):
    with pytest.raises(ValueError, match="has a name that no header can have"):
        read({"example.org": {name: "x"}})


@pytest.mark.parametrize(
    "value", ["", " ", "s3\r\nHost: x", "s3\n", "\ns3", "s3\0", "sécret", "x" * 4_097, " s3", "s3 "]
)
def test_a_value_is_one_line_of_ascii(value):
    with pytest.raises(ValueError, match="is not one line of 1 to 4,096 ASCII characters"):
        read({"example.org": {"X-Key": value}})


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"a.example": {"X": "1"}, "https://A.example:443": {"Y": "2"}}, "two tables"),
        ({"a.example": {"X-Key": "1", "x-key": "2"}}, "appears twice"),
        ({"a.example": {f"X-{n}": "1" for n in range(21)}}, "has 21 headers; at most 20"),
    ],
)
def test_what_is_there_twice_or_too_often_is_refused(given, reason):
    with pytest.raises(ValueError, match=reason):
        read(given)


def test_settings_show_the_names_and_mask_the_values(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[fetch.headers."wiki.example.org"]\nX-Key = "s3cr3t"\n')
    environ = {"SEARX_MCP_FETCH__HEADERS": '{"wiki.example.net": {"X-Key": "s3cr3t"}}'}
    for sources, host in (({"path": path, "environ": {}}, "org"), ({"environ": environ}, "net")):
        settings, origins = load(**sources)
        (row,) = (row for row in effective(settings, origins) if row.key == "fetch.headers")
        assert row.value == {f"https://wiki.example.{host}": {"X-Key": "**********"}}
        assert "s3cr3t" not in f"{settings!r}{settings}{settings.model_dump_json()}"
        headers = settings.fetch.headers[f"https://wiki.example.{host}"]
        assert headers["X-Key"].get_secret_value() == "s3cr3t"


@pytest.mark.parametrize(
    "headers",
    [
        '{"wiki.example.org": {"X-Key": "s3cr3t\\n"}}', '{"wiki.example.org": {"Host": "s3cr3t"}}',
        '{"wiki.example.org": "s3cr3t"}', '{"wiki.example.org": {"X-Key": ["s3cr3t"]}}',
        '["s3cr3t"]', "s3cr3t", '{"s3cr3t',
    ],
)  # fmt: skip
def test_no_mistake_in_the_headers_shows_a_value(headers):
    with pytest.raises(SettingsError) as caught:
        load(environ={"SEARX_MCP_FETCH__HEADERS": headers})
    assert caught.value.field.startswith("fetch.headers")
    assert "s3cr3t" not in f"{caught.value}{caught.value.advice}"
