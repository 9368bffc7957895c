"""Releases in the shape of GitHub's REST API, which Forgejo shares, as Markdown."""

from collections.abc import Sequence
from typing import Final

from searx_mcp.content.fields import Fields
from searx_mcp.fetch.site_adapters.composing.prose import Prose
from searx_mcp.fetch.site_adapters.composing.writing import facts, heading, joined, link, size
from searx_mcp.fetch.site_adapters.interface import Composed

PER_PAGE: Final = 20
"""Releases asked for; the sites show ten to a page."""

_MAX_ASSETS: Final = 50


def write_one(release: Fields, *, place: str, base: str) -> Composed:
    """Make a page of one release.

    Args:
        release: the answer.
        place: the repository.
        base: the address of the repository on the site.

    Raises:
        ValueError: it has no tag.
    """
    title = f"{place} {_name(release)}"
    return Composed(
        markdown=joined(heading(1, title), _body(release, Prose(f"{base}/"), shift=1)),
        title=title,
        author=release.part("author").line("login"),
        published=release.line("published_at"),
    )


def write_all(releases: Sequence[Fields], *, is_whole: bool, place: str, base: str) -> Composed:
    """Make a page of the newest releases.

    Args:
        releases: newest first.
        is_whole: whether the answer was not cut.
        place: the repository.
        base: the address of the repository on the site.

    Raises:
        ValueError: one has no tag.
    """
    prose = Prose(f"{base}/")
    blocks = [heading(1, f"Releases of {place}")]
    for release in releases[:PER_PAGE]:
        blocks += [heading(2, _name(release)), _body(release, prose, shift=2)]
    if not releases:
        blocks.append("There are no releases.")
    is_cut = not is_whole or len(releases) >= PER_PAGE
    shown = min(len(releases), PER_PAGE)
    note = f"The newest {shown} releases are shown; the site may have more."
    return Composed(
        markdown=joined(*blocks),
        title=f"Releases of {place}",
        is_truncated=is_cut,
        notes=(note,) if is_cut else (),
    )


def _name(release: Fields) -> str:
    tag, name = release.line("tag_name"), release.line("name")
    if not tag:
        raise ValueError("the release has no tag")
    return name if tag in name else f"{tag} {name}".strip()


def _body(release: Fields, prose: Prose, *, shift: int) -> str:
    state = "pre-release" if release.flag("prerelease") else ""
    assets = release.parts("assets")
    files = [_asset(asset) for asset in assets[:_MAX_ASSETS]]
    left = len(assets) - _MAX_ASSETS
    if left > 0:
        files.append(f"- and {left:,} more files")
    return joined(
        facts(
            [
                ("Tag", release.line("tag_name")),
                ("State", "draft" if release.flag("draft") else state),
                ("Published", release.day("published_at") or release.day("created_at")),
                ("Author", release.part("author").line("login")),
            ]
        ),
        prose.write(release.text("body"), shift=shift),
        joined("Files:", "\n".join(files)) if files else "",
    )


def _asset(asset: Fields) -> str:
    volume = size(asset.count("size"))
    written = link(asset.line("name") or "a file", asset.text("browser_download_url"))
    return f"- {written}, {volume}" if volume else f"- {written}"
