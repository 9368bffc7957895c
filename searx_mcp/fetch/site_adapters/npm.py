"""Pages of npm packages, from copies of their files on a public CDN, jsDelivr."""

import re
from collections.abc import Sequence
from typing import Final

from yarl import URL

from searx_mcp.content.values import Fields
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.fetch.site_adapters.adapter import (
    AdapterSource,
    Composed,
    Plan,
    address,
    composed,
    object_of,
    parts_of,
)
from searx_mcp.fetch.site_adapters.markdown import (
    MarkdownLink,
    bullets,
    capped,
    facts,
    from_markdown,
    front_matter,
    heading,
    joined,
    plain,
)

CDN: Final = "https://cdn.jsdelivr.net"
MAX_DEPENDENCIES: Final = 60
_README_NAMES: Final = ("README.md", "readme.md")
"""The CDN is case-sensitive, and both spellings are common."""

_HOST = re.compile(r"(?:www\.)?npm[a-z0-9-]*\.[a-z]+")
_NAME = re.compile(r"[A-Za-z0-9~][A-Za-z0-9._~-]{0,213}")
_SCOPE = re.compile(r"@[A-Za-z0-9~-][A-Za-z0-9._~-]{0,213}")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,100}")
_VIEWS: Final = frozenset({"", "readme", "dependencies"})
_REPOSITORY = re.compile(
    r"(?:git\+)?(?:https?|git|ssh)://(?:git@)?(?P<rest>[^@\s]{1,500}?)(?:\.git)?(?:#.*)?"
)
_SHORT_REPOSITORY = re.compile(r"(?:github:)?([A-Za-z0-9-]{1,100}/[A-Za-z0-9._-]{1,100})")


def plan_npm(url: URL) -> Plan | None:
    """Plan to read package.json and a README of `/package/NAME[/v/VERSION]`, scoped names too."""
    parts = parts_of(url)
    if not parts or not _HOST.fullmatch(url.host or "") or not url.is_default_port():
        return None
    if url.query.get("activeTab", "") not in _VIEWS:
        return None
    match parts:
        case ["package", scope, name, *rest] if _SCOPE.fullmatch(scope):
            folder: tuple[str, ...] = (scope,)
        case ["package", name, *rest]:
            folder = ()
        case _:
            return None
    match rest:
        case []:
            version = "latest"
        case ["v", version] if _VERSION.fullmatch(version):
            pass
        case _:
            return None
    if not _NAME.fullmatch(name):
        return None
    place = ("npm", *folder, f"{name}@{version}")
    readmes = tuple(
        AdapterSource(address(CDN, *place, readme), is_required=False) for readme in _README_NAMES
    )
    manifest = AdapterSource(address(CDN, *place, "package.json"), accept="application/json")
    page = str(url.with_fragment(None))
    return Plan(
        tier="npm",
        sources=(manifest, *readmes),
        compose=lambda answers: _compose(answers, page=page, is_latest=version == "latest"),
    )


def _compose(answers: Sequence[ReceivedPage | None], *, page: str, is_latest: bool) -> Composed:
    manifest = object_of(answers[0])
    name, version = manifest.line("name"), manifest.line("version")
    if not name or not version:
        raise ValueError("package.json names no package")
    readme = next((answer for answer in answers[1:] if answer is not None), None)
    notes = []
    if is_latest:
        notes.append("The CDN with the copies may get a new version up to 7 days late.")
    if readme is None:
        notes.append("The package has no README.md.")
    description = manifest.line("description", 1_000)
    return composed(
        joined(
            heading(1, f"{name} {version}"),
            plain(description, 1_000),
            _facts(manifest),
            _dependencies("Dependencies", manifest.pairs("dependencies")),
            _dependencies("Peer dependencies", manifest.pairs("peerDependencies")),
            _prose(readme, page) if readme is not None else "",
        ),
        title=f"{name} {version}",
        description=description,
        author=_person(manifest),
        is_truncated=readme is not None and readme.body.truncated,
        notes=tuple(notes),
    )


def _prose(readme: ReceivedPage, page: str) -> str:
    _, text = front_matter(readme.body.data.decode(errors="replace"))
    return from_markdown(text, base=page, shift=1)


def _facts(manifest: Fields) -> str:
    homepage = manifest.line("homepage", 500)
    repository = _repository(manifest)
    bugs = manifest.part("bugs").line("url", 500) or manifest.line("bugs", 500)
    engines = ", ".join(f"{name} {version}" for name, version in manifest.pairs("engines"))
    commands = [name for name, _ in manifest.pairs("bin")]
    return facts(
        [
            ("Licence", _licence(manifest)),
            ("Author", _person(manifest)),
            ("Engines", engines),
            ("Modules", "ECMAScript" if manifest.line("type") == "module" else ""),
            ("Commands", capped(commands, 20)),
            ("Keywords", capped(manifest.lines("keywords", 60), 30)),
            ("Homepage", MarkdownLink(homepage, homepage)),
            ("Repository", MarkdownLink(repository, repository)),
            ("Issues", MarkdownLink(bugs, bugs)),
        ]
    )


def _licence(manifest: Fields) -> str:
    """Return the SPDX expression, or what old packages have: an object, or a list of them."""
    return (
        manifest.line("license")
        or manifest.part("license").line("type")
        or capped([licence.line("type") for licence in manifest.parts("licenses")], 3)
    )


def _person(manifest: Fields) -> str:
    return manifest.part("author").line("name") or manifest.line("author")


def _repository(manifest: Fields) -> str:
    written = manifest.part("repository").line("url", 500) or manifest.line("repository", 500)
    if short := _SHORT_REPOSITORY.fullmatch(written):
        return f"https://github.com/{short[1]}"
    match = _REPOSITORY.fullmatch(written)
    return f"https://{match['rest']}" if match else ""


def _dependencies(title: str, pairs: list[tuple[str, str]]) -> str:
    if not pairs:
        return ""
    left = len(pairs) - MAX_DEPENDENCIES
    lines = [f"{name} {version}" for name, version in pairs[:MAX_DEPENDENCIES]]
    if left > 0:
        lines.append(f"and {left:,} more")
    return joined(heading(2, title), bullets(lines))
