"""The question as open sources use it, and identifiers of works in texts and addresses."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import unquote, urlsplit


class IdentifierKind(StrEnum):
    """Names of a work or report that do not depend on other words."""

    DOI = "doi"
    ARXIV = "arxiv"
    PMID = "pmid"
    CVE = "cve"


@dataclass(frozen=True, slots=True)
class Identifier:
    """The identifier of one work.

    Attributes:
        kind: of identifier.
        value: normalised: a DOI in lower case, an arXiv id without version.
    """

    kind: IdentifierKind
    value: str


class Signal(StrEnum):
    """Subjects of a question, which determine where to search; the value is for a person."""

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
    """The registry of a package."""

    NPM = "npm"
    CRATES = "crates"
    HUGGINGFACE = "huggingface"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A parsed query.

    Attributes:
        text: the query without `site:` words and SearXNG's syntax; quoted phrases keep their quotes.
        words: its content, in its order and spelling: no function words, no frames such as `how do I`; a
            quoted phrase is one, without its quotes. Everything, if nothing else were left.
        keywords: at most six of them, the most significant ones.
        phrases: the quoted ones.
        sites: domains of `site:` words.
        not_sites: domains of `-site:` words.
        identifier: the work or report that it names.
        signals: its subjects.
        ecosystem: of the package that it asks for.
        topic: Stack Exchange's API name of the site for its subject; empty if none fits.
        music: `artist`, `release-group` or `recording`, as in MusicBrainz; empty if it does not say.
        mediatype: the Internet Archive's name of the kind of file it asks for; empty if it does not say.
        named: engines of the table that it asks for by name.
        secret: what in it looks like a secret, in words for a person; empty if nothing does.
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
"""arXiv ids are year and month with four digits since 2007-04, with five since 2015-01."""
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
"""Publishers whose page addresses contain the DOI of the work."""
_DOI_PAGE = re.compile(
    r"/(?:full|abstract|pdf|epdf|epub|meta|html|figures|references|metrics|citations|full-?text|summary"
    r"|tables|supplementary-material|suppl|reader|tab-[a-z-]{1,20})(?:/.{0,100})?$"
    r"|(?:v[0-9]{1,2})?(?:\.(?:pdf|full|full-text|abstract|html|xml|short|supplementary-material)){1,2}$",
    re.IGNORECASE,
)
"""What publishers append to the DOI for a part or a form of the work."""
_PREPRINT_VERSION = re.compile(r"(?<=[0-9])v[0-9]{1,2}$")


def identifier_in(text: str) -> Identifier | None:
    """Return the first identifier in a text: a DOI before an arXiv id, a PMID and a CVE.

    Args:
        text: any text, including addresses.

    Returns:
        The normalised identifier, or `None`.
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
    """Return the work at an address, from the address alone; never a CVE.

    Args:
        url: a page of a publisher, doi.org, arXiv, PubMed or Europe PMC.
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
    """Return the identifier for a DOI; arXiv's own DOIs become the preprint's id."""
    if doi.startswith(_ARXIV_DOI):
        arxiv = arxiv_in(f"arxiv:{doi.removeprefix(_ARXIV_DOI)}")
        if arxiv:
            return Identifier(IdentifierKind.ARXIV, arxiv)
    return Identifier(IdentifierKind.DOI, doi)


def doi_in(text: str) -> str:
    """Return the first DOI in a text in lower case, even percent-encoded; empty if none."""
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
    """Return the first arXiv id in a text without version and class; empty if none."""
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
