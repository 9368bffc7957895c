"""Two hundred pages as sites serve them, made by dice: articles, documentation, listings.

Nothing is copied from anybody: sentences are drawn from a list of words. What is copied is the shape
of real pages: scripts, styles and metadata in the head, menus and rails of links around the content,
classes that tell what is what, and sizes from 5 to 300 kB.
"""

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from itertools import accumulate
from typing import Final

COUNT: Final = 200
_SMALLEST, _LARGEST = 5_000, 300_000
_WORDS: Final = re.findall(
    r"\w+",
    "the of and to in a is that for on with as it by from at be this an are or was which not has have"
    " their when can more after between without water city river engine value system function error"
    " module station harbour mountain winter summer paper letter window garden bridge market island"
    " measure pressure signal network table column record version release library option argument"
    " default returns raises object string number list path file folder memory thread process queue"
    " slowly quickly often never usually nearly early late small large open closed empty full simple"
    " common rare careful correct public private local remote first second last next previous found"
    " made kept sent read written drawn built moved held left opened changed tested measured called",
)
# Few words make up most of a text (Zipf).
_CUMULATED: Final = list(accumulate(1 / (rank + 3) for rank in range(len(_WORDS))))
_KEYWORDS: Final = ("if", "for", "return", "while", "import", "raise", "assert", "yield")


@dataclass(frozen=True, slots=True)
class Page:
    """One page.

    Attributes:
        path: where it is served, from `/`.
        html: as it is served.
        mark: a sentence of the content; a conversion that lost it lost the content.
    """

    path: str
    html: bytes
    mark: str


def make_pages(seed: int, *, count: int = COUNT) -> tuple[Page, ...]:
    """Make pages of all kinds, most of 20 to 100 kB; the same for the same seed."""
    return tuple(_page(number, random.Random(f"{seed} {number}")) for number in range(count))  # noqa: S311 - a benchmark's


def _page(number: int, rng: random.Random) -> Page:
    kind = rng.choices(tuple(_KINDS), weights=(5, 3, 2))[0]
    size = min(max(int(rng.lognormvariate(10.6, 0.8)), _SMALLEST), _LARGEST)
    title = f"{_phrase(rng, 5).capitalize()} {number}"
    mark = f"This is page {number} of the {kind}s about {_phrase(rng, 4)}."
    # About a third of a real page is not its content.
    blocks = [f"<p>{mark} {_sentences(rng, 4)}</p>"]
    length = 0
    while length < size * 0.6:
        blocks.append(_KINDS[kind](rng))
        length += len(blocks[-1])
    html = _frame(rng, kind, title, "\n".join(blocks), padding=int(size * 0.3))
    return Page(f"/{kind}/{number}.html", html.encode(), mark)


