"""A question as the open sources see it, and the names of works in texts and addresses."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import unquote, urlsplit


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


_DOI = re.compile(r"(?<![\w.])10\.[0-9]{4,9}/[^\s\"<>]{1,200}")
"""ISO 26324: a prefix of `10.` and a number of the registrant, and a suffix of almost any characters."""
_DOI_TAIL: Final = ".,;:!?'\u2019\u201d\u2026*_"
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}
_ARXIV_DOI: Final = "10.48550/arxiv."

_ARCHIVES: Final = (
    "astro-ph|cond-mat|gr-qc|hep-(?:ex|lat|ph|th)|math-ph|nlin|nucl-(?:ex|th)|physics|quant-ph|math|cs|"
    "q-bio|q-alg|alg-geom|chao-dyn|cmp-lg|dg-ga|funct-an|patt-sol|solv-int|supr-con|mtrl-th|adap-org"
)
_BEFORE_ARXIV: Final = r"(?:arxiv\.org/(?:abs|pdf|html|format|e-print|ps)/|arxiv:\s?|(?<![\w./-]))"
_ARXIV_NEW = re.compile(
    rf"{_BEFORE_ARXIV}([0-9]{{2}}(?:0[1-9]|1[0-2]))\.([0-9]{{4,5}})(?:v[0-9]{{1,3}})?(?![\w%]|[.,][0-9])",
    re.IGNORECASE,
)
_ARXIV_OLD = re.compile(
    rf"{_BEFORE_ARXIV}({_ARCHIVES})(?:\.[A-Z]{{2}})?/([0-9]{{7}})(?:v[0-9]{{1,3}})?(?!\w)",
    re.IGNORECASE,
)
_FIRST_NEW: Final = "0704"
_FIRST_LONG: Final = "1501"
_LAST_NEW: Final = "4912"
"""arXiv's ids are year and month with four digits from 2007-04 on, with five from 2015-01 on."""
_LONG: Final = 5

_PMID = re.compile(
    r"(?<!\w)(?:pmid:?\s?|(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/pubmed"
    r"|europepmc\.org/(?:article|abstract)/med)/)([1-9][0-9]{0,7})(?!\w)",
    re.IGNORECASE,
)
_CVE = re.compile(
    "(?<!\\w)cve[-\u2010-\u2013 _:]{0,2}((?:19|20)[0-9]{2})[-\u2010-\u2013]([0-9]{4,7})(?!\\w)",
    re.IGNORECASE,
)

_DOI_HOSTS: Final = frozenset(
    {
        "doi.org", "wiley.com", "tandfonline.com", "sagepub.com", "acm.org", "acs.org", "science.org",
        "springer.com", "plos.org", "biorxiv.org", "medrxiv.org", "frontiersin.org", "iop.org",
        "annualreviews.org", "royalsocietypublishing.org", "pnas.org", "ahajournals.org", "nejm.org",
        "aps.org", "aip.org", "degruyter.com", "liebertpub.com", "embopress.org", "asm.org",
        "informs.org", "siam.org", "worldscientific.com", "physiology.org", "jamanetwork.com",
        "peerj.com", "hindawi.com", "emerald.com", "mitpress.mit.edu", "oup.com", "scitation.org",
        "uchicago.edu", "ascelibrary.org", "ametsoc.org", "geoscienceworld.org", "lww.com",
    }
)  # fmt: skip
"""Publishers whose addresses hold the DOI of the work that the page is of."""
_DOI_PAGE = re.compile(
    r"/(?:full|abstract|pdf|epdf|epub|meta|html|figures|references|metrics|citations|full-?text|summary"
    r"|tables|supplementary-material|suppl|reader|tab-[a-z-]{1,20})(?:/.{0,100})?$"
    r"|(?:v[0-9]{1,2})?(?:\.(?:pdf|full|full-text|abstract|html|xml|short|supplementary-material)){1,2}$",
    re.IGNORECASE,
)
"""What publishers write behind the DOI for a part or a form of the work."""
_PREPRINT_VERSION = re.compile(r"(?<=[0-9])v[0-9]{1,2}$")


def identifier_in(text: str) -> Identifier | None:
    """The first work or report that a text names: a DOI before an arXiv id, a PMID and a CVE.

    Args:
        text: any text; addresses in it count.

    Returns:
        The name in its normal form, or `None`.
    """
    if doi := doi_in(text):
        return work(doi)
    if arxiv := arxiv_in(text):
        return Identifier(IdentifierKind.ARXIV, arxiv)
    if pmid := _PMID.search(text):
        return Identifier(IdentifierKind.PMID, pmid[1])
    if cve := _CVE.search(text):
        return Identifier(IdentifierKind.CVE, f"CVE-{cve[1]}-{cve[2]}")
    return None


def identifier_at(url: str) -> Identifier | None:
    """The work that an address is of, by the address alone; a CVE is never meant.

    Args:
        url: of a page of a publisher, of doi.org, arXiv, PubMed or Europe PMC.
    """
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.")
    except ValueError:
        return None
    if host == "arxiv.org" or host.endswith(".arxiv.org"):
        arxiv = arxiv_in(f"arxiv.org{unquote(parts.path).removesuffix('.pdf')}")
        return Identifier(IdentifierKind.ARXIV, arxiv) if arxiv else None
    if pmid := _PMID.search(f"{host}{parts.path}"):
        return Identifier(IdentifierKind.PMID, pmid[1])
    if not any(host == known or host.endswith(f".{known}") for known in _DOI_HOSTS):
        return None
    doi = doi_in(unquote(parts.path)) or doi_in(unquote(parts.query)).partition("&")[0]
    return work(_without_page(doi, host)) if doi else None


def work(doi: str) -> Identifier:
    """The name of a work with this DOI; one that arXiv gave out stands for the preprint's own id."""
    if doi.startswith(_ARXIV_DOI):
        arxiv = arxiv_in(f"arxiv:{doi.removeprefix(_ARXIV_DOI)}")
        if arxiv:
            return Identifier(IdentifierKind.ARXIV, arxiv)
    return Identifier(IdentifierKind.DOI, doi)


def doi_in(text: str) -> str:
    """The first DOI of a text in lower case, or empty; also one that is percent-encoded."""
    found = _DOI.search(text)
    if found is None and "%2f" in text.lower():
        found = _DOI.search(unquote(text))
    if found is None:
        return ""
    doi = found[0]
    while doi and (doi[-1] in _DOI_TAIL or _is_unpaired(doi)):
        doi = doi[:-1]
    return doi.lower() if "/" in doi and not doi.endswith("/") else ""


def arxiv_in(text: str) -> str:
    """The first arXiv id of a text without version and class, or empty."""
    for found in _ARXIV_NEW.finditer(text):
        month, number = found[1], found[2]
        is_long = len(number) == _LONG
        if _FIRST_NEW <= month <= _LAST_NEW and is_long == (month >= _FIRST_LONG):
            return f"{month}.{number}"
    old = _ARXIV_OLD.search(text)
    return f"{old[1].lower()}/{old[2]}" if old else ""


def _is_unpaired(doi: str) -> bool:
    opening = _PAIRS.get(doi[-1])
    return opening is not None and doi.count(doi[-1]) > doi.count(opening)


def _without_page(doi: str, host: str) -> str:
    doi = _DOI_PAGE.sub("", doi)
    return _PREPRINT_VERSION.sub("", doi) if host.endswith(("biorxiv.org", "medrxiv.org")) else doi
