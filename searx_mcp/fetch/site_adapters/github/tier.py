"""Which pages of GitHub are read, and from where.

Most first parts of addresses that are no accounts are in the list that Mottie/github-reserved-names collects by
trying; those are left out that can stand before no second part.
"""

import re
from functools import partial
from typing import Final

from yarl import URL

from searx_mcp.fetch.site_adapters.address import address, is_at, parts_of
from searx_mcp.fetch.site_adapters.composing import raw_file
from searx_mcp.fetch.site_adapters.composing.raw_file import RawFile, lines_of
from searx_mcp.fetch.site_adapters.composing.release import PER_PAGE as RELEASES_PER_PAGE
from searx_mcp.fetch.site_adapters.github import gist, release, repository, thread
from searx_mcp.fetch.site_adapters.github.api import PER_PAGE, RAW, SITE, Api
from searx_mcp.fetch.site_adapters.github.repository import Place
from searx_mcp.fetch.site_adapters.interface import Compose, Plan, Source

RESERVED: Final = frozenset({
    "about", "account", "accelerator", "admin", "advisories", "api", "apps", "auth", "blog",
    "business", "careers", "case-studies", "changelog", "codespaces", "collections", "community",
    "contact", "copilot", "customer-stories", "customers", "dashboard", "dashboards", "developer",
    "discussions", "docs", "edu", "education", "enterprise", "enterprises", "events", "explore",
    "features", "gist", "gists", "github-copilot", "guides", "help", "home", "images", "issues",
    "jobs", "join", "learn", "legal", "login", "logout", "marketplace", "mobile", "models", "new",
    "news", "newsroom", "nonprofit", "nonprofits", "notifications", "oauth", "open-source",
    "organizations", "orgs", "pages", "partners", "plans", "premium-support", "press", "pricing",
    "projects", "pulls", "readme", "repositories", "repos", "resources", "search", "security",
    "services", "sessions", "settings", "showcases", "signin", "signup", "site", "site-policy",
    "solutions", "spark", "sponsors", "stars", "status", "stories", "support", "teams", "terms",
    "topics", "trending", "trust-center", "user", "user-attachments", "users", "watching",
    "why-github", "works-with",
})  # fmt: skip


_NAME: Final = "github"
_SITE_HOSTS: Final = frozenset({"github.com", "www.github.com"})
_RAW_HOSTS: Final = frozenset({"raw.githubusercontent.com"})
_GIST_HOSTS: Final = frozenset({"gist.github.com"})
_GISTS: Final = "https://gist.github.com"
_RAW_GISTS: Final = "https://gist.githubusercontent.com"
_RAW_GIST_HOSTS: Final = frozenset({"gist.githubusercontent.com"})

# An account of an enterprise has an underscore before the short code of the enterprise.
_OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})")
_REPOSITORY = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_NUMBER = re.compile(r"[1-9][0-9]{0,9}")
_GIST = re.compile(r"[0-9a-f]{20,32}|[0-9]{1,10}")
_REVISION = re.compile(r"[0-9a-f]{40}")
_README_TABS: Final = frozenset({"", "readme", "readme-ov-file"})
_REF_KINDS: Final = (("refs", "heads"), ("refs", "tags"))


