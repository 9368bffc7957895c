"""A piece of HTML that is no page, made ready for markdownify."""

from typing import Final

from searx_mcp.content.html.guards import guard, parse
from searx_mcp.content.html.hidden_elements import drop_hidden, drop_unseen, open_buttons
from searx_mcp.content.html.references import describe_images, resolve_links
from searx_mcp.content.html.style.stylesheet import StyleSheet

_TEXT_ONLY: Final = "xmp,plaintext"
"""Their content is text that would be markup when serialized and parsed again."""


def fragment_content(html: str, *, url: str) -> str:
    """A piece of HTML without what a reader does not see, links absolute, images as words.

    Args:
        html: markup as it stands in a feed; any string.
        url: against which links are resolved.
    """
    tree = parse(guard(html))
    drop_unseen(tree)
    drop_hidden(tree, StyleSheet())
    open_buttons(tree)
    if tree.root is None or tree.body is None:
        return ""
    for node in tree.css(_TEXT_ONLY):
        node.replace_with(node.text())
    for node in [node for node in tree.root.traverse(include_text=True) if node.is_comment_node]:
        node.decompose()
    describe_images(tree.body)
    resolve_links(tree.body, url)
    return tree.body.html or ""
