"""A body is the same however it is cut into chunks, and never larger than its limit."""

import zlib
from collections.abc import Iterable, Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.errors import ContentError
from searx_mcp.http.body import WIRE_ALLOWANCE, Body, BodyBuffer


def compressed(data: bytes, wbits: int, level: int = 6) -> bytes:
    stream = zlib.compressobj(level, wbits=wbits)
    return stream.compress(data) + stream.flush()


FORMATS = {
    "": lambda data: data,
    "identity": lambda data: data,
    "gzip": lambda data: compressed(data, zlib.MAX_WBITS | 16),
    "x-gzip": lambda data: compressed(data, zlib.MAX_WBITS | 16, level=0),
    "GZIP": lambda data: b"".join(
        compressed(data[at : at + 50], zlib.MAX_WBITS | 16) for at in range(0, len(data) + 1, 50)
    ),
    "deflate": lambda data: compressed(data, zlib.MAX_WBITS),
    "Deflate": lambda data: compressed(data, -zlib.MAX_WBITS),
}
"""Encoders by the header's value: members of 50 bytes for one spelling, raw data for another."""

DATA = st.binary(max_size=300) | st.builds(
    lambda piece, times: piece * times, st.binary(min_size=1, max_size=4), st.integers(0, 5_000)
)
CUTS = st.lists(st.integers(0, 400), max_size=8)


def chunks(wire: bytes, cuts: Iterable[int]) -> list[bytes]:
    """Cut in pieces, empty ones among them."""
    edges = [0, *sorted(min(cut, len(wire)) for cut in cuts), len(wire)]
    return [wire[start:end] for start, end in pairwise(edges)]


def read(encodings: Sequence[str], pieces: Iterable[bytes], max_bytes: int) -> Body:
    buffer = BodyBuffer(encodings, max_bytes=max_bytes)
    for piece in pieces:
        list(buffer.feed(piece))
    return buffer.finish()


@given(st.sampled_from(sorted(FORMATS)), DATA, CUTS, st.integers(0, 6_000))
def test_a_body_is_whole_or_cut_at_its_limit(encoding, data, cuts, max_bytes):
    wire = FORMATS[encoding](data)
    body = read([encoding], chunks(wire, cuts), max_bytes)
    assert (body.data, body.truncated) == (data[:max_bytes], len(data) > max_bytes)
    assert body.truncated == bool(body.notes)


@given(st.sampled_from(["gzip", "deflate", "Deflate"]), DATA, CUTS, st.integers(1, 20))
def test_a_body_that_ends_early_is_the_beginning_and_marked(encoding, data, cuts, missing):
    wire = FORMATS[encoding](data)[:-missing]
    body = read([encoding], chunks(wire, cuts), len(data))
    assert data.startswith(body.data)
    assert body.truncated or not wire


@given(
    st.sampled_from(sorted(FORMATS)), st.binary(max_size=200), st.binary(max_size=200), CUTS,
    st.integers(0, 500),
)  # fmt: skip
def test_rubbish_behind_good_data_is_bounded_however_it_is_cut(
    encoding, data, rubbish, cuts, max_bytes
):
    wire = FORMATS[encoding](data) + rubbish
    body = read([encoding], chunks(wire, cuts), max_bytes)
    assert body.data[: len(data)] == data[:max_bytes]
    assert len(body.data) <= max_bytes
    at_once = read([encoding], [wire], max_bytes)
    assert (body.data, body.truncated) == (at_once.data, at_once.truncated)


@given(st.lists(st.sampled_from([*FORMATS, "br", "zstd", ","]) | st.text(max_size=10)), DATA)
def test_any_header_is_decoded_or_refused(values, wire):
    try:
        body = read(values, [wire], 100)
    except ContentError:
        return
    assert len(body.data) <= 100
    assert body.wire_bytes <= len(wire)


@given(
    st.sampled_from(sorted(FORMATS)),
    st.binary(max_size=50),
    st.binary(min_size=1, max_size=50),
    st.integers(0, 2_000),
)
def test_a_body_without_end_is_closed(encoding, good, pattern, max_bytes):
    buffer = BodyBuffer([encoding], max_bytes=max_bytes)
    list(buffer.feed(FORMATS[encoding](good)))
    piece = pattern * 1_000
    for _ in range((max_bytes + WIRE_ALLOWANCE) // len(piece) + 1):
        list(buffer.feed(piece))
    assert buffer.is_closed
    assert len(buffer.finish().data) <= max_bytes
