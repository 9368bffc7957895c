"""Project pages of a Python package index, from the JSON API of the same host."""

import re
from collections.abc import Sequence
from typing import Final

from yarl import URL

from searx_mcp.content.clean import clean, clean_line
from searx_mcp.content.fences import fence
from searx_mcp.content.fields import Fields
from searx_mcp.fetch.site_adapters.address import address, origin_of, parts_of
from searx_mcp.fetch.site_adapters.composing.fields import first_member, object_of
from searx_mcp.fetch.site_adapters.composing.prose import from_html, from_markdown
from searx_mcp.fetch.site_adapters.composing.writing import (
    Link,
    bullets,
    capped,
    facts,
    heading,
    joined,
    plain,
)
from searx_mcp.fetch.site_adapters.interface import Composed, Material, Plan, Source

MAX_DEPENDENCIES: Final = 60
_MAX_LINKS: Final = 20
_MAX_VULNERABILITIES: Final = 20

# Core metadata specification, "Name", and the characters of PEP 440 versions.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,100}[A-Za-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]{0,100}")
_EXTRA = re.compile(r"\bextra\s*==")
_LICENCE: Final = "License :: "


class PypiTier:
    """Reads `/project/NAME` and `/project/NAME/VERSION` of hosts whose first label is `pypi`."""

    def plan(self, url: URL) -> Plan | None:
        """Plan to read one JSON document; see `Tier`."""
        host = url.host or ""
        parts = parts_of(url)
        if not parts or not host.startswith("pypi."):
            return None
        match parts:
            case ["project", name] if _NAME.fullmatch(name):
                path: tuple[str, ...] = ("pypi", name, "json")
            case ["project", name, version] if _NAME.fullmatch(name) and _VERSION.fullmatch(
                version
            ):
                path = ("pypi", name, version, "json")
            case _:
                return None
        page = f"{address(origin_of(url), *parts)}/"
        return Plan(
            tier="pypi",
            sources=(Source(address(origin_of(url), *path), accept="application/json"),),
            compose=lambda materials: _compose(materials, page=page),
        )


def _compose(materials: Sequence[Material | None], *, page: str) -> Composed:
    material = materials[0]
    if material is not None and material.is_truncated:
        # The releases behind it are what makes it long; of those one is shown.
        info, answer = first_member(material, "info"), Fields({})
    else:
        answer = object_of(material)
        info = answer.part("info")
    name, version = info.line("name"), info.line("version")
    if not name or not version:
        raise ValueError("the answer names no project")
    uploads = sorted(
        filter(None, (file.line("upload_time_iso_8601") for file in answer.parts("urls")))
    )
    summary = info.line("summary", 1_000)
    notes = []
    if info.flag("yanked"):
        notes.append("This release was yanked.")
    vulnerabilities = [
        entry for entry in answer.parts("vulnerabilities") if not entry.line("withdrawn")
    ]
    if vulnerabilities:
        notes.append(f"This release has {len(vulnerabilities)} known vulnerabilities.")
    return Composed(
        markdown=joined(
            heading(1, f"{name} {version}"),
            plain(summary, 1_000),
            _facts(info, released=uploads[0] if uploads else ""),
            _dependencies(info.lines("requires_dist")),
            _known_vulnerabilities(vulnerabilities),
            _description(info, page),
        ),
        title=f"{name} {version}",
        description=summary,
        author=_author(info),
        published=uploads[0] if uploads else "",
        notes=tuple(notes),
    )


def _facts(info: Fields, *, released: str) -> str:
    links = [(label, Link(url, url)) for label, url in info.pairs("project_urls")[:_MAX_LINKS]]
    home = info.line("home_page", 500)
    if home and not links:
        links = [("Homepage", Link(home, home))]
    return facts(
        [
            ("Licence", _licence(info)),
            ("Requires Python", info.line("requires_python")),
            ("Released", released[:10]),
            ("Yanked", info.line("yanked_reason") if info.flag("yanked") else ""),
            ("Author", _author(info)),
            ("Keywords", info.line("keywords", 300)),
            *((plain(label) or "Link", link) for label, link in links),
        ]
    )


def _licence(info: Fields) -> str:
    """The expression, the field or the classifiers; the field may hold a whole licence."""
    if licence := info.line("license_expression") or info.line("license", 100):
        return licence
    named = [
        line.rpartition(" :: ")[2]
        for line in info.lines("classifiers")
        if line.startswith(_LICENCE)
    ]
    return capped(named, 3)


def _author(info: Fields) -> str:
    return info.line("author") or info.line("author_email") or info.line("maintainer")


def _dependencies(requirements: list[str]) -> str:
    """Requirements, those of extras last."""
    if not requirements:
        return ""
    ordered = sorted(requirements, key=lambda line: bool(_EXTRA.search(line)))
    shown = ordered[:MAX_DEPENDENCIES]
    left = len(ordered) - len(shown)
    more = f"- and {left:,} more" if left > 0 else ""
    return joined(heading(2, "Dependencies"), bullets(shown) + (f"\n{more}" if more else ""))


def _known_vulnerabilities(entries: list[Fields]) -> str:
    if not entries:
        return ""
    lines = []
    for entry in entries[:_MAX_VULNERABILITIES]:
        fixed = capped(entry.lines("fixed_in"), 5)
        summary = entry.line("summary", 300) or clean_line(entry.text("details"), 300)
        lines.append(f"{entry.line('id')}{f' (fixed in {fixed})' if fixed else ''}: {summary}")
    return joined(heading(2, "Known vulnerabilities"), bullets(lines))


def _description(info: Fields, page: str) -> str:
    """The long description by its type; without one it is reStructuredText (core metadata)."""
    text = info.text("description")
    kind = info.line("description_content_type").partition(";")[0].strip().lower()
    if not text.strip():
        return ""
    if kind == "text/markdown":
        return from_markdown(text, base=page, shift=1)
    if kind == "text/html":
        return from_html(text, base=page)
    return fence(clean(text).strip("\n"), language="text" if kind == "text/plain" else "rst")
