"""The attacks: pages, answers of instances, connections; and what each must come to."""

import json
import zlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain, repeat
from typing import Final

from tests.doubles.raw import Connection, response

READ, FOUND = "read", "found"
"""Outcomes that are no error: a page with text, a search with results."""

HTML, JSON, TEXT = "text/html; charset=utf-8", "application/json", "text/plain; charset=utf-8"
_HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_WORDS: Final = "The bee dances for the others and tells them where the flowers are. "
_ARTICLE: Final = f"<article><h1>Bees</h1><p>{_WORDS * 20}</p>%s<p>{_WORDS * 20}</p></article>"
_ROW: Final = (
    '<article class="result result-default category-general"><h3><a href="https://bees.example/%s">'
    '%s</a></h3><p class="content">%s</p><div class="engines"><span>a</span></div></article>'
)
_RESULTS: Final = (
    '<!DOCTYPE html><html><head><meta name="generator" content="searxng/2026.8.1">'
    '<meta name="endpoint" content="results"></head><body class="results_endpoint">'
    '<div id="results"><div id="urls">%s</div></div></body></html>'
)

Send = Callable[[Connection], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Attack:
    """One hostile thing.

    Attributes:
        send: sends it, after the request was read.
        outcome: what the tool call must come to: `read`, `found` or the code of the error.
        is_json: of an answer of an instance, whether it is one to a request for JSON; requests for
            the other form are refused.
        is_endless: whether only the end of the call ends it.
    """

    send: Send
    outcome: str
    is_json: bool = False
    is_endless: bool = False


def _whole(make: Callable[[], str | bytes], content_type: str, **headers: str) -> Send:
    made = cache(make)

    async def send(connection: Connection) -> None:
        await connection.send(response(made(), content_type=content_type, headers=headers))

    return send


def _pieces(pieces: Callable[[], Iterable[bytes]]) -> Send:
    async def send(connection: Connection) -> None:
        for piece in pieces():
            await connection.send(piece)
        await connection.hang()

    return send


def _page(make: Callable[[], str], outcome: str = READ) -> Attack:
    return Attack(_whole(make, HTML), outcome)


def _inside(make: Callable[[], str]) -> Attack:
    """A page whose article has this in the middle."""
    return _page(lambda: _ARTICLE % make())


def _rows(make: Callable[[], str], outcome: str = FOUND) -> Attack:
    """A result page with this among its rows, before a good row."""
    good = _ROW % ("good", "Bees", _WORDS)
    return Attack(_whole(lambda: _RESULTS % (make() + good), HTML), outcome)


def _json(make: Callable[[], str | bytes], outcome: str = FOUND) -> Attack:
    return Attack(_whole(make, JSON), outcome, is_json=True)


def _results(**row: object) -> str:
    good = {"url": "https://bees.example/good", "title": "Bees", "content": _WORDS}
    return json.dumps({"query": "bees", "results": [{**good, **row}, good]})


def _attributes(count: int) -> str:
    return " ".join(f"a{number}=1" for number in range(count))


def _gzip(block: bytes, times: int) -> bytes:
    stream = zlib.compressobj(9, wbits=31)
    return b"".join([*(stream.compress(block) for _ in range(times)), stream.flush()])


def _chunked(pieces: Iterable[bytes]) -> Iterable[bytes]:
    yield _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    for piece in pieces:
        yield b"%x\r\n%b\r\n" % (len(piece), piece)


def _headers(lines: Iterable[bytes]) -> Iterable[bytes]:
    yield _HEAD
    yield from lines
    yield b"Content-Length: 2\r\n\r\nok"


_RULES: Final = "".join(f".a{n} .b{n}>c{n}{{display:none}}" for n in range(30_000))
_LOOK: Final = "".join(f"<p class='a{n} b{n}'>x</p>" for n in range(3_000))

PAGES: Final[Mapping[str, Attack]] = {
    "formatting opened again in every block": _page(
        lambda: "".join(f"<div><b id={n}>x</div>" for n in range(4_900)) + _ARTICLE % ""
    ),
    "a tag of 300,000 attributes": _inside(lambda: f"<p {_attributes(300_000)}>x</p>"),
    "20,000 attributes on 50 tags": _inside(lambda: f"<p {_attributes(20_000)}>x</p>" * 5),
    "100,000 nested elements": _inside(lambda: "<div>" * 100_000),
    "nested fonts": _inside(lambda: "".join(f"<font id={n}>x" for n in range(50_000))),
    "misnested formatting": _inside(lambda: "<a href=x><b><i>x</a></b></i>" * 30_000),
    "formatting over paragraphs": _inside(lambda: "<font><p>x" * 20_000),
    "a table in each cell": _inside(lambda: "<table><tr><td>x" * 20_000),
    "text in a table": _inside(lambda: "<table>" + "<b>x<tr><i>y" * 20_000),
    "tables of huge spans": _inside(
        lambda: f"<table><tr>{'<td colspan=9999999 rowspan=9999999>x' * 1_000}</table>"
    ),
    "nested lists": _inside(lambda: "<ul><li>x" * 20_000),
    "nested quotes": _inside(lambda: "<blockquote>x" * 20_000),
    "nested select and option": _inside(lambda: "<select><optgroup><option>x" * 20_000),
    "nested svg and math": _inside(lambda: "<svg><foreignObject><math><mtext>" * 10_000),
    "nested templates": _inside(lambda: "<template><div>" * 30_000),
    "comments begun": _inside(lambda: "<!--" * 200_000),
    "a million signs of less": _inside(lambda: "<" * 1_000_000),
    "two million ampersands": _inside(lambda: "&" * 2_000_000),
    "long entities": _inside(lambda: "&CounterClockwiseContourIntegral" * 60_000),
    "an attribute never closed": _inside(lambda: "<p title=" * 300_000),
    "a quote never closed": _inside(lambda: "<a href='x" * 100_000),
    "900 kB without a space": _inside(lambda: "x" * 900_000),
    "900 kB of space": _inside(lambda: " \n\t" * 300_000),
    "backticks": _inside(lambda: f"<code>{'`' * 400_000}</code> {'` ' * 200_000}"),
    "brackets": _inside(lambda: f"<p>{'[' * 300_000}{'](' * 300_000}</p>"),
    "30,000 rules of style": _inside(lambda: f"<style>{_RULES}</style>{_LOOK}"),
    "a rule of 100,000 selectors": _inside(
        lambda: f"<style>{','.join(['div'] * 100_000)}{{display:none}}</style>{_LOOK}"
    ),
    "braces of style": _inside(lambda: f"<style>{'@media x{' * 100_000}</style>"),
    "a style of a megabyte": _inside(lambda: f"<p style='{'a:b;' * 200_000}'>x</p>"),
    "classes on every element": _inside(
        lambda: f'<p class="{"nav menu sidebar " * 60}">x</p>' * 900
    ),
    "100,000 headings": _inside(lambda: "<h2>Same</h2>" * 70_000),
    "100,000 links": _inside(lambda: "<a href=/x>y</a> " * 55_000),
    "20,000 footnotes": _inside(
        lambda: "".join(f'<sup><a href="#f{n}">{n}</a></sup>' for n in range(20_000))
    ),
    "a formula of braces": _inside(lambda: f'<script type="math/tex">{"{" * 300_000}</script>'),
    "linked data, deep": _inside(
        lambda: f'<script type="application/ld+json">{"[" * 200_000}</script>'
    ),
    "bidi and zero width": _inside(lambda: "\u202ex\u200b" * 100_000),
    "escapes of a terminal": _inside(lambda: "\x1b[31m\x9b" * 100_000),
    "combining marks": _inside(lambda: "a" + "\u0301" * 400_000),
    "NULs in tags": _inside(lambda: "<p>a\0b<\0b>c</\0p>" * 20_000),
    "a feed of nested elements": Attack(
        _whole(lambda: f"<rss><channel>{'<item>' * 100_000}", "application/rss+xml"),
        READ,
    ),
    "entities of entities": Attack(
        _whole(
            lambda: (
                "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a0 'bees'>"
                + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12))
                + "]><rss><channel><title>&a11;</title></channel></rss>"
            ),
            "application/rss+xml",
        ),
        READ,
    ),
    "JSON of 100,000 brackets": Attack(_whole(lambda: "[" * 100_000, JSON), READ),
}
"""Read by `web_fetch`."""

