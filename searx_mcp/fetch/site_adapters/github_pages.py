"""GitHub pages made from its REST API: repositories, folders, threads, releases, gists.

Answers follow GitHub's OpenAPI description. A field that does not counts as missing; an answer without its
main object raises `ValueError`.
"""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from searx_mcp.content.clean import clean_line
from searx_mcp.content.values import Fields
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.fetch.site_adapters.adapter import Composed, address, composed, list_of, object_of
from searx_mcp.fetch.site_adapters.markdown import (
    MarkdownLink,
    ProseRewriter,
    Value,
    capped,
    facts,
    heading,
    joined,
    link,
    plain,
    size,
)
from searx_mcp.fetch.site_adapters.raw_files import RawFile, render

SITE: Final = "https://github.com"
MAX_ENTRIES: Final = 1_000
"""Entries of a folder in one answer of the API."""
MAX_COMMENTS: Final = 300
MAX_THREAD_CHARS: Final = 500_000
"""Limit of characters of bodies; a single one may have 65,536."""
MAX_RELEASES: Final = 20
"""Releases that are requested; the site shows ten to a page."""
MAX_FILES: Final = 100
"""Files of a gist that are shown."""

_MAX_TOPICS: Final = 30
_MAX_LABELS: Final = 30
_MAX_ASSETS: Final = 50
_DEFAULT: Final = "HEAD"
_GONE: Final = "a deleted account"
_BODY_SHIFT: Final = 2


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository.

    Attributes:
        owner: account name.
        name: of the repository.
    """

    owner: str
    name: str

    @property
    def title(self) -> str:
        """The full name, as people write it."""
        return f"{self.owner}/{self.name}"

    @property
    def api(self) -> tuple[str, str, str]:
        """Its path in the API."""
        return "repos", self.owner, self.name

    @property
    def page(self) -> str:
        """Its address on the site."""
        return address(SITE, self.owner, self.name)


def compose_repository(answers: Sequence[ReceivedPage | None], *, place: Repository) -> Composed:
    """Make a page of a repository's description and, if there is one, its README."""
    found = object_of(answers[0])
    title = found.line("full_name") or place.title
    readme, notes = _readme(answers[1], place, _DEFAULT)
    description = found.line("description", 1_000)
    homepage = found.line("homepage", 500)
    if found.flag("archived"):
        notes = ("The repository is archived and no longer maintained.", *notes)
    return composed(
        joined(
            heading(1, title),
            plain(description, 1_000),
            facts(
                [
                    ("Homepage", MarkdownLink(homepage, homepage)),
                    ("Topics", capped(found.lines("topics", 60), _MAX_TOPICS)),
                    ("Language", found.line("language")),
                    ("Licence", _licence(found.part("license"))),
                    ("Stars", found.count("stargazers_count")),
                    ("Forks", found.count("forks_count")),
                    ("Open issues and pull requests", found.count("open_issues_count")),
                    ("Default branch", found.line("default_branch")),
                    ("Last push", found.day("pushed_at")),
                    ("Fork of", found.part("parent").line("full_name")),
                ]
            ),
            readme,
        ),
        title=title,
        description=description,
        author=found.part("owner").line("login"),
        published=found.line("created_at"),
        modified=found.line("pushed_at"),
        notes=notes,
    )


def compose_folder(
    answers: Sequence[ReceivedPage | None], *, place: Repository, ref: str, folder: tuple[str, ...]
) -> Composed:
    """Make a page of a folder's entries and, if there is one, its README.

    `ref` is a branch, tag or commit; the root has an empty path. A file's path raises `ValueError`.
    """
    entries, is_whole = list_of(answers[0])
    where = "/".join([place.name, *folder])
    written = [_entry(entry, place, ref, folder) for entry in entries[:MAX_ENTRIES]]
    readme, notes = _readme(answers[1], place, ref)
    if not is_whole or len(entries) >= MAX_ENTRIES:
        notes = (f"The first {len(written):,} entries are shown; there may be more.", *notes)
    return composed(
        joined(
            heading(1, f"{where} at {ref}"),
            # Folders first.
            "\n".join(sorted(filter(None, written), key=lambda line: "/](" not in line))
            or "The folder is empty.",
            readme,
        ),
        title=f"{place.title}: {where} at {ref}",
        is_truncated=not is_whole,
        notes=notes,
    )


