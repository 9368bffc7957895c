"""What every keyed provider has."""

import importlib
import re
from pathlib import Path

import pytest

from searx_mcp.sources.open import keyed
from searx_mcp.sources.open.config import ProvidersConfig
from searx_mcp.sources.open.table import ENGINES, KEYED, keyed_of

ROWS = [pytest.param(row, id=row.name) for row in KEYED]
PAGE = Path(__file__).parents[4] / "docs" / "guides" / "search-apis.md"


def test_a_provider_is_one_module_that_has_its_row_and_settings():
    folder = Path(keyed.__file__).parent
    names = {path.stem for path in folder.glob("[a-z]*.py")} - {"config"}
    assert names == {row.name for row in KEYED}
    assert {"mode", *names} == {*ProvidersConfig.model_fields}
    assert not names & {row.name for row in ENGINES}


@pytest.mark.parametrize("row", ROWS)
def test_a_row_says_what_it_may_cost_and_where_its_terms_stand(row):
    module = importlib.import_module(f"searx_mcp.sources.open.keyed.{row.name}")
    assert module.ENGINE is row
    table = getattr(ProvidersConfig(), row.name)
    assert (row.per_month, row.per_day) == (table.per_month, getattr(table, "per_day", 0))
    assert row.key_header
    assert not row.key
    assert row.routing.anyway == 0
    assert row.terms_url.startswith("https://")
    assert re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", row.terms_checked)
    assert f"`{row.name}`" in PAGE.read_text(encoding="utf-8")


def test_without_keys_there_is_nobody_to_ask():
    assert keyed_of(ProvidersConfig()) == {}
