"""The question as open sources use it, identifiers of works in it, and secrets that must not be sent.

Keys, email addresses and private host names must not reach strangers. Every rule for these checks one word;
none looks back further than the word's beginning.
"""

import ipaddress
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


MAIL: Final = "an email address"
KEY: Final = "a key or token"
HEX: Final = "a long hexadecimal number"
HOST: Final = "a private host"
ADDRESS: Final = "a private address"

_KEY = re.compile(
    r"(?:sk|rk|pk)[-_](?:[a-z]{2,8}[-_])?[A-Za-z0-9_-]{16,}"  # OpenAI, Anthropic, Stripe
    r"|gh[opusr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}"  # Amazon, Google
    r"|xox[abeprs]-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|dop_v1_[0-9a-f]{20,}"
    r"|pypi-[A-Za-z0-9_-]{40,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|shpat_[0-9a-f]{20,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"  # JSON Web Token, RFC 7519
)
"""Prefixes of keys and tokens of well-known services, and their minimum lengths."""
_HEX = re.compile(r"(?:0[xX])?[0-9a-fA-F]{32,}")
"""128 bits: the shortest key in use, and the length of an MD5 digest."""
_BLOB = re.compile(r"[A-Za-z0-9+_-]{40,}={0,2}")
_FEWEST_DIGITS: Final = 4
"""Forty characters of base64 have six digits on average; the longest names in code have one or two."""

_ASSIGNED = re.compile(
    r"(?:pass(?:word|wd)?|pwd|secret|token|api[_-]?key|access[_-]?key|auth)[\"']?[=:][\"']?([^\s\"'&]{8,})",
    re.IGNORECASE,
)
_VALUE_LENGTH: Final = 12
_USER_IN_URL = re.compile(r"[a-z]{2,10}://[^\s/@:]{1,64}:[^\s/@]{1,128}@", re.IGNORECASE)

_MAIL = re.compile(r"[\w.+%-]{1,64}@((?:[A-Za-z0-9-]{1,63}\.){1,8}([A-Za-z]{2,24}))")
_NO_TOP_DOMAINS: Final = frozenset(
    {"png", "jpg", "jpeg", "gif", "webp", "svg", "py", "js", "ts", "service"}
)
"""Ends of file and unit names that contain an @, such as `logo@2x.png`."""
_NOBODY: Final = frozenset({"example.com", "example.org", "example.net"})
"""Reserved for examples (RFC 2606)."""

_IPV4 = re.compile(r"(?<![\w.])([0-9]{1,3}(?:\.[0-9]{1,3}){3})(?![\w.]*[0-9])(/[0-9]{1,2})?")
_IPV6 = re.compile(r"(?<![\w:])f(?:[cd][0-9a-f]{2}|e[89ab][0-9a-f]):[0-9a-f:]{2,35}", re.IGNORECASE)
_HOST = re.compile(
    r"(?<![\w.@$/-])(?:[a-z]{2,10}://)?"
    r"((?:[a-z0-9_-]{1,63}\.){1,8}(?:local|internal|intranet|lan|corp|localdomain|home\.arpa))"
    r"(?=[:/?#,;)\"']|\.?$)",
    re.IGNORECASE,
)
"""Top-level names that are not delegated: `local` (RFC 6762), `internal` (ICANN 2024), `home.arpa` (RFC
8375), `intranet`, `lan`, `corp` and `private` (RFC 6762, appendix G)."""
_KNOWN_HOSTS: Final = frozenset(
    {
        "host.docker.internal",
        "gateway.docker.internal",
        "metadata.google.internal",
        "jdk.internal",
        "env.local",
    }
)
"""The same on every machine, or not hosts at all."""
_PRIVATE: Final = tuple(
    map(
        ipaddress.IPv4Network,
        ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10"),
    )
)
"""RFC 1918, RFC 3927 and RFC 6598."""
_MAX_WORD: Final = 2_000


def secret_in(text: str) -> str:
    """Describe what in a text looks like a secret.

    Args:
        text: any text, as the caller wrote it.

    Returns:
        A few words for a person that do not contain it; empty if there is none.
    """
    for word in text.split():
        if found := _secret_word(word[:_MAX_WORD].strip("\"'`()[]{}<>,;")):
            return found
    return ""


def _secret_word(word: str) -> str:
    if _is_key(word):
        return KEY
    if _HEX.search(word) and not word.isdecimal():
        return HEX
    if _is_mail(word):
        return MAIL
    if _is_private_address(word):
        return ADDRESS
    host = _HOST.search(word)
    return HOST if host and host[1].lower() not in _KNOWN_HOSTS else ""


def _is_key(word: str) -> bool:
    # A key may follow a name: `token=`, `Bearer:` and the like.
    for piece in re.split(r"[=:,;\"'&?/]+", word):
        if _KEY.fullmatch(piece) and any(map(str.isdigit, piece)):
            return True
        if _BLOB.fullmatch(piece) and _is_mixed(piece, _FEWEST_DIGITS):
            return True
    assigned = _ASSIGNED.search(word)
    is_long = assigned is not None and len(assigned[1]) >= _VALUE_LENGTH
    if assigned is not None and is_long and assigned[1].isalnum() and _is_mixed(assigned[1], 2):
        return True
    return _USER_IN_URL.search(word) is not None


def _is_mixed(text: str, digits: int) -> bool:
    return (
        sum(map(str.isdigit, text)) >= digits
        and any(map(str.islower, text))
        and any(map(str.isupper, text))
    )


def _is_mail(word: str) -> bool:
    if "@" not in word:
        return False
    mail = _MAIL.search(word)
    if mail is None or mail[0].startswith("git@"):
        return False
    return mail[2].lower() not in _NO_TOP_DOMAINS and mail[1].lower() not in _NOBODY


def _is_private_address(word: str) -> bool:
    found = _IPV4.search(word)
    if found is not None and not found[2]:
        try:
            address = ipaddress.IPv4Address(found[1])
        except ValueError:
            return False
        return any(address in network for network in _PRIVATE)
    return _IPV6.search(word) is not None
