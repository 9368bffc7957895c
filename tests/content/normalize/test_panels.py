"""Tabs and folded answers: shown behind their labels, and hidden with them."""

import pytest

from searx_mcp.content.page import read_page
from searx_mcp.models.style import Style

TEXT = "<p>" + "A sentence that every reader of the page sees. " * 6 + "</p>"
SAID = "What stands here is said behind a click on its label."
TABS = "<div role=tablist><{0} role=tab id=t1 aria-controls=p1>One</{0}><{0} role=tab id=t2 aria-controls=p2>Two</{0}></div>"


def text_of(html: str) -> str:
    page = f"<!doctype html><title>x</title><body><main>{TEXT}{html}{TEXT}</main>"
    return read_page(
        page, url="https://ex.org/", style=Style(), max_chars=1_000_000
    ).written.markdown


PANELS = {
    "by what tabs control": (
        TABS.format("li"), "<div role=tabpanel id=p1>{0}</div><div role=tabpanel id=p2 hidden>{1}</div>"),
    "buttons": (
        TABS.format("button"), "<div role=tabpanel id=p1>{0}</div><div role=tabpanel id=p2 aria-hidden=true>{1}</div>"),
    "by what labels panels": (
        TABS.format("a").replace("aria-controls", "data-x"),
        '<div role=tabpanel aria-labelledby=t1>{0}</div><div role=tabpanel aria-labelledby=t2 style="display: none">{1}</div>'),
    "by their order": (
        "<ul role=tablist><li role=tab>One</li><li role=tab>Two</li></ul>",
        "<div><div role=tabpanel>{0}</div><div role=tabpanel hidden>{1}</div></div>"),
    "labels of Markdown extensions": (
        "<div class=tabbed-set><div class=tabbed-labels><label>One</label><label>Two</label></div>",
        "<div class=tabbed-content><div class=tabbed-block>{0}</div><div class=tabbed-block>{1}</div></div></div>"),
    "code groups": (
        ("<div class=vp-code-group><div class=tabs><input type=radio checked><label>One</label><input type=radio>"
        "<label>Two</label></div>"),
        "<div class=blocks><div>{0}</div><div>{1}</div></div></div>"),
}  # fmt: skip


@pytest.mark.parametrize(("tabs", "panels"), PANELS.values(), ids=PANELS)
def test_panels_of_tabs_are_shown_behind_their_labels(tabs: str, panels: str):
    shown = panels.format("<p>First panel.</p>", "<pre>second</pre>")
    text = text_of(f"<div>{tabs}{shown}</div>")
    assert "**One**\n\nFirst panel.\n\n**Two**\n\n```\nsecond\n```" in text
    assert text.count("One") == text.count("Two") == 1


@pytest.mark.parametrize(
    ("html", "label"),
    [
        pytest.param("<h3><button {0}>Is it free?</button></h3><div id=a {1}>{2}</div>", "### Is it free?", id="button in a heading"),
        pytest.param("<button {0}><h3>Is it free?</h3><i></i></button><div id=a {1}>{2}</div>", "### Is it free?", id="heading in a button"),
        pytest.param("<h3 class=q {0}>Is it free?</h3><div class=faq-a id=a {1}>{2}</div>", "### Is it free?", id="heading"),
        pytest.param("<button {0}>Is it free?</button><div role=region id=a {1}>{2}</div>", "**Is it free?**", id="region"),
        pytest.param("<div class=accordion><a {0}>Is it free?</a><div id=a {1}>{2}</div></div>", "Is it free?", id="accordion"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "hidden", ["hidden", "aria-hidden=true", 'style="display:none;height:0;overflow:hidden"']
)
def test_folded_answers_are_shown_below_their_questions(html: str, label: str, hidden: str):
    fold = "aria-expanded=false aria-controls=a"
    text = text_of(html.format(fold, hidden, f"<p>{SAID}</p>"))
    assert f"{label}\n\n{SAID}" in text


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("<div><a role=button aria-controls=a><b role=heading>Is it free?</b></a></div><div role=region id=a hidden>{0}</div>", id="no state"),
        pytest.param(
            "<h3 aria-expanded=false aria-controls=a>Is it free?</h3><div id=a style='overflow:hidden;height:0;transition:height 1s'>{0}</div>",
            id="no height",
        ),
        pytest.param(
            "<div class=accordion><a aria-expanded=false aria-controls=a>Is it free?</a><div style='display:none;height:0px'><style>i{{}}</style><div id=a>{0}</div></div></div>",
            id="wrapper that folds",
        ),
        pytest.param(
            "<ol role=tablist><li role=tab aria-controls='#a'>Is it free?</ol><ol role=tablist style='display:none'><li role=tab aria-controls='#a'>Is it free?</ol><div role=tabpanel id=a hidden>{0}</div>",
            id="address of a panel in two lists of tabs",
        ),
        pytest.param(
            "<div><div class=q>Is it free? <i></i></div><div class=a style='display: none'>{0}</div></div>"
            "<div><div class=q>And now?</div><div class=a style='display: none'>Another answer is said here.</div></div>",
            id="questions without attributes",
        ),
    ],
)  # fmt: skip
def test_folded_text_is_shown_however_it_is_folded(html: str):
    text = text_of(html.format(f"<p>{SAID}</p>"))
    assert text.index("Is it free?") < text.index(SAID)
    assert text.count("Is it free?") == 1


