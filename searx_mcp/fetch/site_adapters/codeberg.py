"""Codeberg, and files of other Forgejo and Gitea sites, from raw files and the REST API."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from yarl import URL

from searx_mcp.content.fields import Fields
from searx_mcp.fetch.site_adapters.address import address, is_at, origin_of, parts_of
from searx_mcp.fetch.site_adapters.composing import raw_file
from searx_mcp.fetch.site_adapters.composing.fields import list_of, object_of
from searx_mcp.fetch.site_adapters.composing.prose import from_markdown
from searx_mcp.fetch.site_adapters.composing.raw_file import RawFile, lines_of
from searx_mcp.fetch.site_adapters.composing.release import PER_PAGE, write_all, write_one
from searx_mcp.fetch.site_adapters.composing.thread import comment_of_forge, of_forge, write
from searx_mcp.fetch.site_adapters.composing.writing import (
    Link,
    capped,
    facts,
    heading,
    joined,
    plain,
)
from searx_mcp.fetch.site_adapters.interface import Compose, Composed, Material, Plan, Source

_HOSTS: Final = frozenset({"codeberg.org", "www.codeberg.org"})
_OTHERS: Final = frozenset({"github.com", "www.github.com", "gitlab.com", "huggingface.co"})
_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}")
_NUMBER = re.compile(r"[1-9][0-9]{0,9}")

# models/user/user.go of Forgejo and Gitea: names that no account may have.
_RESERVED: Final = frozenset({
    ".well-known", "admin", "api", "assets", "attachments", "avatar", "avatars", "captcha",
    "commits", "debug", "error", "explore", "favicon.ico", "ghost", "issues", "login",
    "manifest.json", "metrics", "milestones", "new", "notifications", "org", "pulls", "raw", "repo",
    "repo-avatars", "robots.txt", "search", "serviceworker.js", "ssh_info", "swagger.v1.json",
    "user", "v2",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Repository:
    """A repository of a site."""

    origin: str
    owner: str
    name: str

    @property
    def title(self) -> str:
        return f"{self.owner}/{self.name}"

    def page(self, *parts: str) -> str:
        return address(self.origin, self.owner, self.name, *parts)

    def source(
        self, *parts: str, query: dict[str, str] | None = None, is_required: bool = True
    ) -> Source:
        path = ("api", "v1", "repos", self.owner, self.name, *parts)
        return Source(
            address(self.origin, *path, query=query),
            accept="application/json",
            is_required=is_required,
        )


class CodebergTier:
    """Reads files of any such site; repositories, issues, pull requests and releases of Codeberg."""

    def plan(self, url: URL) -> Plan | None:
        """Plan to read raw files or the REST API; see `Tier`."""
        match parts_of(url):
            case [owner, name, *rest] if _is_repository(owner, name) and url.host not in _OTHERS:
                place = _Repository(origin_of(url), owner, name)
            case _:
                return None
        match rest:
            case ["src" | "raw" | "media", "branch" | "tag" | "commit", _, _, *_]:
                return _file(url, place, rest)
            case _ if is_at(url, _HOSTS):
                return _of_api(url, place, rest)
            case _:
                return None


def _of_api(url: URL, place: _Repository, rest: list[str]) -> Plan | None:
    match rest:
        case []:
            readme = place.source("raw", "README.md", is_required=False)
            return _plan([place.source(), readme], partial(_compose_root, place=place))
        case ["issues" | "pulls" as kind, number] if _NUMBER.fullmatch(number):
            comments = place.source("issues", number, "comments", is_required=False)
            return _plan(
                [place.source(kind, number), comments],
                partial(_compose_thread, place=place, number=int(number), kind=kind),
            )
        case ["releases"] if not url.query_string:
            source = place.source("releases", query={"limit": str(PER_PAGE)})
            return _plan([source], partial(_compose_releases, place=place))
        case ["releases", "latest"]:
            return _plan([place.source(*rest)], partial(_compose_release, place=place))
        case ["releases", "tag", *tag] if tag:
            source = place.source("releases", "tags", "/".join(tag))
            return _plan([source], partial(_compose_release, place=place))
        case _:
            return None


def _plan(sources: list[Source], compose: Compose) -> Plan:
    return Plan(tier="codeberg", sources=tuple(sources), compose=compose)


def _is_repository(owner: str, name: str) -> bool:
    return (
        _NAME.fullmatch(owner) is not None
        and owner.lower() not in _RESERVED
        and _NAME.fullmatch(name) is not None
        and not name.endswith((".rss", ".atom"))
    )


def _file(url: URL, place: _Repository, rest: list[str]) -> Plan:
    """Plan to read a file; the server finds out where in the address its path begins."""
    how, kind, ref, *path = rest
    file = RawFile(
        path="/".join(path),
        base=place.page("src", kind, ref, *path),
        root=place.page("src", kind, ref),
        lines=lines_of(url.fragment),
        as_source=url.query.get("display") == "source",
    )
    source = Source(place.page("media" if how == "media" else "raw", kind, ref, *path))
    return _plan([source], partial(raw_file.compose, file=file))


def _compose_root(materials: Sequence[Material | None], *, place: _Repository) -> Composed:
    found = object_of(materials[0])
    title = found.line("full_name")
    if not title:
        raise ValueError("the answer names no repository")
    branch = found.line("default_branch")
    readme = materials[1]
    notes = () if readme is not None else ("The repository has no README.md.",)
    if found.flag("archived"):
        notes = ("The repository is archived: nobody works on it.", *notes)
    description, website = found.line("description", 1_000), found.line("website", 500)
    prose = ""
    if readme is not None:
        root = place.page("src", "branch", branch or "main")
        text = readme.data.decode(errors="replace")
        prose = from_markdown(text, base=f"{root}/README.md", root=root, shift=1)
    return Composed(
        markdown=joined(
            heading(1, title),
            plain(description, 1_000),
            facts(
                [
                    ("Website", Link(website, website)),
                    ("Topics", capped(found.lines("topics", 60), 30)),
                    ("Language", found.line("language")),
                    ("Licence", capped(found.lines("licenses"), 3)),
                    ("Stars", found.count("stars_count")),
                    ("Forks", found.count("forks_count")),
                    ("Open issues", found.count("open_issues_count")),
                    ("Default branch", branch),
                    ("Updated", found.day("updated_at")),
                    ("Fork of", found.part("parent").line("full_name")),
                ]
            ),
            prose,
        ),
        title=title,
        description=description,
        author=found.part("owner").line("login"),
        published=found.line("created_at"),
        modified=found.line("updated_at"),
        is_truncated=readme is not None and readme.is_truncated,
        notes=notes,
    )


def _compose_thread(
    materials: Sequence[Material | None], *, place: _Repository, number: int, kind: str
) -> Composed:
    found = object_of(materials[0])
    is_pull = kind == "pulls" or "pull_request" in found
    thread = of_forge(
        found,
        place=place.title,
        number=number,
        kind="Pull request" if is_pull else "Issue",
        state=_state(found),
        more=[
            ("From", found.part("head").line("label")),
            ("Into", found.part("base").line("label")),
            ("Merged", found.day("merged_at")),
        ],
    )
    if materials[1] is None:
        thread = replace(thread, notes=("Comments could not be had.",))
    else:
        listed, _ = list_of(materials[1])
        thread = replace(thread, comments=tuple(map(comment_of_forge, listed)))
    return write(thread, base=place.page(kind, str(number)))


def _state(found: Fields) -> str:
    if found.flag("merged") or found.part("pull_request").flag("merged"):
        return "merged"
    return found.line("state")


def _compose_releases(materials: Sequence[Material | None], *, place: _Repository) -> Composed:
    releases, is_whole = list_of(materials[0])
    return write_all(releases, is_whole=is_whole, place=place.title, base=place.page())


def _compose_release(materials: Sequence[Material | None], *, place: _Repository) -> Composed:
    return write_one(object_of(materials[0]), place=place.title, base=place.page())
