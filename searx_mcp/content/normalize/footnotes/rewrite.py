"""Every way of writing footnotes, in one form."""

from selectolax.lexbor import LexborHTMLParser

from searx_mcp.content.normalize.footnotes.build import Builder
from searx_mcp.content.normalize.footnotes.links import linked_notes
from searx_mcp.content.normalize.footnotes.loose import loose_notes
from searx_mcp.content.normalize.footnotes.sidenotes import standardise_sidenotes


def standardise_footnotes(
    tree: LexborHTMLParser, *, has_raised: bool = True, has_sidenotes: bool = True
) -> None:
    """Rewrite references and notes.

    A note keeps the number or letter it has on the page; it loses that and its links back. Only what
    is referred to becomes a note: everything else stays as it is.

    Args:
        tree: without what is hidden: a note is moved out of what may hide it.
        has_raised: whether there is a raised text at all.
        has_sidenotes: whether there is anything beside the text.
    """
    builder = Builder(tree)
    for note in linked_notes(tree):
        builder.add(note)
    for note in loose_notes(tree) if has_raised else ():
        builder.add(note)
    if has_sidenotes:
        standardise_sidenotes(tree, builder)
    builder.finish()
