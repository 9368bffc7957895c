"""The checkboxes of tasks."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.tree import (
    TASK,
    Dialect,
    ancestors,
    classes,
    has_text,
    is_hidden,
    neighbour,
    new,
    put_in_place,
)
from searx_mcp.content.removals import Removals

_FORMS: Final = frozenset({"form", "nav", "fieldset", "menu"})
_NOT_TASKS = re.compile(r"menu|filter|facet|dropdown|nav|toggle|accordion|cookie|consent|tree")
_SAYS_TASK = re.compile(r"task|todo|checklist")
_MAX_TASKS: Final = 10_000


def _normalize_tasks(tree: LexborHTMLParser, _: Removals) -> None:
    """Replace every checkbox at the start of a list item by a task.

    Checkboxes of forms, filters and menus have a name or a value to send; they stay as they are.
    """
    for box in tree.css('li input[type="checkbox" i]')[:_MAX_TASKS]:
        item = _item(box)
        if item is not None and _is_task(box, item):
            task = new(tree, TASK, **({"done": ""} if "checked" in box.attributes else {}))
            put_in_place(box, task)


TASKS: Final = Dialect({"input": ""}, _normalize_tasks)


def _item(box: LexborNode) -> LexborNode | None:
    """The list item that begins with the checkbox."""
    node = box
    for around in ancestors(box, 4):
        before = neighbour(node, forward=False)
        if before is not None and (before.tag == TASK or has_text(before)):
            return None
        if around.tag == "li":
            return around
        node = around
    return None


def _is_task(box: LexborNode, item: LexborNode) -> bool:
    attributes = box.attributes
    words = " ".join([*classes(box), *classes(item)])
    if _SAYS_TASK.search(words):
        return True
    if is_hidden(box) or _NOT_TASKS.search(words):
        return False
    if "disabled" not in attributes and (attributes.get("name") or attributes.get("value")):
        return False
    return not any(
        around.tag in _FORMS or _NOT_TASKS.search(" ".join(classes(around)))
        for around in ancestors(item, 12)
    )
