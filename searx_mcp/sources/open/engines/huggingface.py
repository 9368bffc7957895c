"""Hugging Face: models, data sets and demonstrations by name."""

import re
from typing import Final

from searx_mcp.content.clean import clean_line
from searx_mcp.content.values import Fields, loads, objects
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import (
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    Routing,
    Scope,
)
from searx_mcp.sources.open.question import Ecosystem, Signal
from searx_mcp.sources.open.rows import Rows

NAME: Final = "huggingface"
PER_PAGE: Final = 10
MAX_KEYWORDS: Final = 2
"""Maximum words, which must be in the name of a result."""
AIMS: Final = frozenset({"models", "datasets", "spaces"})

_SITE: Final = "https://huggingface.co/"
_MAX_WORDS: Final = 100
_MAX_TAGS: Final = 12
_NAME: Final = re.compile(r"\w[\w.-]{0,99}(?:/\w[\w.-]{0,99})?", re.ASCII)
_KINDS: Final = frozenset(
    {
        "model", "models", "dataset", "datasets", "space", "spaces", "hugging", "face",
        "hugging face", "huggingface", "hf",
    }
)  # fmt: skip
"""Words for the kind of thing, which few names contain."""
_SILENT: Final = ("region:", "endpoints_compatible", "autotrain_compatible", "deploy:")
"""Tags about the service itself."""


def aim(scope: Scope) -> str:
    """Choose data sets if the question asks for them, and not for models."""
    is_data = (
        Signal.DATASET in scope.question.signals and Signal.MODEL not in scope.question.signals
    )
    return "datasets" if is_data else "models"


def ask(query: OpenQuery) -> Ask | None:
    """Search names, most downloaded first, for the first two words that are not a kind of thing."""
    words = [word.replace('"', " ").strip() for word in query.keywords]
    telling = [word for word in words if word and word.lower() not in _KINDS]
    wanted = " ".join((telling or words)[:MAX_KEYWORDS]).strip()
    if not wanted or len(wanted) > _MAX_WORDS:
        return None
    aim = _aim(query)
    # Spaces have no downloads, so the documented sort order of the others does not exist there.
    sort = {"sort": "likes"} if aim == "spaces" else {}
    return Ask({"search": wanted, "limit": str(PER_PAGE), **sort}, path=(aim,))


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse a list; models have their pages at the root, everything else below its kind."""
    answer = loads(body)
    if not isinstance(answer, list):
        raise ValueError("the answer is not a list")  # noqa: TRY004 - says what the service sent
    aim = _aim(query)
    root = _SITE if aim == "models" else f"{_SITE}{aim}/"
    rows = Rows(NAME, query)
    for item in objects(answer):
        name = item.line("id")
        if not _NAME.fullmatch(name) or item.flag("private"):
            rows.skip()
            continue
        owner = name.partition("/")[0] if "/" in name else ""
        rows.add(
            f"{root}{name}",
            name,
            description=_about(item),
            published=item.text("createdAt") or item.text("lastModified"),
            author=item.line("author") or owner,
        )
    return rows.parsed()


def _aim(query: OpenQuery) -> str:
    if query.aim in AIMS:
        return query.aim
    return "datasets" if query.category == Category.FILES else "models"


def _about(item: Fields) -> str:
    """Return the description, which only data sets have, and facts from numbers and tags."""
    downloads, likes = item.count("downloads"), item.count("likes")
    tags = [tag for tag in item.lines("tags", 60) if not tag.startswith(_SILENT)]
    facts = [
        clean_line(item.text("description"), 600),
        item.line("pipeline_tag"),
        item.line("library_name") or item.line("sdk"),
        "" if downloads is None else f"downloads: {downloads:,}",
        "" if likes is None else f"likes: {likes:,}",
        f"tags: {', '.join(tags[:_MAX_TAGS])}" if tags else "",
    ]
    return " | ".join(filter(None, facts))


ENGINE: Final = Engine(
    name=NAME,
    title="Hugging Face",
    operator="Hugging Face Inc., US",
    categories={Category.IT: 1, Category.SCIENCE: 1, Category.FILES: 1},
    endpoint="https://huggingface.co/api",
    parameters={"sort": "downloads"},
    ask=ask,
    parse=parse,
    aim=aim,
    weight=0.6,
    # It allows 500 requests in five minutes per address.
    gap=1.0,
    per_day=500,
    timeout=5.0,
    triggered=True,
    pages=False,
    hosts=("huggingface.co",),
    routing=Routing(
        signals={Signal.MODEL: 4, Signal.DATASET: 3},
        pairs={frozenset({Signal.DATASET, Signal.SCHOLARLY}): -1},
        within={
            Category.IT: {Signal.PACKAGE: 5, Signal.MODEL: 5, Signal.DATASET: 5},
            Category.SCIENCE: {Signal.MODEL: 1, Signal.DATASET: 2},
            Category.FILES: {Signal.MODEL: 5, Signal.DATASET: 4},
        },
        further={"packages": 3, "repos": 2},
        ecosystem=Ecosystem.HUGGINGFACE,
    ),
    words=EngineWords(
        names="huggingface hugging_face",
        frames=(
            "huggingface_model_for hugging_face_model_for huggingface_models_for "
            "huggingface_dataset_for hugging_face_dataset_for huggingface hugging_face "
            "on_huggingface on_hugging_face"
        ),
        implied="model models dataset datasets data set huggingface hugging face hf llm",
    ),
    searches_unseen=True,
    terms_url="https://huggingface.co/docs/hub/rate-limits",
    terms_checked="2026-11",
)
