"""Outcomes of one request to one instance."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from searx_mcp.models.base import Frozen


class Format(StrEnum):
    """The format requested from an instance."""

    JSON = "json"
    HTML = "html"


class Verdict(StrEnum):
    """The outcome of one attempt, as judged by its results and not by its status code.

    The first three end a search; after any other the next instance is asked.
    """

    FULL = "full"
    """Three or more hits, an answer or an infobox."""
    THIN = "thin"
    """One or two hits."""
    EMPTY = "empty"
    """Nothing found, and no engine failed: a success with count 0."""
    IRRELEVANT = "irrelevant"
    """There are rows, but none has anything to do with the query."""
    ENGINES_FAILED = "engines_failed"
    """Nothing found because the instance's engines did not answer."""
    JSON_OFF = "json_off"
    """403 for JSON: the operator has not enabled the format."""
    RATE_LIMITED = "rate_limited"
    """429."""
    BLOCKED = "blocked"
    """Redirected to the home page: the limiter takes us for a bot."""
    CHALLENGE = "challenge"
    """A CAPTCHA or proof-of-work page in front of the instance."""
    REFUSED = "refused"
    """Another 4xx."""
    SERVER_ERROR = "server_error"
    """5xx."""
    MALFORMED = "malformed"
    """An answer that cannot be read as what it claims to be."""
    NOT_SEARXNG = "not_searxng"
    """A readable answer from some other program."""
    FOREIGN_REDIRECT = "foreign_redirect"
    """A redirect to another origin."""
    UNTRUSTED = "untrusted"
    """Results that lead back to the instance itself or through a host that rewrites them."""
    TLS = "tls"
    """The certificate or the handshake failed."""
    DNS = "dns"
    """The host name did not resolve."""
    CONNECTION = "connection"
    """The connection failed or broke."""
    TIMEOUT = "timeout"
    """No complete answer arrived in time."""
    OVERTAKEN = "overtaken"
    """A hedge at another instance answered first, so this request was dropped."""

    @property
    def ends_search(self) -> bool:
        """Whether the attempt's answer can be returned to the caller."""
        return self in _ENDS_SEARCH

    @property
    def is_network(self) -> bool:
        """Whether nothing at all came back from the host."""
        return self in _NETWORK


_ENDS_SEARCH = frozenset({Verdict.FULL, Verdict.THIN, Verdict.EMPTY})
_NETWORK = frozenset({Verdict.DNS, Verdict.CONNECTION, Verdict.TIMEOUT})


class Attempt(Frozen):
    """One request to one instance or open source, for reports and errors.

    Attributes:
        instance: the instance's base URL, or the address of the open source.
        verdict: its outcome.
        format: the requested format.
        status_code: the HTTP status, or `None` if there was no answer.
        elapsed_ms: how long it took, in milliseconds.
        detail: one short sentence for a person; never the query.
        rows_seen: rows in the answer.
        rows_used: rows that could be used; none of many suggests that the markup has changed.
        source: name of the open source; empty for an instance.
    """

    instance: str
    verdict: Verdict
    format: Format
    status_code: int | None = None
    elapsed_ms: int = 0
    detail: str = ""
    rows_seen: int = 0
    rows_used: int = 0
    source: str = ""


class PastOutcome(BaseModel):
    """The outcome of a past request, as remembered for an instance.

    Attributes:
        at: Unix seconds.
        verdict: its outcome.
        format: the requested format.
        status_code: the HTTP status, or `None` if there was no answer.
        elapsed_ms: how long it took, in milliseconds.
        detail: one short sentence for a person; never the query.
    """

    # Stored for a long time: fields of newer versions are ignored.
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True)

    at: float
    verdict: Verdict
    format: Format
    status_code: int | None = None
    elapsed_ms: int = 0
    detail: str = ""