def _frame(rng: random.Random, kind: str, title: str, content: str, *, padding: int) -> str:
    about = _sentences(rng, 1)
    data = {"@context": "https://schema.org", "@type": "Article", "headline": title}
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title} - Example</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="{about}"><meta property="og:title" content="{title}">
<link rel="stylesheet" href="/static/site.css"><link rel="canonical" href="https://example.org/{kind}">
<script type="application/ld+json">{json.dumps(data)}</script>
<style>{_style(rng, padding // 4)}</style><script>{_script(rng, padding // 4)}</script></head>
<body class="{kind} layout"><!-- {_phrase(rng, 9)} -->
<header class="site-header"><a href="/" class="logo">Example</a>{_menu(rng, 12)}
<form role="search" action="/search"><input name="q" placeholder="Search"></form></header>
<nav class="breadcrumb"><ol><li><a href="/">Home</a></li><li><a href="/{kind}">{kind}</a></li></ol></nav>
<div class="container"><aside class="sidebar">{_menu(rng, padding // 400 + 5)}</aside>
<main id="content"><article class="{kind}-body"><h1>{title}</h1>
<p class="byline">By <a href="/people/{rng.randrange(99)}">{_phrase(rng, 2).title()}</a>,
<time datetime="2026-03-{rng.randint(10, 28)}">March 2026</time></p>
{content}
</article></main><aside class="related"><h2>Read next</h2>{_menu(rng, padding // 600 + 3)}</aside></div>
<footer class="site-footer">{_menu(rng, 20)}<p>&copy; 2026 Example. {about}</p></footer>
<script>{_script(rng, padding // 8)}</script></body></html>
"""


def _article(rng: random.Random) -> str:
    match rng.randrange(12):
        case 0:
            return f"<h2>{_phrase(rng, 4).capitalize()}</h2>"
        case 1:
            return (
                f'<figure><img src="/img/{rng.randrange(999)}.jpg" alt="{_phrase(rng, 5)}" loading="lazy">'
                f"<figcaption>{_sentences(rng, 1)}</figcaption></figure>"
            )
        case 2:
            return f"<blockquote><p>{_sentences(rng, 2)}</p></blockquote>"
        case 3:
            return _list(rng)
        case _:
            return f"<p>{_linked(rng, _sentences(rng, rng.randint(3, 7)))}</p>"


def _manual(rng: random.Random) -> str:
    match rng.randrange(9):
        case 0 | 1:
            anchor = _phrase(rng, 2).replace(" ", "-")
            return f'<h3 id="{anchor}"><code>{anchor}</code><a class="headerlink" href="#{anchor}">#</a></h3>'
        case 2 | 3:
            return _code(rng)
        case 4:
            return _table(rng)
        case 5:
            return f'<div class="admonition note"><p class="title">Note</p><p>{_sentences(rng, 2)}</p></div>'
        case 6:
            return _list(rng)
        case _:
            return f"<p><code>{_phrase(rng, 1)}</code> {_linked(rng, _sentences(rng, 3))}</p>"


def _listing(rng: random.Random) -> str:
    number = rng.randrange(9_999)
    tags = "".join(f'<a class="tag" href="/t/{tag}">{tag}</a> ' for tag in _phrase(rng, 3).split())
    return (
        f'<div class="card item"><a href="/item/{number}"><img src="/thumb/{number}.webp" alt=""></a>'
        f'<h3><a href="/item/{number}">{_phrase(rng, 6).capitalize()}</a></h3>'
        f'<p class="excerpt">{_sentences(rng, 2)}</p><span class="price">{number / 100:.2f}</span>'
        f'<span class="meta">{rng.randint(1, 60)} comments</span><div class="tags">{tags}</div></div>'
    )


_KINDS: Final[dict[str, Callable[[random.Random], str]]] = {
    "article": _article,
    "manual": _manual,
    "listing": _listing,
}


def _code(rng: random.Random) -> str:
    lines = []
    for _ in range(rng.randint(4, 18)):
        words = _phrase(rng, 3).split()
        lines.append(
            f'<span class="k">{rng.choice(_KEYWORDS)}</span> <span class="n">{words[0]}</span>'
            f' <span class="o">=</span> <span class="s">&quot;{words[1]}&quot;</span>  # {words[2]}'
        )
    text = "\n    ".join(lines)
    return f'<div class="highlight-python"><pre><code>{text}</code></pre></div>'


def _table(rng: random.Random) -> str:
    columns = rng.randint(3, 5)
    head = "".join(f"<th>{_phrase(rng, 1)}</th>" for _ in range(columns))
    rows = "".join(
        "<tr>" + "".join(f"<td>{_phrase(rng, 3)}</td>" for _ in range(columns)) + "</tr>"
        for _ in range(rng.randint(3, 25))
    )
    return f'<table class="data"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _list(rng: random.Random) -> str:
    items = "".join(
        f"<li>{_linked(rng, _sentences(rng, 1))}</li>" for _ in range(rng.randint(3, 8))
    )
    return f"<ul>{items}</ul>"


def _menu(rng: random.Random, entries: int) -> str:
    items = "".join(
        f'<li class="menu-item"><a href="/{word}">{word.capitalize()} {number}</a></li>'
        for number, word in enumerate(rng.choices(_WORDS, k=entries))
    )
    return f'<ul class="menu">{items}</ul>'


def _style(rng: random.Random, size: int) -> str:
    return _repeated(
        size,
        lambda: (
            f".{_phrase(rng, 1)}{rng.randrange(999)}{{margin:0;color:#{rng.randrange(999):03d}}}"
        ),
    )


def _script(rng: random.Random, size: int) -> str:
    return _repeated(
        size, lambda: f"layer.push({{page:'{_phrase(rng, 2)}',n:{rng.randrange(99)}}});"
    )


def _repeated(size: int, piece: Callable[[], str]) -> str:
    pieces: list[str] = []
    while size > 0:
        pieces.append(piece())
        size -= len(pieces[-1])
    return "".join(pieces)


def _linked(rng: random.Random, text: str) -> str:
    word, _, rest = text.partition(" ")
    return f'<a href="/wiki/{rng.randrange(999)}">{word}</a> {rest} <em>{_phrase(rng, 2)}</em>.'


def _sentences(rng: random.Random, count: int) -> str:
    return " ".join(f"{_phrase(rng, rng.randint(6, 18)).capitalize()}." for _ in range(count))


def _phrase(rng: random.Random, words: int) -> str:
    return escape(" ".join(rng.choices(_WORDS, cum_weights=_CUMULATED, k=words)))
