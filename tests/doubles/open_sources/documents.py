"""What the doubles can find: small documents, read from TOML."""

import re
import tomllib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

ENGINES: Final = (
    "wikipedia",
    "stackexchange",
    "github",
    "hackernews",
    "crossref",
    "arxiv",
    "europepmc",
    "openverse",
    "commons",
    "internetarchive",
    "photon",
    "musicbrainz",
    "npm",
    "crates",
    "huggingface",
    "sepiasearch",
    "gdelt",
)
"""The services that are doubled, by the names their documents begin with."""

UNDATED: Final = datetime(2020, 1, 1, tzinfo=UTC)
"""The date of a document without one, for the services that always give a date."""

_DATE_PARTS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Document:
    """One thing a service knows about.

    Attributes:
        id: the engine and a name, as in `wikipedia/tcp`.
        title: the title or name.
        text: what the service shows of it; may be empty.
        body: further words that are searched and not shown.
        language: two letters.
        site: the site of Stack Exchange, or the domain of a news article.
        kind: what the service tells apart: `issue`, `dataset`, `recording`, `audio`, `place/town`.
        container: what it is part of: a journal, the repository of an issue, the server of a video; of
            a repository its programming language.
        author: one name, or several with `; ` between them.
        date: `YYYY`, `YYYY-MM`, `YYYY-MM-DD` or with a time; empty if unknown.
        url: where it leads, if not to the service itself.
        identifier: the number of a preprint with its version, or a PMID.
        doi, version, licence: as named.
        tags: keywords, topics or subjects.
        points: what the service counts first: stars, votes, downloads, views or citations.
        comments: what it counts next: answers, comments or likes.
        seconds: the length of a sound or a video.
        width, height: of an image, in pixels.
        latitude, longitude: of a place, in degrees.
        address: parts of the address of a place; of a news article the `country` of its source.
    """

    id: str
    title: str
    text: str = ""
    body: str = ""
    language: str = "en"
    site: str = ""
    kind: str = ""
    container: str = ""
    author: str = ""
    date: str = ""
    url: str = ""
    identifier: str = ""
    doi: str = ""
    version: str = ""
    licence: str = ""
    tags: tuple[str, ...] = ()
    points: int = 0
    comments: int = 0
    seconds: int = 0
    width: int = 0
    height: int = 0
    latitude: float = 0.0
    longitude: float = 0.0
    address: Mapping[str, str] = field(default_factory=dict)

    @property
    def engine(self) -> str:
        """The service it belongs to."""
        return self.id.partition("/")[0]

    @property
    def slug(self) -> str:
        """Its name without the service."""
        return self.id.partition("/")[2]

    @property
    def number(self) -> int:
        """A positive number that stands for it wherever the service has one; the same in every run."""
        return zlib.crc32(self.id.encode()) % 90_000_000 + 10_000_000

    @property
    def authors(self) -> list[str]:
        """Its authors, one by one."""
        return [name for name in self.author.split("; ") if name]

    @property
    def moment(self) -> datetime:
        """Its date as a time in UTC, the first of what is not told; `UNDATED` without a date."""
        parts = [int(part) for part in _DATE_PARTS.findall(self.date)][:6]
        if not parts:
            return UNDATED
        year, month, day, hour, minute, second = [*parts, *(0, 1, 1, 0, 0, 0)[len(parts) :]]
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)

    @property
    def stamp(self) -> str:
        """That time as `2026-03-02T00:00:00Z`."""
        return self.moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    @property
    def searched(self) -> str:
        """All its words: title, text, body, keywords and authors."""
        return "\n".join((self.title, self.text, self.body, " ".join(self.tags), self.author))


def load(folder: Path) -> tuple[Document, ...]:
    """Read all documents of a folder.

    Args:
        folder: with TOML files, of which the tables `[[document]]` are read; keys are the attributes
            of `Document`. Files without such tables are passed over.

    Raises:
        ValueError: a file is not TOML, a table has a key that is none, lacks `id` or `title`, is
            of an unknown engine, or repeats an id.
    """
    known = {each.name for each in fields(Document)}
    found: dict[str, Document] = {}
    for path in sorted(folder.glob("*.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8")).get("document", []):
            if not known >= row.keys() >= {"id", "title"}:
                raise ValueError(f"{path.name}: a document has other keys: {sorted(row)}")
            # TOML has lists where a document has tuples.
            document = Document(**(row | {"tags": tuple(row.get("tags", ()))}))
            if document.engine not in ENGINES or document.id in found:
                raise ValueError(f"{path.name}: unknown engine or repeated id: {document.id}")
            found[document.id] = document
    return tuple(found.values())
