"""Whether verification supports what pages say, and nothing else.

    python -m benchmarks.verify [--json] [--quick]

Reports of one sentence, true ones and attacks, stand under `benchmarks/verify_data` beside the pages that they are about.
An attack is wrongly supported if each of its quotes and sentences is. A true one is lost if one of them is called
missing, altered or misattributed; one that is not checked is counted apart. Of each list, lines at odd places were for
tuning and lines at even places only judge. Nothing is timed. Exits with 1 if a target is missed.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.measure import Ratio, Table, command_line, report
from searx_mcp.content.clean import clean
from searx_mcp.evidence.answer.verification import check_report
from searx_mcp.evidence.checked import CheckedQuote, QuoteVerdict

DATA: Final = Path(__file__).parent / "verify_data" / "claims.toml"
_LINKS: Final = ("([source]({0}))", "([the manual]({0}))", "<{0}>", "({0})")
_WRONG: Final = frozenset({QuoteVerdict.MISSING, QuoteVerdict.ALTERED, QuoteVerdict.MISATTRIBUTED})
_LEAST_ATTACKS: Final = 100
_MOST_LOST: Final = 3
_SUPPORTED_FLOOR: Final = 0.9


@dataclass(frozen=True, slots=True)
class Case:
    """One report about one page.

    Attributes:
        page: its name.
        text: of the report.
        is_true: whether the page says so.
        is_held_back: whether it was not looked at for tuning.
        checked: its quotes and sentences.
    """

    page: str
    text: str
    is_true: bool
    is_held_back: bool
    checked: tuple[CheckedQuote, ...]

    @property
    def verdicts(self) -> set[QuoteVerdict]:
        """Of its quotes and sentences."""
        return {each.verdict for each in self.checked}

    @property
    def is_supported(self) -> bool:
        """Whether all of it is."""
        return self.verdicts == {QuoteVerdict.SUPPORTED}

    @property
    def is_lost(self) -> bool:
        """Whether any of it is called wrong."""
        return bool(self.verdicts & _WRONG)


def cases() -> list[Case]:
    """All reports, checked."""
    found: list[Case] = []
    for page in tomllib.loads(DATA.read_text(encoding="utf-8"))["page"]:
        url = f"https://pages.example/{page['name']}"
        kept = {url: clean(page["text"])}
        for kind in ("true", "attack"):
            for number, line in enumerate(page[kind].strip().split("\n")):
                link = _LINKS[number // 2 % len(_LINKS)].format(url)
                text = re.sub(" ?⏎ ?", "\n", line).replace("@", link)
                result = check_report(text, kept)
                found.append(
                    Case(
                        page["name"],
                        line,
                        is_true=kind == "true",
                        is_held_back=number % 2 == 1,
                        checked=(*result.quotes, *result.sentences),
                    )
                )
    return found


def main() -> None:
    """Check and report."""
    options = command_line("Whether verification supports what pages say, and nothing else.")
    found = cases()
    true = [case for case in found if case.is_true]
    attacks = [case for case in found if not case.is_true]
    wrong = [case for case in attacks if case.is_supported]
    lost = [case for case in true if case.is_lost]
    silent = [case for case in found if not case.checked]
    ratios = [
        Ratio("attacks", len(attacks), _LEAST_ATTACKS, at_least=True),
        Ratio("attacks wrongly supported", len(wrong), 0, at_least=False),
        Ratio("true ones", len(true), len(attacks), at_least=True),
        Ratio("true ones called missing or altered", len(lost), _MOST_LOST, at_least=False),
        Ratio("reports of which nothing was said", len(silent), 0, at_least=False),
        Ratio(
            "share of true ones supported",
            sum(case.is_supported for case in true) / len(true),
            _SUPPORTED_FLOOR,
            at_least=True,
        ),
    ]
    tables = [
        _table("For tuning", [case for case in found if not case.is_held_back]),
        _table("Judged only", [case for case in found if case.is_held_back]),
    ]
    report(ratios, as_json=options.json, tables=tables)


def _table(title: str, found: Sequence[Case]) -> Table:
    rows: list[tuple[str | float, ...]] = []
    for name, group in (
        ("true", [case for case in found if case.is_true]),
        ("attacks", [case for case in found if not case.is_true]),
    ):
        supported = sum(case.is_supported for case in group)
        lost = sum(case.is_lost for case in group)
        rows.append((name, len(group), supported, lost, len(group) - supported - lost))
    notes = [
        f"{case.page}: {case.text}: {'; '.join(e.difference or e.verdict for e in case.checked)}"
        for case in found
        if case.is_supported is not case.is_true
    ]
    columns = ("reports", "number", "supported", "called wrong", "not checked")
    return Table(title, columns, tuple(rows), tuple(notes))


if __name__ == "__main__":
    main()
