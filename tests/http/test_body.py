import gzip
import tracemalloc
import zlib

import pytest

from searx_mcp.errors import ContentError, ErrorCode
from searx_mcp.http.body import (
    MAX_MEMBERS,
    NOTE_CORRUPT,
    NOTE_ENDED_EARLY,
    NOTE_MEMBERS,
    NOTE_SIZE,
    PIECE,
    WIRE_ALLOWANCE,
    Body,
    BodyBuffer,
)

MEBIBYTE = 1 << 20
TEXT = b"Plain words. " * 1_000


def raw_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return stream.compress(data) + stream.flush()


def bomb(wbits: int, mebibytes: int = 16) -> bytes:
    stream = zlib.compressobj(9, wbits=wbits)
    zeros = bytes(MEBIBYTE)
    return b"".join([*(stream.compress(zeros) for _ in range(mebibytes)), stream.flush()])


def read(encoding: str, *chunks: bytes, max_bytes: int = MEBIBYTE) -> Body:
    buffer = BodyBuffer([encoding] if encoding else [], max_bytes=max_bytes)
    for chunk in chunks:
        list(buffer.feed(chunk))
    return buffer.finish()


ENCODED = [
    pytest.param("", TEXT, id="none"),
    pytest.param("identity", TEXT, id="identity"),
    pytest.param("gzip", gzip.compress(TEXT), id="gzip"),
    pytest.param("X-GZIP", gzip.compress(TEXT), id="x-gzip"),
    pytest.param("identity, gzip", gzip.compress(TEXT), id="identity and gzip"),
    pytest.param("gzip", gzip.compress(TEXT[:99]) + gzip.compress(TEXT[99:]), id="two members"),
    pytest.param("gzip", gzip.compress(TEXT) + b"\0\0 padding \x1f", id="gzip and padding"),
    pytest.param("deflate", zlib.compress(TEXT), id="deflate"),
    pytest.param("deflate", raw_deflate(TEXT), id="raw deflate"),
    pytest.param("deflate", zlib.compress(TEXT) + b"padding", id="deflate and padding"),
]


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
@pytest.mark.parametrize(("encoding", "wire"), ENCODED)
def test_a_body_is_decoded_whatever_its_chunks(encoding, wire, step):
    chunks = [wire[start : start + step] for start in range(0, len(wire), step)]
    assert read(encoding, *chunks) == Body(TEXT, wire_bytes=len(wire))


@pytest.mark.parametrize("encoding", ["", "gzip", "deflate"])
def test_an_empty_body_is_complete(encoding):
    assert read(encoding) == Body(b"")


@pytest.mark.parametrize(
    "values",
    [["gzip, gzip"], ["gzip", "gzip"], ["deflate, gzip"], ["br"], ["zstd"], ["gzip;q=1"], ["?"]],
    ids=str,
)
def test_stacked_and_unknown_encodings_are_refused(values):
    with pytest.raises(ContentError) as caught:
        BodyBuffer(values, max_bytes=MEBIBYTE)
    assert caught.value.code == ErrorCode.UNSUPPORTED_ENCODING


@pytest.mark.parametrize(("encoding", "wire"), ENCODED)
def test_a_body_that_just_fits_is_whole_and_one_byte_less_is_not(encoding, wire):
    assert read(encoding, wire, max_bytes=len(TEXT)) == Body(TEXT, wire_bytes=len(wire))
    cut = read(encoding, wire, max_bytes=len(TEXT) - 1)
    assert cut == Body(TEXT[:-1], truncated=True, wire_bytes=len(wire), notes=(NOTE_SIZE,))


@pytest.mark.parametrize(
    ("encoding", "wbits"),
    [("gzip", zlib.MAX_WBITS | 16), ("deflate", zlib.MAX_WBITS), ("deflate", -zlib.MAX_WBITS)],
    ids=["gzip", "deflate", "raw deflate"],
)
def test_a_bomb_takes_no_more_memory_than_the_limit_allows(encoding, wbits):
    wire = bomb(wbits)
    tracemalloc.start()
    try:
        body = read(encoding, wire)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (body.data, body.notes) == (bytes(MEBIBYTE), (NOTE_SIZE,))
    assert peak < 6 * MEBIBYTE


