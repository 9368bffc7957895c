"""Reads a query: what it asks for, what it is about, what it names and what it should not tell."""

from dataclasses import dataclass

from searx_mcp.open_sources.identifiers import identifier_in
from searx_mcp.open_sources.interface import Identifier
from searx_mcp.open_sources.routing.frames import content, keywords
from searx_mcp.open_sources.routing.parts import cut, grams
from searx_mcp.open_sources.routing.secrecy import secret_in
from searx_mcp.open_sources.routing.signals import look
from searx_mcp.open_sources.routing.subjects import Ecosystem, Signal
from searx_mcp.open_sources.routing.topics import DEFAULT, topic_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a query says.

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
        """Whether it holds what should not be told to strangers."""
        return bool(self.secret)


def read(text: str) -> Question:
    """Read a query; never raises, and takes time in proportion to the length.

    Args:
        text: any text, as the caller wrote it or neutralised for an instance.
    """
    taken = cut(text)
    told = grams(taken.parts)
    identifier = identifier_in(taken.text)
    seen = look(taken.text, taken.parts, told, identifier=identifier, filetype=taken.filetype)
    is_code = Signal.CODE in seen.signals
    asked = content(taken.parts, is_code=is_code, is_news=Signal.NEWS in seen.signals)
    return Question(
        text=taken.text,
        words=tuple(part.text for part in asked),
        keywords=keywords(asked),
        phrases=tuple(part.text for part in asked if part.is_phrase),
        sites=taken.sites,
        not_sites=taken.not_sites,
        identifier=identifier,
        signals=seen.signals,
        ecosystem=seen.ecosystem,
        topic=topic_of(told, is_code=is_code) or (DEFAULT if is_code else ""),
        music=seen.music,
        mediatype=seen.mediatype,
        named=seen.named,
        secret=secret_in(text),
    )
