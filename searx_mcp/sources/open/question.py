"""A question as the open sources see it: what it asks for, what it is about, and which work it names."""

from dataclasses import dataclass
from enum import StrEnum


class IdentifierKind(StrEnum):
    """The names of one work or one report whatever the words around it."""

    DOI = "doi"
    ARXIV = "arxiv"
    PMID = "pmid"
    CVE = "cve"


@dataclass(frozen=True, slots=True)
class Identifier:
    """The name of one work.

    Attributes:
        kind: what sort of name it is.
        value: in its normal form: a DOI in lower case, an arXiv id without version.
    """

    kind: IdentifierKind
    value: str


class Signal(StrEnum):
    """Subjects of a question, which say where its answer stands; the value is for a person."""

    CODE = "code"
    ERROR = "error"
    TECHNOLOGY = "technology"
    PACKAGE = "package"
    REPOSITORY = "repository"
    MODEL = "model"
    DATASET = "dataset"
    VULNERABILITY = "vulnerability"
    OPINION = "opinion"
    HOW_TO = "how-to"
    DEFINITION = "definition"
    SCHOLARLY = "scholarly"
    BIOMEDICAL = "biomedical"
    FORMAL = "exact science"
    PLACE = "place"
    ENTITY = "person or entity"
    NEWS = "news"
    IMAGE = "image"
    VIDEO = "video"
    MUSIC = "music"
    SOUND = "sound"
    FILE = "file"


class Ecosystem(StrEnum):
    """Where a package lives."""

    NPM = "npm"
    CRATES = "crates"
    HUGGINGFACE = "huggingface"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A query that was read.

    Attributes:
        text: the query without `site:` words and without SearXNG's syntax; quoted phrases keep their quotes.
        words: all that it asks for, in its order and spelling: no function words, no frames such as
            `how do I`; a quoted phrase is one, without its quotes. Everything, if nothing else were left.
        keywords: at most six of them, those that say most.
        phrases: those of the words that were quoted.
        sites: domains of `site:` words.
        not_sites: domains of `-site:` words.
        identifier: the one work or report that is meant.
        signals: what it is about.
        ecosystem: where the package is that it asks for.
        topic: Stack Exchange's api name of the site that its subject belongs to; empty if none fits.
        music: `artist`, `release-group` or `recording`, as MusicBrainz calls them; empty if it does not say.
        mediatype: the Internet Archive's name of the sort of file it asks for; empty if it does not say.
        named: engines of the table that it asks for by name.
        secret: what of it looks like a secret, in words for a person; empty if nothing does.
    """

    text: str
    words: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    not_sites: tuple[str, ...] = ()
    identifier: Identifier | None = None
    signals: frozenset[Signal] = frozenset()
    ecosystem: Ecosystem | None = None
    topic: str = ""
    music: str = ""
    mediatype: str = ""
    named: frozenset[str] = frozenset()
    secret: str = ""

    @property
    def looks_secret(self) -> bool:
        """Tell whether it holds what should not be told to strangers."""
        return bool(self.secret)
