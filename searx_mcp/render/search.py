"""A search as the text a model reads."""

from searx_mcp.models.response import SearchResponse
from searx_mcp.render.fence import fenced
from searx_mcp.render.layout import lay_out, left_out_line, unshown_line


def search_text(response: SearchResponse, *, budget: int | None, boundary: str) -> str:
    """Write a search as text: every result first, then the pages by score, all in fences.

    Args:
        response: the search.
        budget: tokens the text may have, 200 or more, as `tokens.estimate` counts them; `None` for
            no limit. Descriptions shrink first, then pages; a title or an address never does.
        boundary: hexadecimal digits that no page can know, 8 or more; the same for all answers of
            a process, so that equal answers are equal texts.
    """
    layout = lay_out(response, budget=budget, boundary=boundary)
    found = "\n\n".join(
        "\n".join(lines)
        for lines in (layout.answers, [each.block for each in layout.entries], layout.beside)
        if lines
    )
    parts = [
        layout.heading,
        fenced(found, boundary=boundary) if found else "",
        left_out_line(layout.left_out) if layout.left_out else "",
        *(page.block(boundary) for page in layout.readings),
        unshown_line(layout.unshown) if layout.unshown else "",
        "\n".join(layout.remarks),
    ]
    return "\n\n".join(part for part in parts if part)