def _entry(entry: Fields, place: Repository, ref: str, folder: tuple[str, ...]) -> str:
    name = entry.line("name", 255)
    if not name or "/" in name or name in {".", ".."}:
        return ""
    is_folder = entry.line("type") == "dir"
    kind = "tree" if is_folder else "blob"
    url = address(SITE, place.owner, place.name, kind, *ref.split("/"), *folder, name)
    if is_folder:
        return f"- {link(name + '/', url)}"
    if entry.line("type") == "submodule" or (
        # API versions before 2026-03-10 report a submodule as a file without a size.
        entry.line("type") == "file" and not entry.text("download_url")
    ):
        return f"- {plain(name)} (submodule)"
    volume = size(entry.count("size"))
    return f"- {link(name, url)}{', ' + volume if volume else ''}"


def _licence(licence: Fields) -> str:
    """Return the SPDX identifier, unless GitHub only knows that there is some licence."""
    named = licence.line("spdx_id")
    return licence.line("name") if named in {"", "NOASSERTION"} else named


def _readme(
    answer: ReceivedPage | None, place: Repository, ref: str
) -> tuple[str, tuple[str, ...]]:
    """Return the README as Markdown; it is sent in base64, and without content from 1 MB on."""
    if answer is None:
        return "", ()
    try:
        found = object_of(answer)
        path = found.line("path", 500) or found.line("name")
        content = found.text("content") if found.line("encoding") == "base64" else ""
        text = base64.b64decode(content).decode(errors="replace")
    except ValueError:
        return "", ("The README could not be read.",)
    if not path or not text:
        return "", ("The README is empty, or too large for the API.",)
    place_of_files = (place.owner, place.name, "blob", *ref.split("/"))
    file = RawFile(
        path,
        base=address(SITE, *place_of_files, *path.split("/")),
        root=address(SITE, *place_of_files),
    )
    return render(text, file, shift=1)


def compose_thread(
    answers: Sequence[ReceivedPage | None], *, place: Repository, number: int
) -> Composed:
    """Make a page of an issue or pull request, and its lists of comments as far as available."""
    found = object_of(answers[0])
    is_pull = "head" in found or "pull_request" in found
    kind = "Pull request" if is_pull else "Issue"
    if not found.line("title", 300):
        raise ValueError(f"the {kind.lower()} has no title")
    title = f"{found.line('title', 300)} (#{number})"
    comments: list[Fields] = []
    for answer in filter(None, answers[1:]):
        comments += list_of(answer)[0]
    comments.sort(key=lambda comment: comment.line("created_at"))
    body = found.text("body")
    prose = ProseRewriter(f"{place.page}/{'pull' if is_pull else 'issues'}/{number}")
    blocks = [
        heading(1, title),
        facts(_thread_facts(found, place, kind)),
        prose.write(body, shift=_BODY_SHIFT),
    ]
    room = MAX_THREAD_CHARS - len(body)
    shown = 0
    for comment in comments[:MAX_COMMENTS]:
        text = comment.text("body")
        room -= len(text)
        if room < 0:
            break
        shown += 1
        written = prose.write(text, shift=_BODY_SHIFT) or "(no text)"
        blocks += [heading(2, _caption(comment)), written]
    total = sum(found.count(name) or 0 for name in ("comments", "review_comments"))
    left = max(total, len(comments)) - shown
    notes = []
    if None in answers:
        notes.append("Comments could not be loaded.")
    if left > 0:
        notes.append(f"{shown:,} comments are shown; {left:,} more are on the site.")
    return composed(
        joined(*blocks),
        title=title,
        author=found.part("user").line("login"),
        published=found.line("created_at"),
        modified=found.line("updated_at"),
        is_truncated=left > 0,
        notes=tuple(notes),
    )


def _thread_facts(found: Fields, place: Repository, kind: str) -> list[tuple[str, Value]]:
    assignees = [person.line("login") for person in found.parts("assignees")]
    labels = [name for label in found.parts("labels") if (name := label.line("name"))]
    return [
        ("Repository", place.title),
        ("Kind", kind),
        ("State", _state(found)),
        ("From", found.part("head").line("label")),
        ("Into", found.part("base").line("label")),
        ("Merged", found.day("merged_at")),
        ("Commits", found.count("commits")),
        ("Changed files", found.count("changed_files")),
        ("Added lines", found.count("additions")),
        ("Removed lines", found.count("deletions")),
        ("Milestone", found.part("milestone").line("title")),
        ("Assignees", capped(assignees, _MAX_LABELS)),
        ("Closed", found.day("closed_at")),
        ("Author", found.part("user").line("login") or _GONE),
        ("Opened", found.day("created_at")),
        ("Labels", capped(labels, _MAX_LABELS)),
    ]


