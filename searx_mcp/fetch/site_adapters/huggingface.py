"""Hugging Face: files by their `resolve` address, repositories from the Hub API and their card."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Final

from yarl import URL

from searx_mcp.content.values import Fields
from searx_mcp.fetch.hops.answers import ReceivedPage
from searx_mcp.fetch.site_adapters.adapter import (
    AdapterSource,
    Composed,
    Plan,
    address,
    composed,
    is_at,
    lines_of,
    object_of,
    parts_of,
)
from searx_mcp.fetch.site_adapters.markdown import (
    Value,
    capped,
    facts,
    from_markdown,
    front_matter,
    heading,
    joined,
)
from searx_mcp.fetch.site_adapters.raw_files import RawFile, plan_file

SITE: Final = "https://huggingface.co"
_HOSTS: Final = frozenset({"huggingface.co", "www.huggingface.co", "hf.co"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_MAX_TAGS: Final = 40
_KINDS: Final = {"datasets": "Dataset", "spaces": "Space"}
_RESERVED: Final = frozenset({
    "api", "blog", "changelog", "chat", "collections", "competitions", "contact", "coworkers",
    "datasets", "docs", "enterprise", "inference", "inference-endpoints", "join", "jobs",
    "kernels", "languages", "learn", "login", "logout", "metrics", "models", "new", "new-dataset",
    "new-space", "notifications", "oauth", "organizations", "papers", "playground", "posts",
    "pricing", "privacy", "search", "settings", "spaces", "storage", "support", "tasks", "terms",
    "terms-of-service", "welcome",
})  # fmt: skip

# The page of such a file shows its size and hash, which is more than a refusal.
_BINARY: Final = frozenset({
    ".arrow", ".avi", ".bin", ".bz2", ".ckpt", ".flac", ".gguf", ".gz", ".h5", ".jpeg", ".jpg",
    ".joblib", ".keras", ".mlmodel", ".model", ".mp3", ".mp4", ".msgpack", ".npy", ".npz", ".ogg",
    ".onnx", ".ot", ".parquet", ".pb", ".pickle", ".pkl", ".png", ".pt", ".pth", ".safetensors",
    ".tar", ".tflite", ".wasm", ".wav", ".webp", ".xz", ".zip", ".zst",
})  # fmt: skip

# The requested fields; by default the answer names every file, thousands in some repositories.
_FIELDS: Final = {
    "models": (
        "author", "cardData", "createdAt", "downloads", "gated", "lastModified", "library_name",
        "likes", "pipeline_tag", "tags",
    ),
    "datasets": (
        "author", "cardData", "createdAt", "description", "downloads", "gated", "lastModified",
        "likes", "tags",
    ),
    "spaces": ("author", "cardData", "createdAt", "lastModified", "likes", "sdk", "tags"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Repository:
    """A model, a dataset or a space.

    Attributes:
        kind: `models`, `datasets` or `spaces`.
        owner: account name.
        name: of the repository.
    """

    kind: str
    owner: str
    name: str

    @property
    def title(self) -> str:
        return f"{self.owner}/{self.name}"

    @property
    def path(self) -> tuple[str, ...]:
        """Its path on the site; models have no folder of their own."""
        place = (self.owner, self.name)
        return place if self.kind == "models" else (self.kind, *place)


def plan_huggingface(url: URL) -> Plan | None:
    """Plan to read a file; or of a model, dataset or space, the Hub API's description and the card."""
    # Revision names may contain slashes, which are encoded: refs%2Fpr%2F1.
    parts = parts_of(url, with_slashes=True) if is_at(url, _HOSTS) else None
    match parts:
        case ["datasets" | "spaces" as kind, owner, name, *rest]:
            place = _Repository(kind, owner, name)
        case [owner, name, *rest] if owner.lower() not in _RESERVED:
            place = _Repository("models", owner, name)
        case _:
            return None
    if not _NAME.fullmatch(place.owner) or not _NAME.fullmatch(place.name):
        return None
    match rest:
        case []:
            return _root(place)
        case ["blob" | "raw" | "resolve" as how, revision, *path] if path:
            return _file(url, place, revision, path, is_page=how == "blob")
        case _:
            return None


def _root(place: _Repository) -> Plan:
    # Repeated names, which a mapping cannot hold.
    api = URL(address(SITE, "api", place.kind, place.owner, place.name)).with_query(
        [("expand", field) for field in _FIELDS[place.kind]]
    )
    card = address(SITE, *place.path, "resolve", "main", "README.md")
    return Plan(
        tier="huggingface",
        sources=(
            AdapterSource(str(api), accept="application/json"),
            AdapterSource(card, is_required=False),
        ),
        compose=partial(_compose_root, place=place),
    )


def _file(
    url: URL, place: _Repository, revision: str, path: list[str], *, is_page: bool
) -> Plan | None:
    if any("/" in part for part in path):
        return None
    if is_page and PurePosixPath(path[-1].lower()).suffix in _BINARY:
        return None
    file = RawFile(
        path="/".join(path),
        base=address(SITE, *place.path, "blob", revision, *path),
        root=address(SITE, *place.path, "blob", revision),
        lines=lines_of(url.fragment),
    )
    source = AdapterSource(address(SITE, *place.path, "resolve", revision, *path))
    return plan_file("huggingface", source, file)


def _compose_root(answers: Sequence[ReceivedPage | None], *, place: _Repository) -> Composed:
    found = object_of(answers[0])
    title = found.line("id")
    if not title:
        raise ValueError("the answer names no repository")
    card = answers[1]
    notes = [] if card is not None else ["The repository has no readable card."]
    if found.line("gated") or found.flag("gated"):
        notes.insert(0, "Its files are available only after accepting its terms.")
    prose = ""
    if card is not None:
        _, text = front_matter(card.body.data.decode(errors="replace"))
        root = address(SITE, *place.path, "blob", "main")
        prose = from_markdown(text, base=f"{root}/README.md", root=root, shift=1)
    return composed(
        joined(heading(1, title), facts(_facts(found, place)), prose),
        title=title,
        description=found.line("description", 1_000),
        author=found.line("author"),
        published=found.line("createdAt"),
        modified=found.line("lastModified"),
        is_truncated=card is not None and card.body.truncated,
        notes=tuple(notes),
    )


def _facts(found: Fields, place: _Repository) -> list[tuple[str, Value]]:
    card = found.part("cardData")
    return [
        ("Kind", _KINDS.get(place.kind, "Model")),
        ("Task", found.line("pipeline_tag")),
        ("Library", found.line("library_name")),
        ("SDK", found.line("sdk")),
        ("Licence", card.line("license_name") or capped(card.lines("license"), 3)),
        ("Languages", capped(card.lines("language", 30), 20)),
        ("Base model", capped(card.lines("base_model"), 5)),
        ("Trained on", capped(card.lines("datasets"), 10)),
        ("Downloads in 30 days", found.count("downloads")),
        ("Likes", found.count("likes")),
        ("Last modified", found.day("lastModified")),
        ("Tags", capped(found.lines("tags", 60), _MAX_TAGS)),
    ]
