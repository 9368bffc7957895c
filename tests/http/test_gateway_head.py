import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from searx_mcp.http.gateway import RequestHead, ResponseHead


def request(*lines: str) -> RequestHead:
    return RequestHead.parse("\r\n".join([*lines, "", ""]).encode("latin-1"))


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("http://www.site.org", "GET / HTTP/1.1"),
        ("http://www.site.org/", "GET / HTTP/1.1"),
        ("HTTP://WWW.SITE.ORG:8080/A", "GET /A HTTP/1.1"),
        ("http://www.site.org?q", "GET /?q HTTP/1.1"),
        ("http://www.site.org//a/../b", "GET //a/../b HTTP/1.1"),
        ("http://www.site.org/http://other.org/", "GET /http://other.org/ HTTP/1.1"),
        ("http://www.site.org/%2e%2E?a=%zz", "GET /%2e%2E?a=%zz HTTP/1.1"),
    ],
)
def test_the_path_goes_out_as_it_came_in(target, line):
    head = request(f"GET {target} HTTP/1.1")
    assert head.forwarded(URL(target)).decode().split("\r\n")[0] == line


@pytest.mark.parametrize("value", [" " * 30_000 + "b", " " * 30_000 + "\x00", "a \t" * 10_000])
def test_blanks_in_a_field_take_no_longer_than_their_number(value):
    """Matched apart from the value, 30,000 of them took three seconds, and before a NUL hours."""
    data = f"HTTP/1.1 200 OK\r\nX: a{value}\r\nY:{value}\r\n\r\n".encode()
    assert ResponseHead.parse(data).status == 200
    assert RequestHead.parse(b"GET http://a.org/ HTTP/1.1\r\nX: \t a \t\r\n\r\n").values("x") == [
        "a"
    ]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://www.site.org/", "www.site.org"),
        ("http://www.site.org:80/", "www.site.org"),
        ("http://www.site.org:8080/", "www.site.org:8080"),
        ("http://[2606:4700:4700::1111]:8080/", "[2606:4700:4700::1111]:8080"),
    ],
)
def test_the_host_is_that_of_the_address_and_not_of_the_field(url, host):
    head = request(f"GET {url} HTTP/1.1", "Host: other.org", "host: third.org")
    lines = head.forwarded(URL(url)).decode().split("\r\n")
    assert [line for line in lines if line.lower().startswith("host:")] == [f"Host: {host}"]


@pytest.mark.parametrize(
    "field",
    [
        "Proxy-Authorization: Basic x", "Proxy-Connection: keep-alive", "Connection: keep-alive",
        "Keep-Alive: timeout=5", "TE: trailers", "Trailer: x", "Upgrade: h2c", "Content-Length: 0",
    ],
)  # fmt: skip
def test_what_concerns_the_connection_is_not_passed_on(field):
    head = request("GET http://www.site.org/ HTTP/1.1", field, "Accept: */*")
    passed = head.forwarded(URL("http://www.site.org/")).decode()
    assert passed == (
        "GET / HTTP/1.1\r\nHost: www.site.org\r\naccept: */*\r\nConnection: close\r\n\r\n"
    )


def test_a_field_that_belongs_to_the_connection_is_not_passed_on():
    head = request("GET http://www.site.org/ HTTP/1.1", "Connection: close, X-Own ,", "X-Own: 1")
    assert "x-own" not in head.forwarded(URL("http://www.site.org/")).decode()


@pytest.mark.parametrize(
    ("fields", "has_body"),
    [
        ([], False),
        (["Content-Length: 0"], False),
        (["Content-Length: 1"], True),
        (["Content-Length: 0", "Content-Length: 1"], True),
        (["Content-Length: x"], True),
        (["Transfer-Encoding: chunked"], True),
        (["transfer-encoding: identity"], True),
    ],
)
def test_a_request_with_a_body_is_known(fields, has_body):
    assert request("GET http://www.site.org/ HTTP/1.1", *fields).has_body is has_body


@pytest.mark.parametrize(
    ("lines", "passed"),
    [
        (["HTTP/1.1 200 OK"], ["HTTP/1.1 200 OK"]),
        (["HTTP/1.0 200 OK"], ["HTTP/1.1 200 OK"]),
        (["HTTP/1.1 404"], ["HTTP/1.1 404 "]),
        (["HTTP/1.1 200 OK", "Set-Cookie: a=b", "Set-Cookie: c=d"], None),
        (["HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: chunked"], None),
        (["HTTP/1.1 200 OK", "Connection: keep-alive"], ["HTTP/1.1 200 OK"]),
        (["HTTP/1.1 200 OK", "Keep-Alive: timeout=5"], ["HTTP/1.1 200 OK"]),
        (["HTTP/1.1 200 OK", "Proxy-Authenticate: Basic"], ["HTTP/1.1 200 OK"]),
        (["HTTP/1.1 200 OK", "Connection: X-Own", "X-Own: 1"], ["HTTP/1.1 200 OK"]),
        (
            ["HTTP/1.1 200 OK", "Connection: Content-Length", "Content-Length: 5"],
            ["HTTP/1.1 200 OK", "Content-Length: 5"],
        ),
        (["HTTP/1.1 200 OK", "no colon", " folded: x", "A : b"], ["HTTP/1.1 200 OK"]),
        (["HTTP/1.1 200 OK", "A: b\nConnection: keep-alive"], ["HTTP/1.1 200 OK"]),
    ],
)
def test_an_answer_says_that_its_connection_ends(lines, passed):
    head = ResponseHead.parse("\r\n".join([*lines, "", ""]).encode())
    wanted = [*(passed or lines), "Connection: close", "", ""]
    assert head.passed_on.decode() == "\r\n".join(wanted)


@pytest.mark.parametrize(
    "line",
    [
        "", "HTTP/1.1", "HTTP/1.1 20 OK", "HTTP/1.1 600 x", "HTTP/1.1 99 x", "HTTP/2 200 OK",
        "ICY 200",
    ],
)  # fmt: skip
def test_what_does_not_begin_an_answer_is_refused(line):
    with pytest.raises(ValueError, match="head of an answer"):
        ResponseHead.parse(f"{line}\r\n\r\n".encode())


@given(st.binary(max_size=300))
def test_any_bytes_are_a_head_or_refused(data):
    for parse in (RequestHead.parse, ResponseHead.parse):
        try:
            head = parse(data + b"\r\n\r\n")
        except ValueError:
            continue
        if isinstance(head, ResponseHead):
            assert head.passed_on.endswith(b"\r\nConnection: close\r\n\r\n")


@given(
    st.text(st.characters(max_codepoint=255), max_size=60), st.sampled_from(["\r\n", "\n", "\r"])
)
def test_no_value_becomes_a_line_of_its_own(value, end):
    line = f"A: b{end}{value}"
    try:
        head = request("GET http://www.site.org/ HTTP/1.1", line)
    except ValueError:
        return
    lines = head.forwarded(URL("http://www.site.org/")).split(b"\r\n")
    assert all(b"\n" not in each and b"\r" not in each for each in lines)
