"""npm: packages of the configured registry."""

import re
from typing import Final

from searx_mcp.content.addresses import absolute_web
from searx_mcp.content.values import Fields
from searx_mcp.models.hits import Link, Package
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import (
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    Routing,
    fitting,
)
from searx_mcp.sources.open.question import Ecosystem, Signal
from searx_mcp.sources.open.rows import Rows, json_object

NAME: Final = "npm"
PER_PAGE: Final = 10
MIN_TEXT: Final = 2
MAX_TEXT: Final = 64
"""The public registry refuses shorter and longer texts with `ERR_TEXT_LENGTH`."""

_KINDS: Final = frozenset({"npm", "yarn", "pnpm", "package", "packages"})
"""Words for the kind of thing."""


def ask(query: OpenQuery) -> Ask | None:
    """Search packages by as many keywords as the registry takes."""
    telling = [word for word in query.keywords if word.lower() not in _KINDS]
    # A colon would make it a qualifier, such as `author:`.
    plain = (
        re.sub(r'[:"\s]+', " ", word).strip().lstrip("-") for word in telling or query.keywords
    )
    words = fitting(plain, MAX_TEXT)
    if len(words) < MIN_TEXT:
        return None
    return Ask(
        {"text": words, "size": str(PER_PAGE), "from": str(PER_PAGE * (query.page - 1))},
        path=("-", "v1", "search"),
    )


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse `objects`; a package without a page in the registry gets the author's link."""
    answer = json_object(body, key="objects")
    rows = Rows(NAME, query)
    for entry in answer.parts("objects"):
        package, links = entry.part("package"), entry.part("package").part("links")
        homepage, source = _address(links, "homepage"), _address(links, "repository")
        bugs = _address(links, "bugs")
        downloads = entry.part("downloads").count("monthly")
        rows.add(
            _address(links, "npm") or homepage or source,
            package.line("name"),
            description=package.line("description", 1_000),
            published=package.text("date"),
            template="packages",
            package=Package(
                name=package.line("name"),
                version=package.line("version"),
                maintainer=package.part("publisher").line("username"),
                licence=package.line("license"),
                tags=tuple(package.lines("keywords", 100)[:20]),
                popularity="" if downloads is None else f"{downloads:,} downloads a month",
                homepage=homepage or None,
                source_url=source or None,
                links=(Link(title="Issues", url=bugs),) if bugs else (),
            ),
        )
    total = answer.count("total")
    return rows.parsed(has_next=None if total is None else query.page * PER_PAGE < total)


def _address(links: Fields, name: str) -> str:
    return absolute_web("", links.text(name).removeprefix("git+"))


ENGINE: Final = Engine(
    name=NAME,
    title="npm",
    operator="the operator of the configured registry",
    categories={Category.IT: 1},
    endpoint="",
    ask=ask,
    parse=parse,
    weight=0.7,
    gap=1.0,
    per_day=500,
    timeout=4.0,
    triggered=True,
    routing=Routing(
        within={Category.IT: {Signal.PACKAGE: 5}},
        further={"packages": 1},
        ecosystem=Ecosystem.NPM,
        is_registry=True,
    ),
    words=EngineWords(
        names="npm npmjs",
        frames=(
            "npm_package_for npm_package_to npm_package npm_module_for npm_module "
            "npm_library_for node_package_for node_module_for node_package"
        ),
        implied="npm package packages library module node nodejs javascript js typescript",
    ),
    endpoint_setting=lambda config: config.npm_url,
    terms_url="https://github.com/npm/registry/blob/main/docs/REGISTRY-API.md",
    terms_checked="2026-11",
)
