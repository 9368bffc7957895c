"""GitLab, at gitlab.com and wherever an address has its `/-/`.

Raw files come from the site, all else from the REST API, which shows what is public without a login;
comments it shows to members only.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from yarl import URL

from searx_mcp.content.fields import Fields
from searx_mcp.fetch.site_adapters.address import address, is_at, origin_of, parts_of
from searx_mcp.fetch.site_adapters.composing import raw_file
from searx_mcp.fetch.site_adapters.composing.fields import object_of
from searx_mcp.fetch.site_adapters.composing.prose import from_markdown
from searx_mcp.fetch.site_adapters.composing.raw_file import RawFile, lines_of
from searx_mcp.fetch.site_adapters.composing.thread import Thread, write
from searx_mcp.fetch.site_adapters.composing.writing import capped, facts, heading, joined, plain
from searx_mcp.fetch.site_adapters.interface import Compose, Composed, Material, Plan, Source

_HOSTS: Final = frozenset({"gitlab.com", "www.gitlab.com"})
_OTHERS: Final = frozenset({"github.com", "www.github.com", "codeberg.org", "huggingface.co"})
_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9_.-]{1,255}")
_NUMBER = re.compile(r"[1-9][0-9]{0,9}")
_MAX_DEPTH: Final = 21  # groups inside each other, and the project

# GitLab's "Reserved project and group names"; the second with what followed a project in addresses
# before there was `/-/`.
_RESERVED_ROOTS: Final = frozenset({
    "-", "admin", "api", "assets", "dashboard", "explore", "files", "groups", "health_check", "help",
    "import", "jwt", "login", "oauth", "profile", "projects", "public", "s", "search", "sitemap",
    "snippets", "unsubscribes", "uploads", "users", "v2",
})  # fmt: skip
_RESERVED_PROJECTS: Final = frozenset({
    "-", "badges", "blame", "blob", "builds", "commits", "create", "create_dir", "edit", "files",
    "find_file", "issues", "merge_requests", "new", "preview", "raw", "refs", "releases", "tags",
    "tree", "update", "wikis",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Project:
    """A project of an instance."""

    origin: str
    path: tuple[str, ...]

    @property
    def title(self) -> str:
        return "/".join(self.path)

    def page(self, *parts: str) -> str:
        return address(self.origin, *self.path, *parts)

    def api(self, *parts: str, query: dict[str, str] | None = None) -> str:
        return address(self.origin, "api", "v4", "projects", self.title, *parts, query=query)


class GitlabTier:
    """Reads files, projects, issues and merge requests."""

    def plan(self, url: URL) -> Plan | None:
        """Plan to read raw files or the REST API; see `Tier`."""
        parts = parts_of(url)
        if not parts or url.host in _OTHERS:
            return None
        if "-" in parts:
            cut = parts.index("-")
            project, rest = parts[:cut], parts[cut + 1 :]
        elif is_at(url, _HOSTS):
            project, rest = parts, ()
        else:
            return None
        if not _is_project(project):
            return None
        place = _Project(origin_of(url), project)
        plan: Plan | None = None
        match rest:
            case [] if "-" not in parts:
                plan = _root(place)
            case ["blob" | "raw", _, _, *_]:
                plan = _file(url, place, rest)
            case ["issues" | "work_items", number] if _NUMBER.fullmatch(number):
                plan = _thread(place, "issues", number)
            case ["merge_requests", number] if _NUMBER.fullmatch(number):
                plan = _thread(place, "merge_requests", number)
        return plan


def _plan(sources: list[Source], compose: Compose) -> Plan:
    return Plan(tier="gitlab", sources=tuple(sources), compose=compose)


def _is_project(path: tuple[str, ...]) -> bool:
    return (
        1 < len(path) <= _MAX_DEPTH
        and path[0].lower() not in _RESERVED_ROOTS
        and not any(part.lower() in _RESERVED_PROJECTS for part in path[1:])
        and all(_NAME.fullmatch(part) for part in path)
    )


def _file(url: URL, place: _Project, rest: tuple[str, ...]) -> Plan:
    """Plan to read a file; the server finds out where in the address its path begins."""
    kind, ref, *path = rest
    file = RawFile(
        path="/".join(path),
        base=place.page("-", "blob", ref, *path),
        root=place.page("-", "blob", ref),
        lines=lines_of(url.fragment),
        as_source=url.query.get("plain") == "1" and kind == "blob",
    )
    source = Source(place.page("-", "raw", ref, *path))
    return _plan([source], partial(raw_file.compose, file=file))


def _thread(place: _Project, kind: str, number: str) -> Plan:
    source = Source(place.api(kind, number), accept="application/json")
    return _plan([source], partial(_compose_thread, place=place, kind=kind))


def _root(place: _Project) -> Plan:
    readme = place.api("repository", "files", "README.md", "raw", query={"ref": "HEAD"})
    return _plan(
        [
            Source(place.api(query={"license": "true"}), accept="application/json"),
            Source(readme, is_required=False),
        ],
        partial(_compose_root, place=place),
    )


def _compose_root(materials: Sequence[Material | None], *, place: _Project) -> Composed:
    found = object_of(materials[0])
    title = found.line("path_with_namespace", 500)
    if not title:
        raise ValueError("the answer names no project")
    readme = materials[1]
    notes = () if readme is not None else ("The project has no README.md.",)
    if found.flag("archived"):
        notes = ("The project is archived: nobody works on it.", *notes)
    description = found.line("description", 1_000)
    return Composed(
        markdown=joined(
            heading(1, title),
            plain(description, 1_000),
            facts(
                [
                    ("Topics", capped(found.lines("topics", 60), 30)),
                    ("Licence", found.part("license").line("name")),
                    ("Stars", found.count("star_count")),
                    ("Forks", found.count("forks_count")),
                    ("Default branch", found.line("default_branch")),
                    ("Last activity", found.day("last_activity_at")),
                ]
            ),
            _prose(readme, place) if readme is not None else "",
        ),
        title=title,
        description=description,
        author=found.part("namespace").line("name"),
        published=found.line("created_at"),
        modified=found.line("last_activity_at"),
        is_truncated=readme is not None and readme.is_truncated,
        notes=notes,
    )


def _prose(readme: Material, place: _Project) -> str:
    root = place.page("-", "blob", "HEAD")
    text = readme.data.decode(errors="replace")
    return from_markdown(text, base=f"{root}/README.md", root=root, shift=1)


def _compose_thread(
    materials: Sequence[Material | None], *, place: _Project, kind: str
) -> Composed:
    found = object_of(materials[0])
    title, number = found.line("title", 300), found.count("iid")
    if not title or number is None:
        raise ValueError("the answer names no issue")
    comments = found.count("user_notes_count")
    note = f"GitLab shows the {comments:,} comments to members only." if comments else ""
    is_request = kind == "merge_requests"
    thread = Thread(
        title=f"{title} ({'!' if is_request else '#'}{number})",
        place=place.title,
        author=found.part("author").line("username"),
        created=found.line("created_at"),
        updated=found.line("updated_at"),
        labels=tuple(found.lines("labels")),
        facts=(
            ("Kind", "Merge request" if is_request else "Issue"),
            ("State", found.line("state")),
            ("From", found.line("source_branch")),
            ("Into", found.line("target_branch")),
            ("Merged", found.day("merged_at")),
            ("Milestone", found.part("milestone").line("title")),
            ("Assignees", _names(found.parts("assignees"))),
            ("Closed", found.day("closed_at")),
        ),
        body=found.text("description"),
        notes=(note,) if note else (),
    )
    return write(thread, base=place.page("-", kind, str(number)))


def _names(people: Sequence[Fields]) -> str:
    return capped([person.line("username") for person in people], 20)
