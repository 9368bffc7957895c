"""All services at once, behind their real addresses."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Final

from searx_mcp.testing.web import HTML, FakePage, silent
from tests.doubles.open_sources.addresses import NPM_HOST
from tests.doubles.open_sources.call import JSON, TEXT, Call, read_call, text_page
from tests.doubles.open_sources.documents import Document
from tests.doubles.open_sources.shapes.arxiv import arxiv
from tests.doubles.open_sources.shapes.catalogues import gdelt, musicbrainz, photon
from tests.doubles.open_sources.shapes.discussions import hackernews, stackexchange
from tests.doubles.open_sources.shapes.github import github
from tests.doubles.open_sources.shapes.media import internetarchive, openverse, sepiasearch
from tests.doubles.open_sources.shapes.packages import crates, huggingface, npm
from tests.doubles.open_sources.shapes.papers import crossref, europepmc
from tests.doubles.open_sources.shapes.wikimedia import commons, wikipedia

Service = Callable[[Call, Sequence[Document]], FakePage]

NOW: Final = datetime(2026, 11, 22, 12, tzinfo=UTC)
"""The time at which the collections of the benchmark end, and at which the doubles answer."""

HOSTS: Final[Mapping[str, str]] = {
    "api.stackexchange.com": "stackexchange",
    "api.github.com": "github",
    "hn.algolia.com": "hackernews",
    "api.crossref.org": "crossref",
    "export.arxiv.org": "arxiv",
    "www.ebi.ac.uk": "europepmc",
    "api.openverse.org": "openverse",
    "commons.wikimedia.org": "commons",
    "archive.org": "internetarchive",
    "photon.komoot.io": "photon",
    "musicbrainz.org": "musicbrainz",
    NPM_HOST: "npm",
    "crates.io": "crates",
    "huggingface.co": "huggingface",
    "sepiasearch.org": "sepiasearch",
    "api.gdeltproject.org": "gdelt",
}
"""Which engine answers at which host; those of Wikipedia are one for each language."""

_WIKIPEDIA = re.compile(r"[a-z][a-z-]*\.wikipedia\.org")

_SERVICES: Final[Mapping[str, Service]] = {
    "wikipedia": wikipedia,
    "stackexchange": stackexchange,
    "github": github,
    "hackernews": hackernews,
    "crossref": crossref,
    "arxiv": arxiv,
    "europepmc": europepmc,
    "openverse": openverse,
    "commons": commons,
    "internetarchive": internetarchive,
    "photon": photon,
    "musicbrainz": musicbrainz,
    "npm": npm,
    "crates": crates,
    "huggingface": huggingface,
    "sepiasearch": sepiasearch,
    "gdelt": gdelt,
}

_REFUSALS: Final[Mapping[str, tuple[str, str]]] = {
    "stackexchange": (
        JSON,
        '{"error_id": 502, "error_name": "throttle_violation", "error_message": "too many requests"}',
    ),
    "github": (JSON, '{"message": "API rate limit exceeded", "documentation_url": ""}'),
    "gdelt": (TEXT, "Please limit requests to one every 5 seconds.\n"),
}
"""What services say that refuse; the others send a page of HTML, Wikipedia too."""

_REFUSAL: Final = (HTML, "<!DOCTYPE html><title>Error</title><h1>Too many requests</h1>")


class UnknownHostError(LookupError):
    """A host that no service stands behind, as a name that does not resolve."""


class _Fault(Enum):
    HANGS = auto()
    GARBLED = auto()


@dataclass(frozen=True, slots=True)
class _Refusal:
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)


class FakeOpenSources:
    """The open APIs over a set of documents.

    Every service has the documents whose id begins with its name, finds them in its own way, and
    answers in its documented shape with what engines read of it. Bodies are not compressed, though
    Stack Exchange always compresses its own.

    Args:
        documents: what there is, such as `load` reads.
        now: the time of all requests; ranges of time are counted back from it.

    Attributes:
        requests: the addresses asked for, in order.
    """

    def __init__(self, documents: Iterable[Document], *, now: datetime = NOW) -> None:
        self._collections: dict[str, list[Document]] = {name: [] for name in _SERVICES}
        for document in documents:
            self._collections[document.engine].append(document)
        self._now = now
        self._faults: dict[str, _Fault | _Refusal] = {}
        self.requests: list[str] = []

    def respond(self, url: str) -> FakePage:
        """Answer one request.

        Raises:
            ValueError: `url` is no address.
            UnknownHostError: no service has that host. The request is recorded all the same.
        """
        self.requests.append(url)
        call = read_call(url, now=self._now)
        engine = engine_at(call.host)
        fault = self._faults.get(call.host)
        if fault is _Fault.HANGS:
            return silent()
        if isinstance(fault, _Refusal):
            content_type, body = _REFUSALS.get(engine, _REFUSAL)
            page = text_page(body, status=fault.status, content_type=content_type)
            return replace(page, headers=fault.headers)
        page = _SERVICES[engine](call, self._collections[engine])
        if fault is _Fault.GARBLED:
            return replace(page, body=page.content[: len(page.content) // 2])
        return page

    def refuse(
        self, host: str, status: int = 429, headers: Mapping[str, str] | None = None
    ) -> None:
        """Turn every request to a host away, with the body its service refuses with.

        Raises:
            UnknownHostError: no service has that host.
        """
        engine_at(host)
        self._faults[host] = _Refusal(status, dict(headers or {}))

    def hang(self, host: str) -> None:
        """Never answer at a host. Raises `UnknownHostError` if no service has it."""
        engine_at(host)
        self._faults[host] = _Fault.HANGS

    def garble(self, host: str) -> None:
        """Break answers of a host off in the middle. Raises `UnknownHostError` if no service has it."""
        engine_at(host)
        self._faults[host] = _Fault.GARBLED

    def heal(self, host: str) -> None:
        """Let a host answer as it should again."""
        self._faults.pop(host, None)


def engine_at(host: str) -> str:
    """The name of the engine behind a host.

    Raises:
        UnknownHostError: there is none.
    """
    if host in HOSTS:
        return HOSTS[host]
    if _WIKIPEDIA.fullmatch(host):
        return "wikipedia"
    raise UnknownHostError(host)
