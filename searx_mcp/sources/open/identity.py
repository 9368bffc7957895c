"""Which rows are of one thing, and which engines are of one collection."""

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from searx_mcp.models.hits import Hit
from searx_mcp.sources.open.identifiers import doi_in, identifier_at, work
from searx_mcp.sources.open.table import ENGINES

_PARTS: Final = frozenset(
    {"images", "videos", "audio", "files", "datasets", "spaces", "models", "issues", "repositories"}
)
"""What SearXNG writes behind the name of a collection for a part of it. `github code` is not among them:
it looks into files, and knows other things than the search for repositories."""
_NOT_A_NAME = re.compile(r"[\W_]+")


def _voters() -> dict[str, str]:
    voters = {}
    for engine in ENGINES:
        for name in (engine.name, engine.title, *engine.also):
            voters[_NOT_A_NAME.sub("", name.lower())] = engine.name
    return voters


_VOTERS: Final = _voters()

_STACK_EXCHANGE: Final = (
    "stackexchange.com", "stackoverflow.com", "serverfault.com", "superuser.com", "askubuntu.com",
    "mathoverflow.net", "stackapps.com",
)  # fmt: skip
_QUESTION = re.compile(r"/(q|questions|a)/([0-9]{1,12})(?:/|$)")
_REPOSITORY = re.compile(
    r"/([A-Za-z0-9](?:[A-Za-z0-9-]{0,38}))/([\w.-]{1,100}?)(?:\.git)?(?:/(issues|pull|discussions)/([0-9]{1,9}))?/?"
)
_NOT_OWNERS: Final = frozenset(
    {
        "about", "apps", "collections", "customer-stories", "enterprise", "events", "explore",
        "features", "login", "marketplace", "notifications", "orgs", "pricing", "readme", "search",
        "security", "settings", "site", "solutions", "sponsors", "stars", "topics", "trending", "users",
    }
)  # fmt: skip
"""First parts of paths of github.com that are no accounts."""
_WIKI_PATH = re.compile(r"/(?:wiki|zh(?:-[a-z]{2,4})?|sr-e[cl])/(.{1,500})")
_UPLOAD = re.compile(r"/wikipedia/commons/(?:thumb/)?[0-9a-f]/[0-9a-f]{2}/([^/]{1,500})(?:/[^/]*)?")
_FILE: Final = re.compile(r"(?:file|image):", re.IGNORECASE)
_OSM_PATH = re.compile(r"/(node|way|relation)/([0-9]{1,19})/?")
_OSM_TYPES: Final = {"n": "node", "w": "way", "r": "relation"}


def voter(engine_name: str) -> str:
    """The name under which an engine votes: one collection has one vote, however it was asked.

    Args:
        engine_name: as SearXNG or the table spells it, in any case.

    Returns:
        The name of the row of the table that stands for the same collection; the given name in lower
        case for any other.
    """
    name = " ".join(engine_name.lower().split())
    head, _, part = name.replace(".", " ").rpartition(" ")
    known = _VOTERS.get(_NOT_A_NAME.sub("", name))
    if known is None and (part in _PARTS or "." in name):
        known = _VOTERS.get(_NOT_A_NAME.sub("", head))
    return known or name


def identity(hit: Hit) -> str:
    """The key of the thing that a row is about.

    Rows with the same key are one thing, whichever engine found them at whichever address.

    Args:
        hit: of any engine.

    Returns:
        `doi:`, `arxiv:`, `pmid:`, `stackexchange:`, `github:`, `commons:`, `osm:`, `wikipedia:` or `hackernews:`
        and what names the thing there; empty where nothing tells.
    """
    if hit.paper and (doi := doi_in(hit.paper.doi)):
        found = work(doi)
        return f"{found.kind}:{found.value}"
    if hit.place and hit.place.osm_id is not None and hit.place.osm_type:
        kind = hit.place.osm_type.lower()
        return f"osm:{_OSM_TYPES.get(kind, kind)}/{hit.place.osm_id}"
    return next(filter(None, map(_of_address, _addresses(hit))), "")


def _addresses(hit: Hit) -> Iterator[str]:
    """The row's own address, then those of its file: Openverse links Commons by a number."""
    yield hit.url
    own = (
        hit.image and hit.image.url,
        hit.media and hit.media.audio_url,
        hit.file and hit.file.embed_url,
    )
    yield from (url for url in own if url and "://upload.wikimedia.org/" in url)


def _of_address(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.").rstrip(".")
    except ValueError:
        return ""
    if found := identifier_at(url):
        return f"{found.kind}:{found.value}"
    match host:
        case "github.com":
            key = _of_github(parts.path)
        case "news.ycombinator.com":
            number = parse_qs(parts.query).get("id", [""])[0] if parts.path == "/item" else ""
            key = f"hackernews:{number}" if number.isascii() and number.isdigit() else ""
        case "openstreetmap.org":
            place = _OSM_PATH.fullmatch(parts.path)
            key = f"osm:{place[1]}/{place[2]}" if place else ""
        case _ if host.endswith((".wikipedia.org", ".wikimedia.org")):
            key = _of_wiki(host, parts)
        case _:
            key = _of_question(host, parts.path)
    return key


def _of_question(host: str, path: str) -> str:
    if not any(host == site or host.endswith(f".{site}") for site in _STACK_EXCHANGE):
        return ""
    question = _QUESTION.match(path)
    if question is None:
        return ""
    kind = "answer:" if question[1] == "a" else ""
    return f"stackexchange:{host}:{kind}{int(question[2])}"


def _of_github(path: str) -> str:
    found = _REPOSITORY.fullmatch(path)
    if found is None or found[1].lower() in _NOT_OWNERS:
        return ""
    # An issue and a pull request never share a number; a discussion does not share one with them either.
    number = f"#{int(found[4])}" if found[4] else ""
    return f"github:{found[1]}/{found[2]}{number}".lower()


def _of_wiki(host: str, parts: SplitResult) -> str:
    if host == "upload.wikimedia.org":
        upload = _UPLOAD.fullmatch(parts.path)
        return f"commons:{_title(f'File:{upload[1]}')}" if upload else ""
    query = parse_qs(parts.query)
    if query.keys() & {"action", "oldid", "diff", "curid"}:
        return ""
    page = _WIKI_PATH.fullmatch(parts.path)
    title = _title(page[1] if page else query.get("title", [""])[0])
    wiki = host.replace(".m.", ".")
    if not title:
        return ""
    if wiki == "commons.wikimedia.org":
        is_file = _FILE.match(title)
        return f"commons:{_title(f'File:{title[is_file.end() :]}') if is_file else title}"
    language, _, rest = wiki.partition(".")
    return f"wikipedia:{language}:{title}" if rest == "wikipedia.org" else ""


def _title(text: str) -> str:
    """A title as MediaWiki keeps it: with spaces, and a capital letter at the beginning of each part."""
    title = " ".join(unquote(text).replace("_", " ").split())
    name_space, colon, rest = title.partition(":")
    if colon and _FILE.fullmatch(f"{name_space}:"):
        rest = rest.strip()
        return f"File:{rest[:1].upper()}{rest[1:]}"
    return f"{title[:1].upper()}{title[1:]}"


def host_lies_on(url: str, site: str) -> bool:
    """Whether an address lies on a domain or below it.

    Args:
        url: an absolute address.
        site: a domain in lower case.
    """
    try:
        host = (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return False
    return host == site or host.endswith(f".{site}")
