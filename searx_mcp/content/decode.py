"""Bytes to text: which encoding a page is in.

The order is the WHATWG one (Encoding Standard §4.2, HTML §13.2.3): byte order mark, transport header, `<meta>` in the
first 1,024 bytes. A page without a declaration is strict UTF-8, or UTF-16 by its NULs, or the encoding that its letters
suggest, or windows-1252. A wrong header is obeyed, as browsers do: its author saw the page that way. UTF-32, which
browsers do not support, is tried when nothing else fits.
"""

import codecs
import re
import unicodedata
from typing import Final

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins like UTF-16-LE below
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_PRESCAN_BYTES = 1_024
"""HTML §13.2.3.2: user agents search this many bytes for `<meta>`."""

_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta[\s/][^>]*", re.IGNORECASE)
_META_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([^\s\"'/>;]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\A\s*<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']+)", re.IGNORECASE)

CONTROLS: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""Bytes that never occur in text of any encoding except UTF-16 and UTF-32 (MIME Sniffing, section 3)."""
_NO_TEXT: Final = frozenset({"Cc", "Cn", "Co", "Cs"})
"""Unicode categories: controls, unassigned, private use, surrogates."""
_SPACES: Final = frozenset("\t\n\f\r\x1b\x85")
_WIDE: Final = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_LEAST_TEXT: Final = 8
"""Characters; a shorter text is valid in either byte order."""
_PAUSES: Final = frozenset(" \n\u3000\u3001\u3002\uff0c")
"""Characters of which text in any script has some; ASCII read two bytes at a time has none."""
_LEAST_BYTES: Final = 4

_NUL_SHARE: Final = 0.3
_STRAY_SHARE: Final = 0.1

_SAMPLE_BYTES: Final = 32_768
_BEFORE: Final = 512
"""Bytes of a sample before the first letter that is not ASCII."""

_SAFE_BYTE = re.compile(rb"[\n <]")
"""Never part of a multi-byte character, in any encoding that is guessed."""

_NOT_ASCII: Final = bytes(range(0x80, 0x100))
_LEAST_LETTERS: Final = 16
"""Bytes beyond ASCII; fewer fit every encoding."""

_FALLBACK: Final = "cp1252"
_GUESSABLE: Final = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp866", "cp874", "koi8_r", "iso8859_2", "iso8859_5", "iso8859_7", "cp932", "euc_jp", "gb18030",
    "big5hkscs", "cp949",
]  # fmt: skip
"""Encodings that browsers support and pages use. Without a list, 32 kB take eight times as long, and Polish becomes
Nordic; with windows-1257 in it, Turkish becomes Baltic."""

_CODECS = {
    "utf-8": "utf-8",
    "utf-8-sig": "utf-8",
    "utf-16": "utf-16-le",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "gb18030": "gb18030",
    "big5": "big5hkscs",
    "big5hkscs": "big5hkscs",
    "shift_jis": "cp932",
    "cp932": "cp932",
    "euc_jp": "euc_jp",
    "iso2022_jp": "iso2022_jp",
    "euc_kr": "cp949",
    "cp949": "cp949",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    "mac-roman": "mac-roman",
    "mac-cyrillic": "mac-cyrillic",
    "cp866": "cp866",
    "cp874": "cp874",
    **{f"cp{page}": f"cp{page}" for page in range(1250, 1259)},
    **{f"iso8859-{part}": f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
}
"""Python's name of a codec to the codec that a browser uses under that label, often its superset (Encoding Standard
§4.2). Others are refused: UTF-7 and EBCDIC write markup in other bytes than ASCII's, and not every registered codec
decodes bytes to text (base64, unicode_escape, idna)."""

_LABELS = {
    "x-sjis": "cp932",
    "x-gbk": "gb18030",
    "x-cp1250": "cp1250",
    "x-cp1251": "cp1251",
    "x-cp1252": "cp1252",
    "windows-874": "cp874",
    "dos-874": "cp874",
    "windows-949": "cp949",
    "x-euc-jp": "euc_jp",
    "x-mac-roman": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "unicode-1-1-utf-8": "utf-8",
    "iso-8859-8-i": "iso8859-8",
}
"""Labels of the Encoding Standard that Python lacks."""


def decode(body: bytes, *, charset: str | None) -> tuple[str, str]:
    """Decode a body as a browser would.

    Never fails: bytes that do not fit become U+FFFD. A byte order mark is not part of the text.

    Args:
        body: the decompressed body.
        charset: the label from the `Content-Type` header, unchecked, or `None`.

    Returns:
        The text, and Python's name of the encoding used.
    """
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(encoding, "replace"), encoding
    declared = codec_of(charset or "") or _declared(body[:_PRESCAN_BYTES]) or _wide(body)
    if declared is not None:
        return body.decode(declared, "replace"), declared
    try:
        return body.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        # A body that is cut inside a character is still UTF-8.
        if error.reason == "unexpected end of data":
            return body.decode("utf-8", "replace"), "utf-8"
        guessed = _guessed(body, error.start)
    return body.decode(guessed, "replace"), guessed


def wide_encoding(body: bytes, charset: str | None) -> str | None:
    """UTF-16 or UTF-32, if the first bytes or the declared charset of a body show it."""
    encoding = next((name for bom, name in _BOMS if body.startswith(bom)), None)
    encoding = encoding or codec_of(charset or "") or _wide(body)
    return encoding if encoding in _WIDE else None


def stray_characters(text: str) -> int:
    """Count the characters that do not belong in any text."""
    return sum(
        character == "\ufffd"
        or (unicodedata.category(character) in _NO_TEXT and character not in _SPACES)
        for character in text
    )


def codec_of(label: str) -> str | None:
    """Python's codec for a charset label.

    Args:
        label: as a server or a page wrote it.

    Returns:
        A codec that turns bytes into text, or `None` if the label is unknown or refused.
    """
    label = label.strip(" \t\n\f\r\"'").lower()
    if label in _LABELS:
        return _LABELS[label]
    try:
        return _CODECS.get(codecs.lookup(label).name)
    except (LookupError, ValueError):
        # ValueError: a NUL in the label.
        return None


def _declared(head: bytes) -> str | None:
    """Return the encoding that the first bytes declare, or `None`."""
    if xml := _XML_ENCODING.match(head):
        return _ascii_compatible(xml[1])
    for meta in _META.finditer(_COMMENT.sub(b"", head)):
        if found := _META_CHARSET.search(meta[0]):
            return _ascii_compatible(found[1])
    return None


def _ascii_compatible(label: bytes) -> str | None:
    """HTML §13.2.3.2: bytes that read as ASCII cannot be UTF-16, whatever they declare."""
    codec = codec_of(label.decode("latin-1"))
    return "utf-8" if codec in {"utf-16-le", "utf-16-be"} else codec


def _wide(body: bytes) -> str | None:
    """Detect UTF-16 or UTF-32 without a byte order mark.

    Markup is ASCII, so in UTF-16 every other byte of it is NUL, while UTF-8 text has none. Other text has bytes that
    no other encoding uses, and has only valid characters if they are read in the right order.
    """
    head = body[:_PRESCAN_BYTES]
    if len(head) < _LEAST_BYTES:
        return None
    high, low = head[::2].count(0), head[1::2].count(0)
    most = len(head) * _NUL_SHARE
    if low > most and high <= low * _STRAY_SHARE:
        return "utf-16-le"
    if high > most and low <= high * _STRAY_SHARE:
        return "utf-16-be"
    if CONTROLS.search(head) is None:
        return None
    return next((encoding for encoding in _WIDE if _is_text(head, encoding)), None)


def _is_text(head: bytes, encoding: str) -> bool:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return len(text) >= _LEAST_TEXT and not _PAUSES.isdisjoint(text) and stray_characters(text) == 0


def _guessed(body: bytes, first: int) -> str:
    """The encoding that the letters of a page suggest.

    Args:
        body: bytes that are not UTF-8.
        first: position of the first such byte; markup and scripts before it are no evidence.
    """
    sample = _sample(body, max(0, first - _BEFORE))
    if len(sample) - len(sample.translate(None, _NOT_ASCII)) < _LEAST_LETTERS:
        return _FALLBACK
    from charset_normalizer import from_bytes  # noqa: PLC0415 - takes longer than most pages, and few need it

    found = from_bytes(sample, cp_isolation=_GUESSABLE)
    best = found.best()
    if best is None:
        return _FALLBACK
    # Western European text is the same in several encodings; browsers mean this one.
    equal = {
        match.encoding
        for match in found
        if match.chaos <= best.chaos and match.coherence >= best.coherence
    }
    return _FALLBACK if _FALLBACK in equal else codec_of(best.encoding) or _FALLBACK


def _sample(body: bytes, start: int) -> bytes:
    """A sample of a body that begins and ends between characters, whatever its encoding."""
    sample = body[start : start + _SAMPLE_BYTES]
    first = _SAFE_BYTE.search(sample) if start else None
    end = max(map(sample.rfind, (b"\n", b" ", b"<")))
    if end > len(sample) // 2:  # the body itself may also be cut inside a character
        sample = sample[:end]
    return sample[first.start() :] if first else sample
