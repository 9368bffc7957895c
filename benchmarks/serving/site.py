"""Twenty results and an article, the same for every server that is measured."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.web import FakePage, FakeWeb

RESULTS: Final = 20
QUESTION: Final = "How deep do the roots of a hornbeam hedge reach?"
MARKER: Final = "The first hedge of the estate was planted in 1874"
"""How the text of every article begins."""

_ADDRESS: Final = "https://docs.example.org/guides/hedges/{}-all-year"
_PLANTS: Final = (
    *("hawthorn", "hornbeam", "beech", "holly", "yew", "box", "privet", "blackthorn", "hazel"),
    *("dogwood", "guelder rose", "spindle", "field maple", "laurel", "willow", "elder"),
    *("sea buckthorn", "barberry", "quince", "myrtle"),
)
_SENTENCES: Final = (
    "Hedges of {plant} are cut in {month}, when birds have left them, and again if the summer was wet.",
    "Young {plant} is set {first} cm apart, {second} where it holds cattle.",
    "The roots of {plant} reach {second} cm deep within {years} years, so a wall close by needs a barrier.",
    "In the trial of plot {number} one metre of {plant} took {minutes} minutes of work a year.",
    "Gardeners who feed {plant} with {first} g of compost a plant report {years} more shoots each spring.",
    "Frost of minus {years} degrees harms the shoots of {plant} only where wind dries them as well.",
    "Old {plant} is renewed by cutting one side to the stem first and the other {years} winters later.",
)
_MONTHS: Final = ("February", "March", "June", "July", "August", "September", "October")
_ASIDE: Final = "".join(
    f'<li><a href="/offer/{number}">Offer {number}</a></li>' for number in range(30)
)
_NAVIGATION: Final = "".join(
    f'<li><a href="/section/{number}">Section {number}</a></li>' for number in range(60)
)
_TABLE: Final = (
    "<table><thead><tr><th>Plant</th><th>Spacing, cm</th><th>Cuts a year</th></tr></thead><tbody>"
    + "".join(
        f"<tr><td>{plant}</td><td>{30 + 2 * number}</td><td>{1 + number % 2}</td></tr>"
        for number, plant in enumerate(_PLANTS)
    )
    + "</tbody></table>"
)
_CODE: Final = (
    '<pre><code class="language-python">def plants(metres: float, spacing: float) -> int:\n'
    '    """Plants for one row."""\n    return round(metres * 100 / spacing) + 1\n</code></pre>'
)


@dataclass(frozen=True, slots=True)
class Site:
    """What can be asked of the loopback.

    Attributes:
        listed: twenty results with addresses of usual length, of pages that nobody reads.
        rows: the same of pages that are there.
        article: the address of a page of about 26,000 characters.
        missing: the address of a page that is not there.
        archive: the address of a file that is no page.
        origin: host and port of all of them.
    """

    listed: tuple[FakeResult, ...]
    rows: tuple[FakeResult, ...]
    article: str
    missing: str
    archive: str
    origin: str


@asynccontextmanager
async def open_site() -> AsyncIterator[Site]:
    """Serve the pages on loopback."""
    pages = {"/hedges": FakePage(article(sections=RESULTS))}
    pages |= {f"/hedges/{n}": FakePage(article(sections=4, first=n)) for n in range(RESULTS)}
    pages["/hedges.zip"] = FakePage(b"PK\3\4", content_type="application/zip")
    async with FakeWeb(pages) as web:
        links = [web.url(f"/hedges/{number}") for number in range(RESULTS)]
        yield Site(
            listed=tuple(row(number, _ADDRESS.format(_slug(number))) for number in range(RESULTS)),
            rows=tuple(row(number, link) for number, link in enumerate(links)),
            article=web.url("/hedges"),
            missing=web.url("/nothing"),
            archive=web.url("/hedges.zip"),
            origin=web.origin,
        )


def row(number: int, url: str) -> FakeResult:
    """A result with a snippet of about 40 tokens."""
    plant = _PLANTS[number % len(_PLANTS)]
    return FakeResult(
        url=url,
        title=f"{plant.capitalize()} hedges: planting, cutting, feeding and renewal",
        description=" ".join(_sentences(plant, number)[:2]),
    )


def article(*, sections: int, first: int = 0) -> str:
    """A page with an article of so many sections between navigation, an aside and a footer.

    Args:
        sections: of about 1,250 characters each.
        first: the number of the first plant.
    """
    plants = [_PLANTS[(first + number) % len(_PLANTS)] for number in range(sections)]
    body = "".join(
        f"<h2>{plant.capitalize()}</h2>"
        + "".join(
            f"<p>{' '.join(_sentences(plant, first + number + turn))}</p>" for turn in (0, 100)
        )
        for number, plant in enumerate(plants)
    )
    title = f"Hedges, {plants[0]} to {plants[-1]}"
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head><body>'
        f"<nav><ul>{_NAVIGATION}</ul></nav><main><article><h1>{title}</h1><p>{MARKER}, and its keepers "
        f"have written down what each plant needs.</p>{_TABLE}{_CODE}{body}</article></main>"
        f"<aside><h2>Offers</h2><ul>{_ASIDE}</ul></aside><footer><p>Imprint, terms, cookies</p></footer>"
        "</body></html>"
    )


def bare(rows: Sequence[FakeResult]) -> str:
    """Results as a numbered list with nothing else: the least that a search can cost."""
    return "\n".join(
        f"{number}. {row.title}\n{row.url}\n{row.description}" for number, row in enumerate(rows, 1)
    )


def _slug(number: int) -> str:
    return _PLANTS[number % len(_PLANTS)].replace(" ", "-")


def _sentences(plant: str, number: int) -> list[str]:
    return [
        sentence.format(
            plant=plant,
            month=_MONTHS[(number + at) % len(_MONTHS)],
            first=25 + (7 * number + at) % 40,
            second=60 + (11 * number + at) % 90,
            years=2 + (number + at) % 9,
            number=1 + number,
            minutes=12 + (5 * number + at) % 50,
        )
        for at, sentence in enumerate(_SENTENCES)
    ]