class GithubTier:
    """Reads files, folders, repositories, issues, pull requests, releases and gists."""

    def __init__(self, *, token: str = "") -> None:
        self._api = Api(token)

    def plan(self, url: URL) -> Plan | None:
        """Plan to read raw files or the REST API; see `Tier`."""
        parts = parts_of(url)
        if parts is None:
            return None
        if is_at(url, _SITE_HOSTS):
            return self._of_site(url, parts)
        if is_at(url, _RAW_HOSTS):
            return self._of_raw(url, parts)
        if is_at(url, _GIST_HOSTS):
            return self._of_gist(parts)
        if is_at(url, _RAW_GIST_HOSTS):
            return _of_raw_gist(url, parts)
        return None

    def _of_site(self, url: URL, parts: tuple[str, ...]) -> Plan | None:
        match parts:
            case [owner, name, *rest] if _is_repository(owner, name):
                place = Place(owner, name.removesuffix(".git") if not rest else name)
            case _:
                return None
        plan: Plan | None = None
        match rest:
            case [] if url.query.get("tab", "") in _README_TABS:
                plan = self._repository(place)
            case ["blob" | "raw" as kind, _, _, *_]:
                plan = _file(url, place, tuple(rest[1:]), is_raw=kind == "raw")
            case ["tree", ref, *folder]:
                plan = self._folder(place, *_split(ref, folder))
            case ["issues", number] if _NUMBER.fullmatch(number):
                plan = self._thread(place, "issues", number)
            case ["pull", number] if _NUMBER.fullmatch(number):
                plan = self._thread(place, "pulls", number)
            case ["releases", *which] if not url.query_string:
                plan = self._releases(place, which)
        return plan

    def _repository(self, place: Place) -> Plan:
        return _plan(
            [
                self._api.source(*place.api),
                self._api.source(*place.api, "readme", is_required=False),
            ],
            partial(repository.compose, place=place),
        )

    def _folder(self, place: Place, ref: str, folder: tuple[str, ...]) -> Plan:
        query = {"ref": ref}
        return _plan(
            [
                self._api.source(*place.api, "contents", *folder, query=query),
                self._api.source(*place.api, "readme", *folder, query=query, is_required=False),
            ],
            partial(repository.compose_folder, place=place, ref=ref, folder=folder),
        )

    def _thread(self, place: Place, kind: str, number: str) -> Plan:
        query = {"per_page": str(PER_PAGE)}
        sources = [
            self._api.source(*place.api, kind, number),
            self._api.source(
                *place.api, "issues", number, "comments", query=query, is_required=False
            ),
        ]
        if kind == "pulls":
            sources.append(
                self._api.source(
                    *place.api, "pulls", number, "comments", query=query, is_required=False
                )
            )
        return _plan(sources, partial(thread.compose, place=place, number=int(number)))

    def _releases(self, place: Place, which: list[str]) -> Plan | None:
        match which:
            case []:
                query = {"per_page": str(RELEASES_PER_PAGE)}
                source = self._api.source(*place.api, "releases", query=query)
                return _plan([source], partial(release.compose_all, place=place))
            case ["latest"]:
                path: tuple[str, ...] = ("releases", "latest")
            case ["tag", *tag] if tag:
                path = ("releases", "tags", "/".join(tag))
            case _:
                return None
        source = self._api.source(*place.api, *path)
        return _plan([source], partial(release.compose_one, place=place))

    def _of_raw(self, url: URL, parts: tuple[str, ...]) -> Plan | None:
        match parts:
            case [owner, name, _, _, *_] if _is_repository(owner, name):
                return _file(url, Place(owner, name), parts[2:], is_raw=True)
            case _:
                return None

    def _of_gist(self, parts: tuple[str, ...]) -> Plan | None:
        match parts:
            case [name] | [_, name] if _GIST.fullmatch(name):
                path: tuple[str, ...] = ("gists", name)
            case [_, name, revision] if _GIST.fullmatch(name) and _REVISION.fullmatch(revision):
                path = ("gists", name, revision)
            case _:
                return None
        page = address(_GISTS, *parts)
        return _plan([self._api.source(*path)], partial(gist.compose, page=page))


def _of_raw_gist(url: URL, parts: tuple[str, ...]) -> Plan | None:
    match parts:
        case [_, _, "raw", *_, name]:
            source = Source(address(_RAW_GISTS, *parts))
            file = RawFile(name, base=source.url, lines=lines_of(url.fragment))
            return _plan([source], partial(raw_file.compose, file=file))
        case _:
            return None


def _plan(sources: list[Source], compose: Compose) -> Plan:
    return Plan(tier=_NAME, sources=tuple(sources), compose=compose)


def _is_repository(owner: str, name: str) -> bool:
    return (
        _OWNER.fullmatch(owner) is not None
        and owner.lower() not in RESERVED
        and _REPOSITORY.fullmatch(name) is not None
    )


def _split(ref: str, path: list[str]) -> tuple[str, tuple[str, ...]]:
    """A reference and the path behind it, as if no branch had a slash in its name.

    `refs/heads/NAME` is one, too. For a branch with a slash the API finds nothing, and the page
    itself is read.
    """
    if len(path) > 1 and (ref, path[0]) in _REF_KINDS:
        return "/".join([ref, *path[:2]]), tuple(path[2:])
    return ref, tuple(path)


def _file(url: URL, place: Place, ref_and_path: tuple[str, ...], *, is_raw: bool) -> Plan | None:
    """Plan to read a file; the server finds out where in the address its path begins."""
    _, path = _split(ref_and_path[0], list(ref_and_path[1:]))
    if not path:
        return None
    file = RawFile(
        path="/".join(path),
        base=address(SITE, place.owner, place.name, "blob", *ref_and_path),
        root=address(SITE, place.owner, place.name, "blob", *ref_and_path[: -len(path)]),
        lines=lines_of(url.fragment),
        as_source=url.query.get("plain") == "1" and not is_raw,
    )
    source = Source(address(RAW, place.owner, place.name, *ref_and_path))
    return _plan([source], partial(raw_file.compose, file=file))
