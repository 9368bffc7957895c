"""A search without a network: failing instances and a few pages, all on this machine."""

import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from searx_mcp.cli.calls import attempts_table, print_response
from searx_mcp.cli.instance_output import pool_table
from searx_mcp.cli.output import console, print_json, print_prose, show_progress
from searx_mcp.cli.running import run
from searx_mcp.client.facade import SearxClient
from searx_mcp.models.instance import Catalog, CatalogEntry
from searx_mcp.render.public import response_data
from searx_mcp.settings.values import Settings
from searx_mcp.testing.results import FakeResult
from searx_mcp.testing.searxng import FakeSearxng
from searx_mcp.testing.web import FakePage, FakeWeb, article

_HUNG_TIMEOUT = 1.0

_TEXTS = {
    "Who runs public SearXNG instances": (
        "Volunteers run them on machines they pay for themselves.",
        "They allow each address a few searches a day, so that search engines do not block them.",
        "A client that ignores this is blocked, and so is everyone behind the same address.",
        "Pacing requests and remembering refusals keeps a pool usable for everyone.",
    ),
    "Why an answer with status 200 may be a failure": (
        "An instance whose engines are blocked answers 200 with an empty page.",
        "A client that only looks at the status code reports “nothing found”.",
        "The page itself says which engines failed, so the next instance is asked.",
    ),
    "Why result pages are read as HTML": (
        "Nearly every public instance refuses JSON, because scripts abused it.",
        "The page has the same results, so an HTML parser can use every instance.",
    ),
}


@dataclass(frozen=True, slots=True)
class _Scene:
    """A search of the demo: the instances, each with the grade that determines its place."""

    title: str
    query: str
    own: Sequence[FakeSearxng] = ()
    public: Sequence[tuple[str, FakeSearxng]] = ()


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print both searches as JSON.")
def demo(*, as_json: bool) -> None:
    """Run two searches against fake instances; no network.

    Five instances on this machine take part; three of them fail.
    """
    run(play(as_json=as_json))


async def play(*, as_json: bool) -> None:
    """Run the demo and print it."""
    out = None if as_json else console()
    async with AsyncExitStack() as stack:
        pages = {f"/{n}": FakePage(article(*text)) for n, text in enumerate(_TEXTS.items(), 1)}
        web = await stack.enter_async_context(FakeWeb(pages))
        rows = [
            FakeResult(url=url, title=title, description=paragraphs[0])
            for url, (title, paragraphs) in zip(web.links, _TEXTS.items(), strict=True)
        ]

        async def instance(**behaviour: Any) -> FakeSearxng:  # noqa: ANN401 - as the constructor
            return await stack.enter_async_context(FakeSearxng(results=rows, **behaviour))

        hung, limited, html = (
            await instance(hang=True),
            await instance(),
            await instance(),
        )
        limited.limit()
        broken, json = (
            await instance(formats=("html", "json"), engines_failed=True),
            await instance(formats=("html", "json")),
        )
        scenes = (
            _Scene(
                "1. Public instances: the first hangs, the second limits us, the third serves HTML",
                "who runs public search instances",
                public=(("A+", hung), ("A", limited), ("B", html)),
            ),
            _Scene(
                "2. Two instances of your own: the first has failing engines, the second serves JSON",
                "why an empty answer is a failure",
                own=(broken, json),
            ),
        )
        played = [await _play(scene, web, out) for scene in scenes]
    if as_json:
        print_json({"searches": played})


async def _play(scene: _Scene, web: FakeWeb, out: Console | None) -> dict[str, Any]:
    """Run one search and print it, if there is an output; return it as JSON."""
    fakes = [*scene.own, *(fake for _, fake in scene.public)]
    settings = Settings(
        instances={"own": [fake.url for fake in scene.own]},
        fetch={"allow_private": [web.origin, *(fake.origin for fake in fakes)]},
        search={"attempt_timeout": _HUNG_TIMEOUT},
        web_search={"use_random_instances": False},
        open_sources={"mode": "off"},  # no request of the demo leaves this machine
    )
    entries = (
        CatalogEntry(url=fake.url, tls_grade=grade, http_grade=grade)
        for grade, fake in scene.public
    )
    catalog = Catalog(source="the demo", listed_at=datetime.now(UTC), instances=tuple(entries))
    if out is not None:
        out.print()
        print_prose(out, scene.title, style="bold underline")
        out.print()
        show_progress("waiting")

    def tell(message: str) -> None:
        if out is not None:
            out.print(Text(f"  … {message}", style="dim"))
        show_progress(message if out is None else "waiting")

    async with SearxClient(settings, catalog=catalog, rng=random.Random(1)) as client:  # noqa: S311 - the demo is the same every time
        response = await client.search(scene.query, results_count=3, progress=tell)
        pool = await client.instances()
    if out is not None:
        out.print()
        print_response(response, pages=True, budget=None)
        out.print(Text("\nWhat was asked", style="bold"))
        out.print(attempts_table(response.attempts, width=out.width))
        out.print(Text("\nWhat the pool learned", style="bold"))
        out.print(pool_table(pool.instances, width=out.width))
    return {
        "title": scene.title,
        "response": response_data(response, budget=None),
        "pool": pool.model_dump(mode="json"),
    }
