"""What `searx-mcp selfcheck` runs, and what came of it."""

from collections.abc import Mapping
from enum import StrEnum

from searx_mcp.models.base import Frozen


class Verdict(StrEnum):
    """What becomes of an address."""

    REFUSED = "refused"
    ALLOWED = "allowed"


class Vector(Frozen):
    """One address, and what must become of it.

    Attributes:
        id: its name in the table.
        kind: what it tries, in one word.
        url: what a caller asks for.
        verdict: what must become of it.
        why: what is wrong with it, or looks wrong, for a person.
        dns: what names resolve to: a list of addresses for each look-up, the last of them for ever
            after. Names that are not here have a public address.
        redirects: where each answer redirects to; the answer after the last is a page.
        robots: where robots.txt redirects to; empty for a site without one.
        dials: the addresses that may be connected to; empty for those of `PUBLIC_ADDRESSES`.
    """

    id: str
    kind: str
    url: str
    verdict: Verdict
    why: str
    dns: Mapping[str, tuple[tuple[str, ...], ...]] = {}
    redirects: tuple[str, ...] = ()
    robots: str = ""
    dials: tuple[str, ...] = ()


class KindCount(Frozen):
    """The vectors of one kind.

    Attributes:
        kind: as in `Vector`.
        refused: how many must be refused.
        allowed: how many must be allowed.
        wrong: for how many that did not happen.
    """

    kind: str
    refused: int
    allowed: int
    wrong: int


class WrongVector(Frozen):
    """A vector that did not come to what it must.

    Attributes:
        id, kind, url, why: as in `Vector`.
        expected: what must become of it.
        came_to: what happened, for a person.
    """

    id: str
    kind: str
    url: str
    why: str
    expected: Verdict
    came_to: str


class SelfCheck(Frozen):
    """What a run over all vectors found.

    Attributes:
        passed: whether nothing is wrong and errors tell nothing.
        vectors: how many were run.
        kinds: counts, in the order of the table.
        wrong: every vector that went wrong.
        error_texts: how many different texts the errors for forbidden addresses had; more than one
            would tell them apart, and let a caller map a private network.
    """

    passed: bool
    vectors: int
    kinds: tuple[KindCount, ...]
    wrong: tuple[WrongVector, ...]
    error_texts: int