_PAGES_OF_RESULTS: Final[Mapping[str, Attack]] = {
    "formatting opened again in every block": _rows(
        lambda: "".join(f"<div><b id={n}>x</div>" for n in range(4_900))
    ),
    "a tag of 150,000 attributes": _rows(lambda: f"<p {_attributes(150_000)}>x</p>"),
    "100,000 nested elements": _rows(lambda: "<div>" * 100_000, "no_instances_available"),
    "formatting in every row": _rows(
        lambda: "".join(_ROW % (n, f"<b id={n}>x", "y") for n in range(4_000)),
        "no_instances_available",
    ),
    "9,000 rows": _rows(
        lambda: "".join(_ROW % (n, "Bees", "x") for n in range(9_000)), "no_instances_available"
    ),
    "a row of 2 MB": _rows(lambda: _ROW % ("long", "Bees", "x " * 1_000_000)),
    "a sentence about 50,000 engines": _rows(
        lambda: f'<div class="dialog-error"><p>{"a (b), " * 50_000}</p></div>'
    ),
    "comments begun": _rows(lambda: "<!--" * 200_000, "no_instances_available"),
    "a million signs of less": _rows(lambda: "<" * 1_000_000, "no_instances_available"),
    "nested svg": _rows(lambda: "<svg><foreignObject>" * 20_000, "no_instances_available"),
    "HTML, a bomb of gzip": Attack(
        _whole(lambda: _gzip(_RESULTS.encode() * 100, 4_000), HTML, **{"Content-Encoding": "gzip"}),
        "no_instances_available",
    ),
}

