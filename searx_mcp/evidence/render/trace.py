"""The tree of the pages that a call has read, each under the page that links to it."""

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

from searx_mcp.evidence.values import ExpansionStep
from searx_mcp.render.fence import one_line, one_url

_FAILURE_TOKENS: Final = 30


def trace_lines(steps: Sequence[ExpansionStep], stop_reason: str, boundary: str) -> Iterator[str]:
    """Draw the tree, unless only the pages named by the call were read.

    Addresses on the first page's site are shown relative to their common folder.

    Args:
        steps: in the order in which they were read.
        stop_reason: why no more were read; the part before a dash is shown.
        boundary: of the fence.
    """
    steps = [
        step.model_copy(
            update={"failure": one_line(step.failure, boundary, max_tokens=_FAILURE_TOKENS)}
        )
        for step in steps
    ]
    if not any(step.depth or step.failure for step in steps):
        return
    base = _common_folder([one_url(step.url) for step in steps])
    if base:
        yield f"Base: {base}"
        yield ""
    known = {step.url for step in steps}
    children: dict[str, list[ExpansionStep]] = {}
    roots = []
    for step in steps:
        if step.depth and step.parent in known and step.parent != step.url:
            children.setdefault(step.parent, []).append(step)
        else:
            roots.append(step)
    for root in roots:
        place = "seed" if not root.depth else f"depth {root.depth}"
        yield f"{_name(root, base)} ({_root(root, place)}){_failed(root)}"
        yield from _branches(root, children, base)
    for left in [step for below in children.values() for step in below]:  # a cycle of links
        yield f"{_name(left, base)} ({_node(left, f'depth {left.depth}')}){_failed(left)}"
    if reason := stop_reason.partition(" \u2014 ")[0]:
        yield f"    [stopped: {reason}]"


def _branches(
    root: ExpansionStep, children: dict[str, list[ExpansionStep]], base: str
) -> Iterator[str]:
    """Draw what is below a page. Not recursive: the settings decide how deep it goes."""
    rows = [(step, root, "", n == 0) for n, step in enumerate(reversed(children.pop(root.url, [])))]
    while rows:
        step, parent, indent, is_last = rows.pop()
        outside = "external, " if _site(step) != _site(parent) else ""
        facts = _node(step, f"{outside}depth {step.depth}")
        yield f"{indent}{'└── ' if is_last else '├── '}{_name(step, base)} ({facts}){_failed(step)}"
        deeper = indent + ("    " if is_last else "│   ")
        below = reversed(children.pop(step.url, []))
        rows += [(each, step, deeper, n == 0) for n, each in enumerate(below)]


def _root(step: ExpansionStep, place: str) -> str:
    if step.failure:
        return place
    return f"{place}, score: {step.score_before:.2f} → {step.score_after:.2f}"


def _node(step: ExpansionStep, place: str) -> str:
    if step.failure:
        return f"{place}, {step.duration_ms:.0f}ms"
    score = f"score: {step.score_before:.2f} → {step.score_after:.2f}"
    return f"{place}, +{step.chunks_added} chunks, {score}, {step.duration_ms:.0f}ms"


def _failed(step: ExpansionStep) -> str:
    return f" [failed: {step.failure}]" if step.failure else ""


def _site(step: ExpansionStep) -> str:
    return urlsplit(one_url(step.url)).netloc


def _name(step: ExpansionStep, base: str) -> str:
    url = one_url(step.url)
    return f"/{url.removeprefix(base)}" if base and url.startswith(base) else url


def _common_folder(urls: Sequence[str]) -> str:
    """Return the common folder of the addresses on the first one's site, with its slash; empty if there is none."""
    first = urlsplit(urls[0])
    origin = f"{first.scheme}://{first.netloc}/"
    folders = [
        url.partition("?")[0].partition("#")[0].split("/")[:-1]
        for url in urls
        if url.startswith(origin)
    ]
    shared = list(zip(*folders, strict=False))
    longest = next((n for n, parts in enumerate(shared) if len({*parts}) > 1), len(shared))
    return "/".join((*folders[0][:longest], "")) if folders else ""
