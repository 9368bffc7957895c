"""The boxes in front of tasks."""

import re
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from searx_mcp.content.normalize.tree import (
    TASK,
    Dialect,
    ancestors,
    classes,
    first_solid,
    has_text,
    is_hidden,
    neighbour,
    new,
)
from searx_mcp.content.removals import Removals

_FORMS: Final = frozenset({"form", "nav", "fieldset", "menu"})
_NOT_TASKS = re.compile(r"menu|filter|facet|dropdown|nav|toggle|accordion|cookie|consent|tree")
_SAYS_TASK = re.compile(r"task|todo|checklist")
_MAX_TASKS: Final = 10_000


def _normalize_tasks(tree: LexborHTMLParser, _: Removals) -> None:
    """Put a task in front of every list item that begins with a box to tick.

    Boxes of forms, filters and menus have a name or a value to send; they stay as they are.
    """
    for box in tree.css('li input[type="checkbox" i]')[:_MAX_TASKS]:
        item = _item(box)
        if item is None or item.first_child is None or not _is_task(box, item):
            continue
        done = {"done": ""} if "checked" in box.attributes else {}
        task = new(tree, TASK, **done)
        item.first_child.insert_before(task, move=True)
        box.decompose()


TASKS: Final = Dialect({"input": ""}, _normalize_tasks)


def _item(box: LexborNode) -> LexborNode | None:
    """The list item that begins with the box and has none yet."""
    node = box
    for around in ancestors(box, 4):
        before = neighbour(node, forward=False)
        if before is not None and (before.tag == TASK or has_text(before)):
            return None
        if around.tag == "li":
            first = first_solid(around)
            return None if first is not None and first.tag == TASK else around
        node = around
    return None


def _is_task(box: LexborNode, item: LexborNode) -> bool:
    attributes = box.attributes
    words = " ".join([*classes(box), *classes(item)])
    if _SAYS_TASK.search(words):
        return True
    if is_hidden(box) or _NOT_TASKS.search(words):
        return False
    is_sent = bool(attributes.get("name")) or bool(attributes.get("value"))
    if is_sent and "disabled" not in attributes:
        return False
    for around in ancestors(item, 12):
        if around.tag in _FORMS or _NOT_TASKS.search(" ".join(classes(around))):
            return False
    return True
