"""Hostile PDFs, read where they can do no harm."""

import random
import zlib

import pytest

from searx_mcp.errors import ContentError
from searx_mcp.workers.pool import CHILD
from tests.doubles.pdf import PdfBookmark, make_pdf

pytestmark = pytest.mark.slow

VALID = make_pdf(
    "The first page.\nIt has two lines.",
    "The second page.",
    bookmarks=[PdfBookmark("First", 1, top=720), PdfBookmark("Second", 2, level=2)],
    info={"Title": "Bees", "CreationDate": "D:20240131120000Z"},
)


def mutated(dice: random.Random) -> bytes:
    body = bytearray(VALID)
    for _ in range(dice.choice((1, 2, 8, 64))):
        place = dice.randrange(len(body))
        match dice.randrange(5):
            case 0:
                body[place] = dice.randrange(256)
            case 1:
                del body[place : place + dice.randrange(1, 40)]
            case 2:
                body[place:place] = body[: dice.randrange(1, 200)]
            case 3:
                body[place : place + 1] = str(dice.choice((0, -1, 2**31, 10**18))).encode()
            case _:
                body[place:place] = dice.choice((b"<<", b">>", b"[", b"]" * 50, b"(", b" 1 0 R"))
    return bytes(body)


@pytest.mark.parametrize("seed", range(2))
async def test_no_mutation_hangs_and_each_gives_text_or_a_proper_error(pool_of, run, seed):
    pool = pool_of(module=CHILD, job_timeout=10, memory="512MB")
    dice = random.Random(seed)
    texts = 0
    for _ in range(60):
        try:
            result = await run(pool, "pdf", mutated(dice))
        except ContentError:
            continue
        assert isinstance(result["markdown"], str)
        texts += 1
    assert texts


def stream(data: bytes, fields: bytes = b"/Filter /FlateDecode") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), fields, data)


def bomb(plain: bytes, times: int) -> bytes:
    """So many copies of a megabyte, as few bytes."""
    squeezer = zlib.compressobj(9)
    return b"".join(squeezer.compress(plain) for _ in range(times)) + squeezer.flush()


def changed(body: bytes, was: bytes, becomes: bytes) -> bytes:
    """A file of which one place is different."""
    assert body.count(was) == 1
    return body.replace(was, becomes)


def with_content(content: bytes, fields: bytes = b"/Filter /FlateDecode") -> bytes:
    """A page with this content."""
    body = make_pdf("x", extra=[stream(content, fields)])
    return changed(body, b"/Contents 11 ", b"/Contents 10 ")


def swollen() -> bytes:
    """A page whose content is 600 MB of spaces."""
    return with_content(bomb(b" " * (1 << 20), 600))


def packed_twice() -> bytes:
    """A page whose content is 600 MB of zeros, in two kilobytes."""
    once = bomb(b"\0" * (1 << 20), 600)
    return with_content(zlib.compress(once, 9), b"/Filter [/FlateDecode /FlateDecode]")


def forms_in_forms() -> bytes:
    """Each of twelve forms draws the next one twelve times."""
    forms = [
        stream(
            b"/X Do " * 12,
            b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]"
            b" /Resources << /XObject << /X %d 0 R >> >>" % (number + 1),
        )
        for number in range(10, 22)
    ]
    body = make_pdf("/X Do", extra=[*forms, stream(b"/X Do", b"")])
    body = changed(body, b"/Contents 23 ", b"/Contents 22 ")
    return changed(body, b"/Font <<", b"/XObject << /X 10 0 R >> /Font <<")


def talkative() -> bytes:
    """A page of twenty million characters on top of each other."""
    return with_content(bomb(b"BT /F1 9 Tf 72 700 Td (Bees fly.) Tj ET\n" * 26_214, 85))


def multiplied() -> bytes:
    """A tree of pages whose every branch is there twice, 30 times over."""
    tree = [
        b"<< /Type /Pages /Count %d /Kids [%d 0 R %d 0 R] >>" % (1 << (40 - n), n, n)
        for n in (*range(11, 39), 40)
    ]
    body = make_pdf("x", extra=tree)
    return changed(body, b"/Kids [40 0 R] /Count 1 ", b"/Kids [10 0 R] /Count 1073741824 ")


def circular() -> bytes:
    """A tree of pages that is its own branch."""
    return changed(make_pdf("x"), b"/Kids [11 0 R]", b"/Kids [ 2 0 R]")


def deep() -> bytes:
    """Arrays in arrays."""
    return make_pdf("x", catalog="/X " + "[" * 100_000 + "]" * 100_000)


@pytest.mark.parametrize(
    "make", [swollen, packed_twice, forms_in_forms, talkative, multiplied, circular, deep]
)
async def test_a_bomb_ends_in_text_or_a_proper_error(pool_of, run, make):
    body = make()
    assert len(body) < 2_000_000
    pool = pool_of(module=CHILD, job_timeout=5, memory="512MB")
    try:
        result = await run(pool, "pdf", body)
    except ContentError as error:
        assert error.message  # noqa: PT017 - either is right
    else:
        assert len(result["markdown"]) <= 1_000_000
    assert "Bees" in (await run(pool, "pdf", VALID))["title"]
