"""PDFs made for a test: real text in a real font, an outline, metadata; nothing else."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_LEFT: Final = 72.0
_TOP: Final = 720.0
_SIZE: Final = 11.0
_LEADING: Final = 13.0


@dataclass(frozen=True, slots=True)
class PdfText:
    """One line where it stands.

    Attributes:
        text: characters of Latin-1.
        x: points from the left.
        y: points from below.
        size: of its type, in points.
    """

    text: str
    x: float = _LEFT
    y: float = _TOP
    size: float = _SIZE


@dataclass(frozen=True, slots=True)
class PdfBookmark:
    """An entry of the outline.

    Attributes:
        title: any text.
        page: from 1.
        level: from 1; an entry lies in the last one before it of a lower level.
        top: points from below, or `None` for the whole page.
    """

    title: str
    page: int
    level: int = 1
    top: float | None = None


def make_pdf(
    *pages: str | Sequence[PdfText],
    bookmarks: Sequence[PdfBookmark] = (),
    info: Mapping[str, str] | None = None,
    is_encrypted: bool = False,
    page_count: int | None = None,
    catalog: str = "",
    font: str = "",
    extra: Sequence[bytes] = (),
) -> bytes:
    """Make a PDF of letter-sized pages in Helvetica.

    Args:
        pages: lines from the top of the page, an empty one for a gap; or lines where they stand.
        bookmarks: the outline.
        info: the document's information, such as `Title` or `CreationDate`.
        is_encrypted: say that it is encrypted with a password nobody knows.
        page_count: what it says of the number of its pages, if not the truth.
        catalog: further entries of the catalog; the first object of `extra` is `10 0 R`.
        font: further entries of the font.
        extra: further objects, without their numbers.
    """
    file = _File(first=10)
    for obj in extra:
        file.add(obj)
    kids = []
    for page in pages:
        content = zlib.compress(_content(page))
        stream = file.add(
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(content)
            + content
            + b"\nendstream"
        )
        kids.append(
            file.add(
                b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R"
                b" /Resources << /Font << /F1 3 0 R >> >> >>" % stream
            )
        )
    outline = _outline(file, bookmarks, kids) if bookmarks else 0
    outlines = f"/Outlines {outline} 0 R" if outline else ""
    file.put(1, f"<< /Type /Catalog /Pages 2 0 R {outlines} {catalog} >>".encode("latin-1"))
    listed = " ".join(f"{kid} 0 R" for kid in kids)
    count = len(kids) if page_count is None else page_count
    file.put(2, f"<< /Type /Pages /Kids [{listed}] /Count {count} >>".encode())
    file.put(
        3,
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica {font or _ENCODING} >>".encode(),
    )
    entries = b" ".join(b"/%s %s" % (k.encode(), _string(v)) for k, v in (info or {}).items())
    file.put(4, b"<< %s >>" % entries)
    if is_encrypted:
        secret = b"<" + b"5a" * 32 + b">"
        file.put(
            5,
            b"<< /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O %s /U %s >>" % (secret, secret),
        )
    return file.finish(b"/Encrypt 5 0 R /ID [<01><01>]" if is_encrypted else b"")


_ENCODING: Final = "/Encoding /WinAnsiEncoding"


class _File:
    """Objects by number."""

    def __init__(self, first: int) -> None:
        self._objects: dict[int, bytes] = {}
        self._next = first

    def add(self, obj: bytes) -> int:
        number = self._next
        self._next += 1
        self.put(number, obj)
        return number

    def put(self, number: int, obj: bytes) -> None:
        self._objects[number] = obj

    def finish(self, trailer: bytes) -> bytes:
        """The file: objects, the table of their places, the trailer."""
        out = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
        places: dict[int, int] = {}
        for number, obj in sorted(self._objects.items()):
            places[number] = len(out)
            out += b"%d 0 obj\n%s\nendobj\n" % (number, obj)
        start = len(out)
        out += b"xref\n0 %d\n" % self._next
        for number in range(self._next):
            place = places.get(number)
            out += b"0000000000 65535 f \n" if place is None else b"%010d 00000 n \n" % place
        out += b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R %s >>\n" % (self._next, trailer)
        out += b"startxref\n%d\n%%%%EOF\n" % start
        return bytes(out)


def _content(page: str | Sequence[PdfText]) -> bytes:
    if isinstance(page, str):
        page = [
            PdfText(line, y=_TOP - number * _LEADING)
            for number, line in enumerate(page.split("\n"))
            if line
        ]
    return b"\n".join(
        b"BT /F1 %g Tf %g %g Td %s Tj ET" % (line.size, line.x, line.y, _literal(line.text))
        for line in page
    )


def _literal(text: str) -> bytes:
    escaped = text.encode("latin-1").replace(b"\\", b"\\\\")
    return b"(" + escaped.replace(b"(", b"\\(").replace(b")", b"\\)") + b")"


def _string(text: str) -> bytes:
    """A text string: UTF-16 with a byte order mark, in hexadecimal digits."""
    return b"<" + (b"\xfe\xff" + text.encode("utf-16-be", "surrogatepass")).hex().encode() + b">"


def _outline(file: _File, bookmarks: Sequence[PdfBookmark], pages: Sequence[int]) -> int:
    """Write the tree of bookmarks; give the number of its root."""
    root = file.add(b"")
    numbers = [file.add(b"") for _ in bookmarks]
    parents: list[int] = []
    children: dict[int, list[int]] = {}
    open_ones: list[tuple[int, int]] = [(0, root)]
    for number, bookmark in zip(numbers, bookmarks, strict=True):
        while open_ones[-1][0] >= bookmark.level:
            open_ones.pop()
        parents.append(open_ones[-1][1])
        children.setdefault(open_ones[-1][1], []).append(number)
        open_ones.append((bookmark.level, number))
    for number, parent, bookmark in zip(numbers, parents, bookmarks, strict=True):
        place = "/Fit" if bookmark.top is None else f"/XYZ 0 {bookmark.top:g} 0"
        page = pages[bookmark.page - 1] if bookmark.page <= len(pages) else 0
        entry = b"<< /Title %s /Parent %d 0 R /Dest [%d 0 R %s]" % (
            _string(bookmark.title),
            parent,
            page,
            place.encode(),
        )
        siblings = children[parent]
        index = siblings.index(number)
        if index:
            entry += b" /Prev %d 0 R" % siblings[index - 1]
        if index + 1 < len(siblings):
            entry += b" /Next %d 0 R" % siblings[index + 1]
        file.put(number, entry + _ends(children.get(number, [])) + b" >>")
    file.put(root, b"<< /Type /Outlines" + _ends(children[root]) + b" >>")
    return root


def _ends(children: Sequence[int]) -> bytes:
    if not children:
        return b""
    return b" /First %d 0 R /Last %d 0 R /Count %d" % (children[0], children[-1], len(children))
