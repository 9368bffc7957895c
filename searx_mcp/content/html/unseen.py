"""What a reader of a page does not see, whatever its style says."""

from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

_UNSEEN: Final = (
    "script,style,noscript,template,iframe,frame,frameset,object,embed,applet,canvas,audio,video,"
    "noembed,noframes,svg,map,meta,link,title,"
    "button,select,input:not([checked]),textarea,option,datalist,dialog,"
    '[hidden],[popover],[aria-hidden="true" i]'
)
LABEL: Final = "x-label"
"""Marks what names a panel, so that it is known whether a style hides that."""

_TEXT_BUTTONS: Final = (
    "h1 button,h2 button,h3 button,h4 button,h5 button,h6 button,dt button,summary button,"
    f"th button,td button,button[{LABEL}]"
)
"""Headings that open what stands below them are written as buttons, and so are words in cells and the labels
of panels."""

_HEADING_BUTTONS: Final = "button:has(h1,h2,h3,h4,h5,h6)"
"""The same the other way round."""

_CONTROLS: Final = "button,select,textarea,input:not([type=hidden i])"
FILLED_IN: Final = "x-filled-in"
"""Marks a form that readers fill in; others only hold text, as those around posts of old forums do."""

_SKELETON: Final = frozenset({"html", "head", "body"})


def drop_unseen(tree: LexborHTMLParser) -> None:
    """Take out scripts, forms' controls, and what is marked as hidden.

    A form that had controls is marked with `FILLED_IN`. Buttons that are text stay, since a style may hide them.

    Args:
        tree: it is changed; its skeleton always stays.
    """
    texts = {button.mem_id for button in tree.css(f"{_TEXT_BUTTONS},{_HEADING_BUTTONS}")}
    for form in tree.css("form"):
        if form.css_first(_CONTROLS) is not None:
            form.attrs[FILLED_IN] = ""
    for node in tree.css(_UNSEEN):
        is_text = node.mem_id in texts and not _is_marked(node)
        if node.tag not in _SKELETON and not is_text:
            node.decompose()


def open_buttons(tree: LexborHTMLParser) -> None:
    """Leave of the buttons that are text their words; to be called once styles have hidden what they hide."""
    for button in tree.css("button"):
        button.unwrap()


def _is_marked(node: LexborNode) -> bool:
    attributes = node.attributes
    hides = "hidden" in attributes or "popover" in attributes
    return hides or (attributes.get("aria-hidden") or "").lower() == "true"
