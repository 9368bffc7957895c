"""Sites that break the rules of HTTP: faults 10 to 27 of the list in `test_table.py`."""

import asyncio

import pytest

HTML = b"Content-Type: text/html\r\n"
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + HTML + b"Transfer-Encoding: chunked\r\n\r\n"
TEXT = b"<p>" + b"Some words of a page that never ends. " * 20


async def reset(connection):
    connection.reset()


async def close(connection):
    pass


async def drip_headers(connection):
    await connection.send(OK)
    while True:
        await connection.send(b"X-Drip: 1\r\n")
        await asyncio.sleep(0.05)


async def drip_body(connection):
    await connection.send(OK + HTML + b"Content-Length: 999999\r\n\r\n" + TEXT)
    while True:
        await connection.send(b"drip ")
        await asyncio.sleep(0.05)


async def endless_chunks(connection):
    await connection.send(CHUNKED)
    for _ in range(2_000):  # 8 MB, sixty times what is read: whoever sees the end has no limit
        await connection.send(b"1000\r\n" + b"words are " * 409 + b"words \r\n")
    await connection.send(b"0\r\n\r\n")


async def tiny_chunks(connection):
    await connection.send(CHUNKED)
    for _ in range(20_000):
        await connection.send(b"1\r\na\r\n" * 64)


async def flood_of_continues(connection):
    while True:
        await connection.send(b"HTTP/1.1 100 Continue\r\n\r\n" * 50)


async def many_headers(connection):
    await connection.send(OK)
    for number in range(100_000):
        await connection.send(b"X-%d: y\r\n" % number)
    await connection.send(b"\r\n")


async def short(connection):
    await connection.send(OK + HTML + b"Content-Length: 5000\r\n\r\n" + TEXT)


async def cut_chunk(connection):
    await connection.send(CHUNKED + b"%x\r\n" % (len(TEXT) * 2) + TEXT)


async def reset_in_body(connection):
    await short(connection)
    await asyncio.sleep(0.1)
    connection.reset()


async def stall_in_body(connection):
    await short(connection)
    await connection.hang()


def framed(*fields: bytes, body: bytes = TEXT, line: bytes = OK) -> bytes:
    return line + HTML + b"".join(field + b"\r\n" for field in fields) + b"\r\n" + body


LENGTH = b"Content-Length: %d" % len(TEXT)


BROKEN = {
    "10 RST after accept": (reset, "connection_error"),
    "11 close before headers": (close, "connection_error"),
    "23 Content-Length too long for the body": (short, "truncated"),
    "10 RST in the body": (reset_in_body, "truncated"),
    "27 cut chunk": (cut_chunk, "truncated"),
    "15 chunks without end": (endless_chunks, "truncated"),
    "18 giant header": (framed(b"X: " + b"a" * 70_000, LENGTH), "malformed_response"),
    "18 giant status line": (b"HTTP/1.1 200 " + b"O" * 70_000, "malformed_response"),
    "17 flood of 100 Continue": (flood_of_continues, "malformed_response"),
    "19 headers by the hundred thousand": (many_headers, "malformed_response"),
    "20 status of two digits": (b"HTTP/1.1 20 OK\r\n\r\n", "malformed_response"),
    "20 no status": (b"HTTP/1.1 OK\r\n\r\n", "malformed_response"),
    "20 no text at all": (b"\x00" * 400 + b"\r\n\r\n", "malformed_response"),
    "20 another protocol": (b"SSH-2.0-OpenSSH_9.6\r\n", "malformed_response"),
    "21 HTTP/0.9": (b"<html><p>Text</p></html>\r\n", "malformed_response"),
    "22 HTTP/2 settings": (
        b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\x00\x03\x00\x00\x00\x64" * 3,
        "malformed_response",
    ),
    "22 HTTP/2 preface": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "malformed_response"),
    "25 length no number": (framed(b"Content-Length: 1e3"), "malformed_response"),
    "25 length negative": (framed(b"Content-Length: -5"), "malformed_response"),
    "25 length too large": (framed(b"Content-Length: " + b"9" * 40), "malformed_response"),
    "25 two lengths": (framed(LENGTH, b"Content-Length: 5"), "malformed_response"),
    "26 length and chunks": (
        framed(LENGTH, b"Transfer-Encoding: chunked", body=b"5\r\n<p>hi\r\n0\r\n\r\n"),
        "malformed_response",
    ),
    "20 NUL in a header": (framed(b"X:\x00y", LENGTH), "malformed_response"),
    "20 no ASCII in a name": (framed(b"X\xffY: z", LENGTH), "malformed_response"),
}


@pytest.mark.parametrize(("script", "verdict"), BROKEN.values(), ids=BROKEN)
async def test_a_site_that_breaks_off_or_breaks_the_rules_gives_a_typed_end(play, script, verdict):
    assert (await play(script)).verdict == verdict


@pytest.mark.parametrize(
    ("robots", "verdict"),
    [
        pytest.param(
            CHUNKED + b"1\r\n#\r\n" * 5_000 + b"0\r\n\r\n",
            None,
            id="16 chunks of one byte as robots.txt",
        ),
        pytest.param(flood_of_continues, "robots_disallowed", id="17 flood as robots.txt"),
    ],
)
async def test_a_robots_txt_that_floods_ends_too(client_of, watch, robots, verdict):
    async with client_of({"/robots.txt": robots, "/page": framed(LENGTH)}) as client:
        ending = await watch(client.fetch("http://fault.example.org/page"))
    assert getattr(ending, "code", None) == verdict


async def test_chunks_of_one_byte_cost_no_more_than_their_overhead(play):
    """Fault 16: aiohttp keeps an object of some 90 bytes for each chunk that is not read yet."""
    assert (await play(tiny_chunks, memory=24_000_000)).verdict == "truncated"


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        pytest.param(b"", "timeout", id="14 silent after the request"),
        pytest.param(OK + HTML, "timeout", id="14 silent in the headers"),
        pytest.param(
            OK + HTML + b"Content-Length: 99\r\n\r\n", "timeout", id="14 silent after headers"
        ),
        pytest.param(drip_headers, "timeout", id="12 headers drop by drop"),
        pytest.param(drip_body, "truncated", id="13 body drop by drop"),
        pytest.param(stall_in_body, "truncated", id="13 body that stops"),
    ],
)
async def test_a_site_that_takes_its_time_is_left_at_the_deadline(play, script, verdict):
    # A tenth of the time, at most a second, is left for the text of what arrived.
    deadline = 12 if verdict == "truncated" else 4
    assert (await play(script, deadline=deadline)).verdict == verdict


async def test_what_follows_the_body_is_no_part_of_the_page(play):
    """Fault 24: a body longer than its Content-Length, as smuggled answers are."""
    smuggled = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<p>Evil!!"
    ending = await play(framed(LENGTH, body=TEXT + smuggled))
    assert ending.page is not None
    assert "Evil" not in ending.page.markdown_content
    assert "words of a page" in ending.page.markdown_content
