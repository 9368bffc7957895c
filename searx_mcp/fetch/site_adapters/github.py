"""GitHub: which pages are read, and from where: raw files and the REST API.

Without a token the API allows 60 requests an hour from one address, so a page uses as few as possible. The
reserved names are mostly from Mottie/github-reserved-names, which collects them by trying; names that never
come before a second part are left out.
"""

import re
from functools import partial
from typing import Final

from yarl import URL

from searx_mcp.fetch.site_adapters.adapter import (
    AdapterSource,
    Compose,
    Plan,
    address,
    is_at,
    lines_of,
    parts_of,
)
from searx_mcp.fetch.site_adapters.github_pages import (
    MAX_RELEASES,
    SITE,
    Repository,
    compose_folder,
    compose_gist,
    compose_release,
    compose_releases,
    compose_repository,
    compose_thread,
)
from searx_mcp.fetch.site_adapters.raw_files import RawFile, plan_file

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
_RAW: Final = "https://raw.githubusercontent.com"
_RAW_HOSTS: Final = frozenset({"raw.githubusercontent.com"})
_GISTS: Final = "https://gist.github.com"
_GIST_HOSTS: Final = frozenset({"gist.github.com"})
_RAW_GISTS: Final = "https://gist.githubusercontent.com"
_RAW_GIST_HOSTS: Final = frozenset({"gist.githubusercontent.com"})
_API: Final = "https://api.github.com"
_ACCEPT: Final = "application/vnd.github+json"
_VERSION: Final = "2026-03-10"
_PER_PAGE: Final = 100
"""Comments in one answer: the API's maximum."""

# Enterprise accounts have an underscore before the enterprise's short code.
_OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})")
_REPOSITORY = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_NUMBER = re.compile(r"[1-9][0-9]{0,9}")
_GIST = re.compile(r"[0-9a-f]{20,32}|[0-9]{1,10}")
_REVISION = re.compile(r"[0-9a-f]{40}")
_README_TABS: Final = frozenset({"", "readme", "readme-ov-file"})
_REF_KINDS: Final = (("refs", "heads"), ("refs", "tags"))


class GithubAdapter:
    """Reads files, folders, repositories, issues, pull requests, releases and gists.

    Args:
        token: for the API, the only host that receives it.
    """

    def __init__(self, *, token: str = "") -> None:
        self._headers = {"X-GitHub-Api-Version": _VERSION}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def plan(self, url: URL) -> Plan | None:
        """Plan to read raw files or the REST API; see `Adapter`."""
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
                place = Repository(owner, name.removesuffix(".git") if not rest else name)
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

    def _repository(self, place: Repository) -> Plan:
        return _plan(
            [
                self._source(*place.api),
                self._source(*place.api, "readme", is_required=False),
            ],
            partial(compose_repository, place=place),
        )

    def _folder(self, place: Repository, ref: str, folder: tuple[str, ...]) -> Plan:
        query = {"ref": ref}
        return _plan(
            [
                self._source(*place.api, "contents", *folder, query=query),
                self._source(*place.api, "readme", *folder, query=query, is_required=False),
            ],
            partial(compose_folder, place=place, ref=ref, folder=folder),
        )

    def _thread(self, place: Repository, kind: str, number: str) -> Plan:
        query = {"per_page": str(_PER_PAGE)}
        sources = [
            self._source(*place.api, kind, number),
            self._source(*place.api, "issues", number, "comments", query=query, is_required=False),
        ]
        if kind == "pulls":
            sources.append(
                self._source(
                    *place.api, "pulls", number, "comments", query=query, is_required=False
                )
            )
        return _plan(sources, partial(compose_thread, place=place, number=int(number)))

    def _releases(self, place: Repository, which: list[str]) -> Plan | None:
        match which:
            case []:
                query = {"per_page": str(MAX_RELEASES)}
                source = self._source(*place.api, "releases", query=query)
                return _plan([source], partial(compose_releases, place=place))
            case ["latest"]:
                path: tuple[str, ...] = ("releases", "latest")
            case ["tag", *tag] if tag:
                path = ("releases", "tags", "/".join(tag))
            case _:
                return None
        source = self._source(*place.api, *path)
        return _plan([source], partial(compose_release, place=place))

    def _of_raw(self, url: URL, parts: tuple[str, ...]) -> Plan | None:
        match parts:
            case [owner, name, _, _, *_] if _is_repository(owner, name):
                return _file(url, Repository(owner, name), parts[2:], is_raw=True)
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
        return _plan([self._source(*path)], partial(compose_gist, page=page))

    def _source(
        self, *parts: str, query: dict[str, str] | None = None, is_required: bool = True
    ) -> AdapterSource:
        """Make a source for a JSON answer of the API, from decoded path parts."""
        return AdapterSource(
            address(_API, *parts, query=query),
            accept=_ACCEPT,
            headers=dict(self._headers),
            is_required=is_required,
        )


def _of_raw_gist(url: URL, parts: tuple[str, ...]) -> Plan | None:
    match parts:
        case [_, _, "raw", *_, name]:
            source = AdapterSource(address(_RAW_GISTS, *parts))
            file = RawFile(name, base=source.url, lines=lines_of(url.fragment))
            return plan_file(_NAME, source, file)
        case _:
            return None


def _plan(sources: list[AdapterSource], compose: Compose) -> Plan:
    return Plan(tier=_NAME, sources=tuple(sources), compose=compose)


def _is_repository(owner: str, name: str) -> bool:
    return (
        _OWNER.fullmatch(owner) is not None
        and owner.lower() not in RESERVED
        and _REPOSITORY.fullmatch(name) is not None
    )


def _split(ref: str, path: list[str]) -> tuple[str, tuple[str, ...]]:
    """Split a reference from the path after it, as if no branch name contained a slash.

    `refs/heads/NAME` counts as one reference, too. If a branch name has a slash, the API finds nothing, and the
    page itself is read.
    """
    if len(path) > 1 and (ref, path[0]) in _REF_KINDS:
        return "/".join([ref, *path[:2]]), tuple(path[2:])
    return ref, tuple(path)


def _file(
    url: URL, place: Repository, ref_and_path: tuple[str, ...], *, is_raw: bool
) -> Plan | None:
    """Plan to read a file; the server decides where in the address its path begins."""
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
    source = AdapterSource(address(_RAW, place.owner, place.name, *ref_and_path))
    return plan_file(_NAME, source, file)
