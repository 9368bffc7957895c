"""Removed blocks are counted by the rule that removed them."""

from pathlib import Path

import pytest

from searx_mcp.content.page import read_page
from searx_mcp.content.tree import RemovalRule, Removals
from searx_mcp.models.style import Style

DOCS = Path(__file__).parents[2] / "docs" / "decisions" / "pages-to-markdown.md"
SENTENCE = (
    "The river runs past the old mill, and in spring it floods the lower meadows for a week. "
)
TEXT = f"<p>{SENTENCE * 3}</p>" * 4
CARDS = "<div><a href=/1>A mill of the next valley</a></div>" * 4
LINKS = "<ul><li><a href=/1>one more</a><li><a href=/2>two</a><li><a href=/3>three</a></ul>"

TAKEN = {
    RemovalRule.UNSEEN: "<script>TAKEN</script>",
    RemovalRule.HIDDEN: "<p style='display:none'>TAKEN</p>",
    RemovalRule.CODE: "<pre><span class=lineno>1</span> a<div class=tooltip>TAKEN</div></pre>",
    RemovalRule.POST: "<span itemprop=position>TAKEN</span>",
    RemovalRule.LANDMARK: "<nav>TAKEN</nav>",
    RemovalRule.FOOTER: "<footer>TAKEN</footer>",
    RemovalRule.FORM: "<form>TAKEN <input></form>",
    RemovalRule.CONSENT: "<div class=cookies>TAKEN</div>",
    RemovalRule.NAMED: "<div class=sidebar>TAKEN</div>",
    RemovalRule.SECTION: f"<section><h2>Related articles</h2>{LINKS}</section>",
    RemovalRule.CARDS: f"<div>{CARDS}</div>",
    RemovalRule.LINKS: LINKS,
    RemovalRule.LINE: "<p>Photo: TAKEN</p>",
}


@pytest.mark.parametrize(("rule", "block"), TAKEN.items(), ids=TAKEN)
def test_what_is_taken_out_has_its_rule(rule: RemovalRule, block: str):
    html = f"<body><article><h1>The river</h1>{TEXT}{block}{TEXT}</article>"
    removals = Removals(keeps_texts=True)
    url = "https://ex.org/blog/the-river-and-its-meadows"
    page = read_page(html, url=url, style=Style(), max_chars=100_000, removals=removals)
    assert page.removed[rule.value] == removals.counts[rule] >= 1
    assert "TAKEN" not in page.written.markdown
    assert page.written.markdown.count("The river runs") == 24
    said = " ".join(text for why, text in removals.texts if why is rule)
    assert {"TAKEN", "one", "mill"} & set(said.split())


def test_a_page_that_is_read_whole_has_lost_nothing_to_the_rules_of_content():
    page = read_page(
        "<nav>All there is</nav>", url="https://ex.org", style=Style(), max_chars=1_000
    )
    assert "All there is" in page.written.markdown
    assert not page.removed


def test_all_rules_are_documented():
    said = DOCS.read_text("utf-8")
    assert [rule for rule in RemovalRule if f"`{rule}`" not in said] == []