def _state(found: Fields) -> str:
    if found.day("merged_at") or found.part("pull_request").day("merged_at"):
        return "merged"
    reason = found.line("state_reason").replace("_", " ")
    state = (
        "draft" if found.flag("draft") and found.line("state") == "open" else found.line("state")
    )
    return f"{state} ({reason})" if reason else state


def _caption(comment: Fields) -> str:
    """Describe a comment: author, date and, if it is on code, the line."""
    path, line = comment.line("path"), comment.count("line")
    about = f"{path}, line {line}" if path and line else path
    author, day = comment.part("user").line("login") or _GONE, comment.day("created_at")
    return f"{author}{f' on {about}' if about else ''}{f', {day}' if day else ''}"


def compose_release(answers: Sequence[ReceivedPage | None], *, place: Repository) -> Composed:
    """Make a page of one release; without a tag it raises `ValueError`."""
    release = object_of(answers[0])
    title = f"{place.title} {_release_name(release)}"
    return composed(
        joined(heading(1, title), _release(release, ProseRewriter(f"{place.page}/"), shift=1)),
        title=title,
        author=release.part("author").line("login"),
        published=release.line("published_at"),
    )


def compose_releases(answers: Sequence[ReceivedPage | None], *, place: Repository) -> Composed:
    """Make a page of the newest releases; one without a tag raises `ValueError`."""
    releases, is_whole = list_of(answers[0])
    title = f"Releases of {place.title}"
    prose = ProseRewriter(f"{place.page}/")
    blocks = [heading(1, title)]
    for release in releases[:MAX_RELEASES]:
        blocks += [heading(2, _release_name(release)), _release(release, prose, shift=2)]
    if not releases:
        blocks.append("There are no releases.")
    is_cut = not is_whole or len(releases) >= MAX_RELEASES
    shown = min(len(releases), MAX_RELEASES)
    note = f"The newest {shown} releases are shown; the site may have more."
    return composed(
        joined(*blocks),
        title=title,
        is_truncated=is_cut,
        notes=(note,) if is_cut else (),
    )


def _release_name(release: Fields) -> str:
    tag, name = release.line("tag_name"), release.line("name")
    if not tag:
        raise ValueError("the release has no tag")
    return name if tag in name else f"{tag} {name}".strip()


def _release(release: Fields, prose: ProseRewriter, *, shift: int) -> str:
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


def compose_gist(answers: Sequence[ReceivedPage | None], *, page: str) -> Composed:
    """Make a page of a gist's files; `page` is its address on the site."""
    found = object_of(answers[0])
    files = found.part("files").members()
    if not files:
        raise ValueError("the gist has no files")
    description = found.line("description", 300)
    owner = found.part("owner").line("login")
    title = description or Fields({"name": files[0][0]}).line("name")
    notes: list[str] = []
    blocks = []
    prose = ProseRewriter(page)
    for name, file in files[:MAX_FILES]:
        written, noted = _gist_file(name, file, prose)
        blocks += [heading(2, name), written]
        notes += noted
    left = len(files) - MAX_FILES
    if left > 0:
        notes.append(f"{left:,} more files are left out.")
    if found.flag("truncated"):
        notes.append("The gist has more files than the API returns.")
    return composed(
        joined(
            heading(1, title),
            facts(
                [
                    ("Author", owner),
                    ("Files", len(files)),
                    ("Updated", found.day("updated_at")),
                    ("Comments", found.count("comments")),
                ]
            ),
            *blocks,
        ),
        title=title,
        author=owner,
        published=found.line("created_at"),
        modified=found.line("updated_at"),
        is_truncated=bool(left > 0 or found.flag("truncated")),
        notes=tuple(notes),
    )


def _gist_file(name: str, file: Fields, prose: ProseRewriter) -> tuple[str, list[str]]:
    """Write a file of a gist; the API gives at most 1 MB of it, and binary ones in base64."""
    if file.line("encoding") not in {"", "utf-8"}:
        return "(not text)", []
    named = RawFile(name, base=prose.base)
    written, notes = render(file.text("content"), named, shift=2, prose=prose)
    more = (
        [f"{clean_line(name, 100)} is cut off: the API returns 1 MB of a file."]
        if file.flag("truncated")
        else []
    )
    return written, [*notes, *more]
