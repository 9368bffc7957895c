"""Any bytes under any label become text, and encoded text is decoded unchanged."""

import codecs

from hypothesis import given
from hypothesis import strategies as st

from searx_mcp.content.decode import codec_of, decode

NAMES = [
    "utf-8", "UTF-16", "utf-16be", "utf-32", "utf-7", "ascii", "iso-8859-1", "iso-8859-2", "iso-8859-8-i",
    "windows-1251", "windows-1252", "windows-874", "koi8-r", "koi8-u", "macintosh", "x-mac-cyrillic",
    "gb2312", "gbk", "gb18030", "big5", "big5-hkscs", "shift_jis", "x-sjis", "euc-jp", "iso-2022-jp",
    "iso-2022-kr", "hz-gb-2312", "euc-kr", "cp949", "ibm866", "tis-620", "base64", "idna", "punycode", "hex",
    "unicode_escape", "raw_unicode_escape", "rot13", "zlib", "undefined", "utf_8_sig", "cp037", "replacement",
    "mbcs", "none", "\0", "\ud800", "'utf-8'", "utf-8;", "  UTF-8\n", "a" * 5_000, "../x", "e\u0301", "",
]  # fmt: skip
LABELS = st.none() | st.sampled_from(NAMES) | st.text(st.characters(exclude_categories=[]))
DECLARED = st.sampled_from(
    [b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"<meta charset=", b"<!-- <meta charset=x> -->",
     b'<?xml version="1.0" encoding="', b'<meta content="text/html; charset = \'', b"<meta charset"]
)  # fmt: skip
BODIES = st.builds(
    lambda declared, label, rest: declared + label.encode(errors="replace") + b"'>" + rest,
    DECLARED,
    st.sampled_from(NAMES),
    st.binary(max_size=80),
) | st.binary(max_size=80)


@given(BODIES, LABELS)
def test_any_bytes_under_any_label_are_text(body, label):
    text, codec = decode(body, charset=label)
    text.encode()
    assert codecs.lookup(codec)
    assert len(text) <= len(body)


@given(LABELS)
def test_a_label_names_a_codec_that_makes_text_of_bytes_or_none(label):
    codec = codec_of(label or "")
    if codec is not None:
        assert isinstance(bytes(range(128)).decode(codec, "replace"), str)
        assert "<script>".encode(codec).decode(codec) == "<script>"


@given(
    # Without controls: the escape character is part of one of the encodings.
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40),
    st.sampled_from([name for name in NAMES if codec_of(name)]),
)
def test_text_survives_the_encoding_it_is_labelled_with(text, label):
    codec = codec_of(label)
    assert codec
    kept = text.encode(codec, "ignore").decode(codec)
    # A byte order mark beats the label.
    if not kept.encode(codec).startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        assert decode(kept.encode(codec), charset=label) == (kept, codec)
