"""Panels of tabs and folded answers, which scripts show when their label is clicked."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.html.hidden_elements import LABEL
from searx_mcp.content.tree import (
    HEADINGS,
    RemovalRule,
    Removals,
    ancestors,
    children,
    classes,
    has_text,
    is_hidden,
    move_children,
    new,
    put_in_place,
    short_text,
    style,
    text_of,
)

_PANELS: Final = '[role="tabpanel"]'
_FOLDS: Final = "[aria-expanded][aria-controls],[role=button][aria-controls]"
_ANSWERS: Final = '[hidden],[style*="none" i]'
_SETS: Final = ".tabbed-set,.vp-code-group"
"""Tabs of Markdown extensions, with the labels in one element and the panels in the next."""

_PANEL: Final = "x-panel"
"""Marks the content of a label: a panel with a hidden label is hidden, too."""

_HEADINGS: Final = HEADINGS | {"dt"}
_CHROME: Final = frozenset({"nav", "header", "footer", "aside", "dialog", "form", "menu"})
_CHROME_ROLES: Final = frozenset({
    "alertdialog", "banner", "contentinfo", "dialog", "listbox", "menu", "menubar", "navigation",
    "search", "toolbar", "tooltip", "tree",
})  # fmt: skip
_FOLDING: Final = ("accordion", "faq", "question", "collaps", "expand", "toggle")
"""Parts of class names that distinguish folded text from a menu."""

_FOLDED_BY = re.compile(
    r"\s*(?:display|visibility|opacity|overflow|(?:max-)?height)\s*:", re.IGNORECASE
)
"""Properties with which scripts fold a panel; colours and the size of letters are not among them."""

_FLAT = re.compile(r"(?:^|;)\s*(?:max-)?height\s*:\s*0(?:px|%)?\s*(?:;|$)")
_QUESTION: Final = ("?", "\N{FULLWIDTH QUESTION MARK}", "\N{ARABIC QUESTION MARK}")
_QUESTIONS: Final = 2
"""Hidden elements of the same class, each after a question, that are answers to them."""

_LABEL_CHARS: Final = 200
_LEAST: Final = 25
"""Characters of a folded text outside links; anything less is a menu, or empty."""

_LOOKED_AT: Final = 400
"""Nodes of a folded text that are read to distinguish it from a menu."""

_REPEATED_CHARS: Final = 1_000
_DEEP: Final = 600
"""Deeper than the guards before the parser allow."""

_MAX_PANELS: Final = 500
_MAX_LISTS: Final = 50
_UP: Final = 40
_NEAR: Final = 4
"""Ancestors of a list of tabs that may contain its panels, and of a folded text that may name it."""


def show_panels(tree: LexborHTMLParser) -> bool:
    """Show the panels of tabs and folded texts after their labels, like closed `details`.

    Args:
        tree: the complete page; changed in place.

    Returns:
        Whether there were any; then `drop_unlabelled` must be called.
    """
    if tree.css_first(f"{_SETS},{_PANELS},{_FOLDS},{_ANSWERS}") is None:
        return False
    _take_marks(tree)
    sets = [pair for box in tree.css(_SETS)[:_MAX_PANELS] for pair in _of_set(box)]
    tabs = _unrepeated(_tabs(tree, tree.css(_PANELS)[:_MAX_PANELS]))
    folded = list(_folded(tree, tree.css(_FOLDS)[: 4 * _MAX_PANELS]))
    folded += _answers(tree.css(_ANSWERS)[: 4 * _MAX_PANELS])
    taken: set[int] = set()
    for number, (panel, label) in enumerate([*sets, *tabs, *folded]):
        if {panel.mem_id, label.mem_id} & taken:
            continue
        taken |= {panel.mem_id, label.mem_id}
        if number < len(sets) + len(tabs):
            _show_tab(tree, panel, label, str(number))
        else:
            _show_folded(panel, label, str(number))
    return bool(sets or tabs or folded)


def _take_marks(tree: LexborHTMLParser) -> None:
    """Remove marks that the page itself has: only ours mean that a label is visible."""
    for node in tree.css(f"[{LABEL}],[{_PANEL}]"):
        for mark in (LABEL, _PANEL):
            if mark in node.attributes:
                del node.attrs[mark]


def _unrepeated(
    pairs: Iterable[tuple[LexborNode, LexborNode]],
) -> list[tuple[LexborNode, LexborNode]]:
    """Panels with their tabs; a panel that several tabs of a list share is shown once."""
    found: list[tuple[LexborNode, LexborNode]] = []
    said: set[tuple[int, str]] = set()
    for panel, tab in pairs:
        parent = panel.parent
        key = parent.mem_id if parent is not None else 0, short_text(panel, _REPEATED_CHARS)
        if key not in said:
            found.append((panel, tab))
        if key[1]:
            said.add(key)
    return found


def drop_unlabelled(tree: LexborHTMLParser, removals: Removals) -> None:
    """Remove what `show_panels` showed, if its label has turned out to be hidden.

    Args:
        tree: without what styles hide; changed in place.
        removals: of this page.
    """
    labels = {label.attributes[LABEL] or "": label for label in tree.css(f"[{LABEL}]")}
    around = {mark: _panel_around(label) for mark, label in labels.items() if has_text(label)}
    panels = [(panel, panel.attributes[_PANEL] or "") for panel in tree.css(f"[{_PANEL}]")]
    for panel, mark in panels:
        if panel.tag == "summary" and mark in around:
            panel.insert_child(text_of(labels[mark]))
    for panel, mark in panels:
        if not _is_labelled(mark, around):
            removals.remove(panel, RemovalRule.PANEL)
    for label in tree.css(f"button[{LABEL}],label[{LABEL}]"):
        if label.tag == "button" and label.attributes.get("role") != "tab":
            _rename(tree, label, "summary")
        else:
            label.decompose()  # it is before its panel now


def _panel_around(label: LexborNode) -> str:
    """The mark of the panel that contains a label; empty if there is none."""
    marks = (node.attributes.get(_PANEL) for node in ancestors(label, _DEEP))
    return next(filter(None, marks), "")


def _is_labelled(mark: str, around: Mapping[str, str]) -> bool:
    """Whether a label and the labels of the panels around it are visible; no panel shows itself."""
    passed: set[str] = set()
    while mark and mark in around and mark not in passed:
        passed.add(mark)
        mark = around[mark]
    return not mark


def _tabs(
    tree: LexborHTMLParser, panels: list[LexborNode]
) -> Iterator[tuple[LexborNode, LexborNode]]:
    """Panels with their tabs: matched by their references to each other, else by order."""
    lists = tree.css('[role="tablist"]')[:_MAX_LISTS]
    by_name: dict[str, LexborNode] = {}
    for tab in tree.css('[role="tab"]')[: 4 * _MAX_PANELS]:
        attributes = tab.attributes
        by_name.setdefault("#" + (attributes.get("id") or ""), tab)
        by_name.setdefault(_controlled(tab), tab)
    by_place = _by_place(lists, panels)
    names = {(_controlled(tab), short_text(tab, _LABEL_CHARS)) for tab in tree.css('[role="tab"]')}
    controlled = Counter(panel for panel, _ in names)
    for panel in panels:
        attributes = panel.attributes
        if controlled[attributes.get("id") or "-"] > 1:
            # The tabs choose from its content, and none of them names it.
            continue
        tabs = [
            by_name.get(attributes.get("id") or "-"),
            by_name.get("#" + (attributes.get("aria-labelledby") or "-")),
            by_place.get(panel.mem_id),
        ]
        for tab in filter(None, tabs):
            if any(letter.isalpha() for letter in short_text(tab, _LABEL_CHARS)):
                yield panel, tab
                break


def _controlled(node: LexborNode) -> str:
    """The id of what an element controls; some write it as an address."""
    return (node.attributes.get("aria-controls") or "").removeprefix("#")


def _by_place(lists: list[LexborNode], panels: list[LexborNode]) -> dict[int, LexborNode]:
    """The tabs of lists without references, if as many panels follow them."""
    found: dict[int, LexborNode] = {}
    known = {panel.mem_id for panel in panels}
    for each in lists:
        tabs = each.css('[role="tab"]')
        if any("aria-controls" in tab.attributes for tab in tabs):
            continue
        for around in ancestors(each, _NEAR):
            inside = [node for node in around.css(_PANELS) if node.mem_id in known]
            if inside:
                if len(inside) == len(tabs):
                    found.update((node.mem_id, tab) for node, tab in zip(inside, tabs, strict=True))
                break
    return found


def _show_tab(tree: LexborHTMLParser, panel: LexborNode, tab: LexborNode, mark: str) -> None:
    tab.attrs[LABEL] = mark
    if _is_off(panel):
        _open(panel, mark)
    # `drop_unlabelled` adds its words, once those that a style hides are removed.
    label = new(tree, "summary", **{_PANEL: mark})
    if (first := panel.first_child) is not None:
        first.insert_before(label, move=True)


def _folded(
    tree: LexborHTMLParser, folds: list[LexborNode]
) -> Iterator[tuple[LexborNode, LexborNode]]:
    """Hidden texts with the elements that unfold them, without menus and the like."""
    targets = _ids(tree) if folds else {}
    for fold in folds:
        target = targets.get(_controlled(fold))
        if target is None or fold.attributes.get("aria-expanded", "false") != "false":
            continue
        if not _is_off(target) and _is_wrapped(target):
            target = target.parent or target
        if _is_off(target) and _is_text(target) and _names_text(fold, target):
            yield target, fold


def _answers(hidden: list[LexborNode]) -> Iterator[tuple[LexborNode, LexborNode]]:
    """Hidden texts with the questions before them, if there are several alike."""
    found: dict[tuple[str, ...], list[tuple[LexborNode, LexborNode]]] = defaultdict(list)
    for panel in hidden:
        label = _before(panel)
        if (
            label is not None
            and is_hidden(panel)
            and short_text(label, _LABEL_CHARS).endswith(_QUESTION)
            and _is_text(panel)
            and not _is_in_chrome(panel)
        ):
            found[panel.tag or "", *classes(panel)].append((panel, label))
    for pairs in found.values():
        if len(pairs) >= _QUESTIONS:
            yield from pairs


def _before(node: LexborNode) -> LexborNode | None:
    """The element before another one, without text between them."""
    before = node.prev
    while before is not None and not before.is_element_node and not has_text(before):
        before = before.prev
    return before if before is not None and before.is_element_node else None


def _is_wrapped(panel: LexborNode) -> bool:
    """Whether an element that folds contains only this one."""
    around = panel.parent
    return (
        around is not None
        and _is_off(around)
        and all(node.tag in {"style", panel.tag} for node in around.iter())
        and sum(1 for node in around.iter() if node.tag == panel.tag) == 1
    )


def _ids(tree: LexborHTMLParser) -> Mapping[str, LexborNode]:
    found: dict[str, LexborNode] = {}
    for node in tree.css("[id]"):
        found.setdefault(node.attributes.get("id") or "", node)
    return found


def _is_off(panel: LexborNode) -> bool:
    if is_hidden(panel) or panel.attributes.get("aria-hidden") == "true":
        return True
    own = style(panel)
    return "overflow" in own and _FLAT.search(own) is not None


def _is_text(panel: LexborNode) -> bool:
    """Whether a panel contains text, as opposed to a menu, a dialog or a form."""
    if panel.tag in _CHROME or panel.attributes.get("role") in _CHROME_ROLES:
        return False
    free = linked = 0
    for place, part in enumerate(panel.traverse(include_text=True)):
        if place > _LOOKED_AT:
            break
        if part.is_text_node:
            size = len((part.text_content or "").strip())
            is_linked = any(node.tag == "a" for node in ancestors(part, _NEAR))
            linked, free = linked + size * is_linked, free + size * (not is_linked)
    return free >= max(_LEAST, linked)


def _names_text(fold: LexborNode, panel: LexborNode) -> bool:
    attributes = fold.attributes
    if "aria-haspopup" in attributes or not short_text(fold, _LABEL_CHARS):
        return False
    if _is_in_chrome(fold):
        return False
    if panel.attributes.get("role") == "region":
        return True
    if "aria-expanded" not in attributes:
        return False
    if _heading(fold) is not None:
        return True
    around = ancestors(fold, _NEAR)
    names = " ".join(word for node in (fold, panel, *around) for word in classes(node))
    return any(part in names for part in _FOLDING)


def _is_in_chrome(node: LexborNode) -> bool:
    return any(
        above.tag in _CHROME or above.attributes.get("role") in _CHROME_ROLES
        for above in ancestors(node, _UP)
    )


def _heading(fold: LexborNode) -> LexborNode | None:
    """The heading of a folded text, which is around its button or, less often, inside."""
    around = (node for node in (fold, *ancestors(fold, 2)) if node.tag in _HEADINGS)
    return next(around, None) or fold.css_first(",".join(_HEADINGS))


def _show_folded(panel: LexborNode, fold: LexborNode, mark: str) -> None:
    (_heading(fold) or fold).attrs[LABEL] = mark
    _open(panel, mark)


def _rename(tree: LexborHTMLParser, node: LexborNode, tag: str) -> None:
    """Replace an element by another with its content; styles that hide it no longer apply."""
    made = new(tree, tag)
    move_children(node, made)
    put_in_place(node, made)


def _open(panel: LexborNode, mark: str) -> None:
    panel.attrs[_PANEL] = mark
    is_off = _is_off(panel)
    for name in ("hidden", "aria-hidden"):
        if name in panel.attributes:
            del panel.attrs[name]
    if is_off and "style" in panel.attributes:
        # Its other styles may hide it from readers who click, too.
        parts = (panel.attributes["style"] or "").split(";")
        panel.attrs["style"] = ";".join(part for part in parts if not _FOLDED_BY.match(part))


def _of_set(box: LexborNode) -> Iterator[tuple[LexborNode, LexborNode]]:
    """The panels of a set of tabs with their labels."""
    labels = box.css_first(".tabbed-labels,.tabs")
    content = box.css_first(".tabbed-content,.blocks")
    if labels is None or content is None:
        return
    names = [node for node in children(labels) if node.tag == "label"]
    panels = [node for node in children(content) if node.is_element_node]
    if len(names) == len(panels):
        yield from zip(panels, names, strict=True)
