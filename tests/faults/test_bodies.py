"""Bodies that are not what they say: faults 28 to 33 and 41 to 43 of the list in `test_table.py`."""

import gzip
import zlib

import pytest

from tests.doubles.raw import response

TEXT = b"<title>Words</title>" + b"".join(
    b"<p>Paragraph %d of a page that is long enough to be cut in its middle.</p>" % number
    for number in range(400)
)
BOMB = 200_000_000
BLOCK = b"Not worth reading. " * 50_000


def deflated(size: int, bits: int) -> bytes:
    """Give the beginning of a compressed stream of that many bytes; its end is never read."""
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    first, other = (packer.compress(BLOCK) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + other * (size // len(BLOCK))


GZIP_BOMB = deflated(BOMB, 31)
EMPTY_MEMBER = gzip.compress(b"")


def encoded(body: bytes, encoding: str, **headers: str) -> bytes:
    return response(body, headers={"Content-Encoding": encoding, **headers})


def corrupt(body: bytes) -> bytes:
    packed = bytearray(gzip.compress(body, 1))
    middle = len(packed) // 2
    packed[middle : middle + 16] = b"\xff" * 16
    return bytes(packed)


ENCODED = {
    "28 gzip that is none": (encoded(b"no gzip at all", "gzip"), "malformed_response"),
    "28 gzip with a bad head": (
        encoded(b"\x1f\x8b\x08" + b"\xff" * 40, "gzip"),
        "malformed_response",
    ),
    "28 gzip that goes bad": (encoded(corrupt(TEXT), "gzip"), "truncated"),
    "29 cut gzip": (encoded(gzip.compress(TEXT)[:-900], "gzip"), "truncated"),
    "29 cut deflate": (encoded(zlib.compress(TEXT)[:-900], "deflate"), "truncated"),
    "30 gzip bomb": (encoded(GZIP_BOMB, "gzip"), "truncated"),
    "30 zlib bomb": (encoded(deflated(BOMB, 15), "deflate"), "truncated"),
    "30 deflate bomb": (encoded(deflated(BOMB, -15), "deflate"), "truncated"),
    "30 br bomb": (encoded(b"\x5b" * 300, "br"), "unsupported_encoding"),
    "30 zstd bomb": (encoded(b"\x28\xb5\x2f\xfd" + b"\x00" * 300, "zstd"), "unsupported_encoding"),
    "31 stacked bomb": (encoded(gzip.compress(GZIP_BOMB), "gzip, gzip"), "unsupported_encoding"),
    "31 stacked encodings": (encoded(TEXT, "gzip, deflate, gzip"), "unsupported_encoding"),
    "32 unknown encoding": (encoded(TEXT, "rot13"), "unsupported_encoding"),
    "32 the encoding that is none": (encoded(TEXT, "identity"), "page"),
    "33 ten thousand members": (
        encoded(gzip.compress(TEXT) + EMPTY_MEMBER * 10_000, "gzip"),
        "truncated",
    ),
    "33 ten thousand members of nothing": (
        encoded(EMPTY_MEMBER * 10_000, "gzip"),
        "malformed_response",
    ),
}


@pytest.mark.parametrize(("script", "verdict"), ENCODED.values(), ids=ENCODED)
async def test_a_body_is_decoded_as_far_as_it_goes_and_no_further(play, script, verdict):
    assert (await play(script)).verdict == verdict


def typed(body: bytes | str, content_type: str) -> bytes:
    return response(body, content_type=content_type)


PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        pytest.param(typed(PNG, "text/html"), "unsupported_content_type", id="41 image as HTML"),
        pytest.param(typed(PNG, "text/plain"), "unsupported_content_type", id="41 image as text"),
        pytest.param(typed(TEXT, "image/png"), "unsupported_content_type", id="41 HTML as image"),
        pytest.param(typed(TEXT, "application/octet-stream"), "page", id="41 HTML as bytes"),
        pytest.param(typed(TEXT, ""), "page", id="41 HTML as nothing"),
        pytest.param(
            typed(TEXT, "text/html; charset=" + "x" * 4000), "page", id="41 endless parameter"
        ),
        pytest.param(typed(TEXT, ";;;,,,"), "page", id="41 type of punctuation"),
        pytest.param(typed(b"{" * 3000, "application/json"), "page", id="41 JSON that is none"),
    ],
)
async def test_a_type_that_is_a_lie_is_found_out(play, script, verdict):
    assert (await play(script)).verdict == verdict


CHARSETS = {
    "42 Latin-1 as UTF-8": ("<p>Grüße aus Köln und Düsseldorf".encode("latin-1"), "utf-8", "aus"),
    "42 UTF-8 as ASCII": ("<p>Grüße aus Köln".encode(), "us-ascii", "aus"),
    "42 UTF-16 as UTF-8": ("<p>Grüße aus Köln".encode("utf-16"), "utf-8", "Köln"),
    "42 UTF-16 without a mark": ("<p>Grüße aus Köln".encode("utf-16-le"), "utf-16le", "Köln"),
    "42 UTF-7": (b"<p>Plain words, +ADw-script+AD4-alert(1)+ADw-/script+AD4-", "utf-7", "words"),
    "42 unknown charset": (b"<p>Some words of a page", "no-such-charset", "words"),
    "42 codec that is no charset": (b"<p>Some words of a page", "base64", "words"),
    "42 NULs": (b"<p>Some words \x00\x00 of a page", "utf-8", "words"),
    "42 half a character": (b"<p>Some \xed\xa0\xbd words of a page", "utf-8", "words"),
    "42 codec of names": (b"<p>Some words \xff\xfe of a page", "idna", "words"),
}


@pytest.mark.parametrize(("body", "charset", "found"), CHARSETS.values(), ids=CHARSETS)
async def test_a_charset_that_is_a_lie_costs_some_characters_at_most(play, body, charset, found):
    ending = await play(typed(body, f"text/html; charset={charset}"))
    assert ending.page is not None
    text = ending.page.markdown_content
    assert found in text
    assert "<script" not in text
    assert "\x00" not in text
    text.encode()  # no half characters


NESTED = 12_000


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<div>" * 300 + b"<p>Deep down.", id="43 nested within reason"),
        pytest.param(b"<div>" * NESTED + b"<p>Deep down.", id="43 nested divisions"),
        pytest.param(b"<b><i>" * (NESTED // 2) + b"Deep down.", id="43 nested marks"),
        pytest.param(b"<ul><li>" * (NESTED // 2) + b"Deep down.", id="43 nested lists"),
        pytest.param(b"<table><tr><td>" * (NESTED // 3) + b"Deep down.", id="43 nested tables"),
        pytest.param(b"<blockquote>" * 4_000 + b"Deep down.", id="43 nested quotations"),
        pytest.param(b"<a href=x>" * 6_000 + b"Deep down.", id="43 links never closed"),
        pytest.param(b"<p " + b"a=b " * 12_000 + b">Deep down.", id="43 endless attributes"),
        pytest.param(b"<!--" * 12_000 + b"-->Deep down.", id="43 nested comments"),
        pytest.param(b"&amp" * 12_000 + b" Deep down.", id="43 endless references"),
    ],
)
async def test_html_that_is_made_to_hurt_is_read_or_refused_within_the_time(play, body):
    ending = await play(typed(body, "text/html"), memory=64_000_000)
    assert ending.verdict in {"page", "truncated", "extraction_failed"}
