"""crates.io: Rust packages."""

import re
from typing import Final

from searx_mcp.content.addresses import absolute_web
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.hits import Link, Package
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import (
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    RefusedError,
    Routing,
)
from searx_mcp.sources.open.question import Ecosystem, Signal
from searx_mcp.sources.open.rows import Rows, json_object

NAME: Final = "crates"
PER_PAGE: Final = 10

_PAGES: Final = "https://crates.io/crates/"
_CRATE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_KINDS: Final = frozenset({"rust", "crate", "crates", "crates.io", "cargo", "package", "packages"})
"""Words for the kind of thing; every word that is sent must match, and these rarely do."""
_VERSIONS: Final = ("max_stable_version", "newest_version", "max_version")


def ask(query: OpenQuery) -> Ask | None:
    """Search by relevance; the words have no syntax."""
    telling = [word for word in query.keywords if word.lower() not in _KINDS]
    words = " ".join(" ".join(telling or query.keywords).replace('"', " ").split())
    if not words:
        return None
    return Ask(
        {
            "q": words,
            "per_page": str(PER_PAGE),
            "page": str(query.page),
            "sort": "relevance",
        }
    )


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse `crates`, whose pages are addressed by name."""
    answer = json_object(body)
    if "errors" in answer:
        # As it answers Cargo, with status 200.
        raise RefusedError(Verdict.REFUSED, "crates.io answered with an error.")
    if "crates" not in answer:
        raise ValueError("the answer has no crates")
    rows = Rows(NAME, query)
    for crate in answer.parts("crates"):
        name = crate.line("name")
        if not _CRATE.fullmatch(name):
            rows.skip()
            continue
        documentation = absolute_web("", crate.text("documentation"))
        downloads = crate.count("recent_downloads")
        rows.add(
            f"{_PAGES}{name}",
            name,
            description=crate.line("description", 1_000),
            published=crate.text("updated_at"),
            template="packages",
            package=Package(
                name=name,
                version=next(filter(None, map(crate.line, _VERSIONS)), ""),
                tags=tuple(crate.lines("keywords", 100)[:20]),
                popularity="" if downloads is None else f"{downloads:,} downloads in 90 days",
                homepage=absolute_web("", crate.text("homepage")) or None,
                source_url=absolute_web("", crate.text("repository")) or None,
                links=(Link(title="Documentation", url=documentation),) if documentation else (),
            ),
        )
    return rows.parsed(has_next=bool(answer.part("meta").text("next_page")))


ENGINE: Final = Engine(
    name=NAME,
    title="crates.io",
    operator="Rust Foundation, US",
    categories={Category.IT: 1},
    endpoint="https://crates.io/api/v1/crates",
    ask=ask,
    parse=parse,
    weight=0.7,
    # It allows one request a second, to programs with a contact in their User-Agent.
    gap=1.1,
    per_day=500,
    timeout=5.0,
    wants_contact=True,
    triggered=True,
    hosts=("crates.io",),
    also=("crates.io",),
    routing=Routing(
        within={Category.IT: {Signal.PACKAGE: 5}},
        further={"cargo": 1, "packages": 2},
        ecosystem=Ecosystem.CRATES,
        is_registry=True,
    ),
    words=EngineWords(
        names="crates.io",
        frames=(
            "rust_crate_for rust_crates_for rust_crate_to rust_crate crates_for crate_for "
            "cargo_crate_for crates.io"
        ),
        implied="rust crate crates cargo library package",
    ),
    terms_url="https://crates.io/data-access",
    terms_checked="2026-11",
)