QUESTIONS = f"<div><p>More?</p><p class=a style='display:none'>{SAID}</p></div>" * 2
FOLD = f"<h3><button aria-expanded=false aria-controls=a>More</button></h3><div id=a hidden>{SAID}</div>"
TAB = f"<div role=tablist><b role=tab aria-controls=a>More</b></div><div role=tabpanel id=a hidden>{SAID}</div>"


@pytest.mark.parametrize(
    "html",
    [
        pytest.param(f"<div role=tabpanel hidden>{SAID}</div>", id="panel without a tab"),
        pytest.param(TAB.replace("More", " "), id="tab without a label"),
        pytest.param(TAB.replace("<b", "<b hidden"), id="hidden tab"),
        pytest.param(TAB.replace("<b", "<button style=display:none"), id="tab hidden by style"),
        pytest.param(f"<style>.t{{display:none}}</style>{TAB.replace('<b', '<b class=t')}", id="tab hidden by a rule"),
        pytest.param(TAB.replace("role=tablist", "role=tablist style=visibility:hidden"), id="hidden list of tabs"),
        pytest.param(TAB.replace("id=a", "x-panel=1 id=b") + "<i x-label=1>x</i>", id="marks of the page"),
        pytest.param(f"<div role=tabpanel id=a hidden><b role=tab aria-controls=a>More</b>{SAID}</div>", id="tab in its own panel"),
        pytest.param(
            "<div role=tabpanel id=a hidden><b role=tab aria-controls=b>One</b></div>"
            f"<div role=tabpanel id=b hidden><b role=tab aria-controls=a>Two</b>{SAID}</div>",
            id="tabs in the panels of each other",
        ),
        pytest.param(f"<div hidden>{TAB}</div>", id="all of it hidden"),
        pytest.param(TAB.replace("id=a hidden", 'id=a style="display:none; font-size:0"'), id="letters of no size"),
        pytest.param(TAB.replace("More", f"More<i style=display:none>{SAID}</i>").replace(f">{SAID}</div>", ">x</div>"), id="words in a tab"),
        pytest.param(FOLD.replace("<h3", "<h3 hidden"), id="hidden heading"),
        pytest.param(FOLD.replace("h3", "span"), id="nothing that says it is text"),
        pytest.param(FOLD.replace("false", "true"), id="unfolded and hidden"),
        pytest.param(FOLD.replace("=a>", "=b>"), id="fold of something else"),
        pytest.param(FOLD.replace("aria-exp", "aria-haspopup=true aria-exp"), id="menu"),
        pytest.param(f"<nav>{FOLD}</nav>", id="navigation"),
        pytest.param(FOLD.replace("id=a", "id=a role=dialog"), id="dialog"),
        pytest.param(FOLD.replace(SAID, f"<a href=/x>{SAID}</a>"), id="links"),
        pytest.param(f"<style>#a{{display:none}}</style>{FOLD}", id="hidden by a rule, too"),
        pytest.param(QUESTIONS.replace("class=a", "class=b", 1), id="one question of its kind"),
        pytest.param(QUESTIONS.replace("?", "."), id="no questions"),
        pytest.param(QUESTIONS.replace("</p><p", "</p>Text<p"), id="text after a question"),
        pytest.param(QUESTIONS.replace("<p>", "<p hidden>"), id="hidden questions"),
        pytest.param(f"<style>.q{{opacity:0}}</style>{QUESTIONS.replace('<p>', '<p class=q>')}", id="questions hidden by a rule"),
        pytest.param(f"<form><input>{QUESTIONS}</form>", id="form"),
    ],
)  # fmt: skip
def test_what_no_seen_label_shows_stays_hidden(html: str):
    assert SAID not in text_of(html)


INNER = TAB.replace("=a", "=b").replace("More", "Inner")
ONE_PANEL = TABS.format("button").replace("p2", "p1")
TWICE = "".join(f"<p role=tabpanel id=p{n} hidden>{SAID}</p>" for n in (1, 2))


@pytest.mark.parametrize(
    ("html", "words", "gone"),
    [
        pytest.param(TAB.replace("<b", "<b hidden").replace("hidden>W", ">W"), SAID, "More", id="seen, with a hidden tab"),
        pytest.param(
            TAB.replace(SAID, f"<p>Outer panel.</p>{INNER}"), f"**More**\n\nOuter panel.\n\n**Inner**\n\n{SAID}", "One",
            id="with tabs inside",
        ),
        pytest.param(f"<div>{ONE_PANEL}<div role=tabpanel id=p1><p>{SAID}</p></div></div>", SAID, "One", id="of several tabs"),
        pytest.param(TABS.format("li") + TWICE, SAID, "**Two**", id="that two tabs show"),
    ],
)  # fmt: skip
def test_a_panel_is_shown_once_and_named_by_its_own_tab_alone(html: str, words: str, gone: str):
    text = text_of(html)
    assert text.count(words) == text.count(SAID) == 1
    assert gone not in text