@pytest.mark.parametrize("content", [b"", b"x"], ids=["empty", "one byte"])
def test_ten_thousand_gzip_members_are_cut(content):
    body = read("gzip", gzip.compress(content) * 10_000)
    assert (body.data, body.notes) == (content * MAX_MEMBERS, (NOTE_MEMBERS,))


def test_data_that_expand_to_nothing_end_at_the_wire_limit():
    empty_block = b"\x00\x00\x00\xff\xff"  # RFC 1951 3.2.4: stored, length 0, not the last
    buffer = BodyBuffer(["deflate"], max_bytes=1_000)
    for _ in range(100):
        list(buffer.feed(empty_block * 1_000))
    assert buffer.is_closed
    body = buffer.finish()
    assert (body.data, body.notes) == (b"", (NOTE_SIZE,))
    assert body.wire_bytes <= 1_000 + WIRE_ALLOWANCE + 5_000


@pytest.mark.parametrize(
    ("encoding", "wire"),
    [
        ("gzip", gzip.compress(TEXT)[:-8]),
        ("gzip", gzip.compress(TEXT)[:-1]),
        ("gzip", gzip.compress(TEXT) + gzip.compress(TEXT)[:5]),
        ("deflate", zlib.compress(TEXT)[:-4]),
        ("deflate", raw_deflate(TEXT)[:-1]),
    ],
    ids=["no trailer", "short trailer", "second member cut", "no checksum", "raw deflate"],
)
def test_a_cut_compressed_body_keeps_its_data_and_a_note(encoding, wire):
    body = read(encoding, wire)
    assert TEXT.startswith(body.data)
    assert len(body.data) > len(TEXT) - 300
    assert body.truncated
    assert body.notes == (NOTE_ENDED_EARLY,)


@pytest.mark.parametrize(
    ("encoding", "wire", "note"),
    [
        pytest.param("deflate", b"?", NOTE_ENDED_EARLY, id="one byte of deflate"),
        pytest.param("deflate", b"\x78", NOTE_ENDED_EARLY, id="the start of a header"),
        pytest.param("gzip", b"<html>no gzip</html>", NOTE_CORRUPT, id="not compressed at all"),
    ],
)
def test_data_that_cannot_be_decoded_give_nothing(encoding, wire, note):
    body = read(encoding, wire)
    assert (body.data, body.notes) == (b"", (note,))


def test_corrupt_data_keep_what_came_before():
    good = gzip.compress(TEXT)
    body = read("gzip", good, b"\x1f\x8bbroken header")
    assert body == Body(TEXT, truncated=True, wire_bytes=len(good) + 15, notes=(NOTE_CORRUPT,))


@pytest.mark.parametrize("wbits", [31, 15, -15], ids=["gzip", "zlib", "raw"])
def test_a_chunk_is_decoded_piece_by_piece_and_whole(wbits):
    content = b"".join(bytes([number % 251]) * 4_099 for number in range(2_000))
    stream = zlib.compressobj(9, wbits=wbits)
    wire = stream.compress(content) + stream.flush()
    buffer = BodyBuffer(["gzip" if wbits > 16 else "deflate"], max_bytes=len(content))
    pauses = sum(1 for _ in buffer.feed(wire))
    assert pauses == len(content) // PIECE
    assert buffer.finish() == Body(content, wire_bytes=len(wire))


@pytest.mark.parametrize("beyond", [-1, 0, 1])
def test_what_zlib_holds_behind_a_piece_is_not_lost(beyond):
    content = bytes(2 * PIECE + beyond)
    assert read("gzip", gzip.compress(content), max_bytes=len(content)) == Body(
        content, wire_bytes=len(gzip.compress(content))
    )


@pytest.mark.parametrize(
    ("chunks", "end", "body"),
    [
        pytest.param(
            [b"four", b"more"],
            "",
            Body(b"fou", truncated=True, wire_bytes=4, notes=(NOTE_SIZE,)),
            id="nothing is added after it",
        ),
        pytest.param(
            [b"pa"],
            "the line went dead",
            Body(b"pa", truncated=True, wire_bytes=2, notes=("the line went dead",)),
            id="the reason given is the note",
        ),
    ],
)
def test_a_body_has_one_end(chunks, end, body):
    buffer = BodyBuffer([], max_bytes=3)
    for chunk in chunks:
        list(buffer.feed(chunk))
    assert buffer.is_closed is (not end)
    assert buffer.finish(end) == body