# JSON first: an instance that refused it once is asked for pages alone, and would never send it.
ANSWERS: Final[Mapping[str, Attack]] = {
    "JSON of 100,000 brackets": _json(lambda: "[" * 100_000, "no_instances_available"),
    "JSON of 500,000 objects in objects": _json(
        lambda: '{"results":' * 500_000, "no_instances_available"
    ),
    "a number of a million digits": _json(
        lambda: '{"query":"b","results":[],"n":' + "9" * 1_000_000 + "}", "no_instances_available"
    ),
    "100,000 rows of JSON": _json(
        lambda: json.dumps(
            {"results": [{"url": f"https://b.example/{n}", "title": "b"} for n in range(90_000)]}
        ),
        "no_instances_available",
    ),
    "a title of 2 MB": _json(lambda: _results(title="x " * 1_000_000)),
    "a title of 4 MB": _json(lambda: _results(title="x " * 2_000_000), "no_instances_available"),
    "markup in a title": _json(lambda: _results(title="<b id=1>x" * 50_000)),
    "a lone surrogate": _json(
        lambda: _results(title="bees").replace("bees.example/good", "bees.example/\\ud83d", 1)
    ),
    "escapes of a terminal": _json(lambda: _results(content="\x1b]52;c;\x07" * 100_000)),
    "wrong types": _json(
        lambda: json.dumps({"results": [1, None, {"url": [], "title": {}}], "answers": 7}),
        "no_instances_available",
    ),
    "JSON, a bomb of gzip": Attack(
        _whole(lambda: _gzip(b'{"results":[' * 90_000, 400), JSON, **{"Content-Encoding": "gzip"}),
        "no_instances_available",
        is_json=True,
    ),
    **_PAGES_OF_RESULTS,
}
"""Given to `web_search` by an instance of one's own, whose answers are believed."""


async def _interim(connection: Connection) -> None:
    for _ in range(400):
        await connection.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 1_000)
    await connection.send(response("late"))


_LOOP: Final = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ?%d\r\n\r\n"

WIRE: Final[Mapping[str, Attack]] = {
    "a flood of interim answers": Attack(_interim, "malformed_response"),
    "chunks of one byte": Attack(
        _pieces(lambda: _chunked(repeat(b"x", 3_000_000))), READ, is_endless=True
    ),
    "chunks without end": Attack(
        _pieces(lambda: _chunked(repeat(b"bees " * 9_000))), READ, is_endless=True
    ),
    "an extension of a chunk without end": Attack(
        _pieces(
            lambda: chain(
                [_HEAD + b"Transfer-Encoding: chunked\r\n\r\n5;"], repeat(b"x" * 65_536, 200)
            )
        ),
        "timeout",
        is_endless=True,
    ),
    "a header of 10 MB": Attack(
        _pieces(lambda: _headers([b"X-A: " + b"b" * 10_000_000 + b"\r\n"])), "malformed_response"
    ),
    "100,000 headers": Attack(
        _pieces(lambda: _headers(b"X-%d: b\r\n" % n for n in range(100_000))), "malformed_response"
    ),
    "a header of one name, 100,000 times": Attack(
        _pieces(lambda: _headers([b"Set-Cookie: a=b\r\n" * 100_000])), "malformed_response"
    ),
    "a status line of 10 MB": Attack(
        _pieces(lambda: [b"HTTP/1.1 200 " + b"O" * 10_000_000 + b"\r\n\r\n"]), "malformed_response"
    ),
    "no HTTP at all": Attack(_pieces(lambda: [b"\x16\x03\x01" * 400_000]), "malformed_response"),
    "a bomb of gzip": Attack(
        _whole(lambda: _gzip(b"bees dance " * 99_999, 200), TEXT, **{"Content-Encoding": "gzip"}),
        READ,
    ),
    "200,000 gzip members": Attack(
        _whole(lambda: _gzip(b"bee ", 1) * 200_000, TEXT, **{"Content-Encoding": "gzip"}), READ
    ),
    "lengths that differ": Attack(
        _pieces(lambda: [_HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc"]),
        "malformed_response",
    ),
    "a redirect of 1 MB": Attack(
        _pieces(
            lambda: [
                b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /",
                b"x" * 1_000_000,
                b"\r\n\r\n",
            ]
        ),
        "malformed_response",
    ),
    "silence": Attack(_pieces(list), "timeout", is_endless=True),
}
"""Sent to `web_fetch` in place of a page."""

ATTACKS: Final[Mapping[str, Mapping[str, Attack]]] = {
    "page": PAGES,
    "answer": ANSWERS,
    "wire": WIRE,
}
