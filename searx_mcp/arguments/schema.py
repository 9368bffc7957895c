"""The published descriptions of the arguments."""

from typing import TypeAlias

from searx_mcp.arguments.search import SearchDefaults, parse_search
from searx_mcp.arguments.values import AGES
from searx_mcp.models.base import Frozen
from searx_mcp.models.request import (
    MAX_QUERY_LENGTH,
    Category,
    FetchRequest,
    Images,
    SearchRequest,
)

_Changes: TypeAlias = dict[str, dict[str, object]]
_UNPUBLISHED: dict[type[Frozen], frozenset[str]] = {
    SearchRequest: frozenset({"engines", "source", "offset"}),
    FetchRequest: frozenset({"limit", "further_urls", "by_person", "ignore_robots"}),
}
"""Accepted from a model, but for those of a person, and not worth the words in every conversation."""

_UNSAID = frozenset({"title", "$ref", "anyOf"})
_LONG = frozenset({"minLength", "maxLength", "maxItems", "pattern"})
"""What a model cannot count or never comes near; a call that breaks it is told."""


def search_schema(defaults: SearchDefaults) -> dict[str, object]:
    """Describe the arguments of `web_search` as a JSON schema that every known client reads.

    It has no unions, references and nulls, and only non-empty text in an `enum`. What is accepted
    beyond it stays unsaid, because each word costs every conversation.
    """
    default = parse_search({"query": "-"}, defaults=defaults)
    changes: _Changes = {
        "query": {"minLength": 1, "maxLength": MAX_QUERY_LENGTH},
        "category": {
            "enum": list(dict.fromkeys((*Category, default.category))),
            "default": default.category,
        },
        "language": {"description": "en, en-US, all, auto", "default": default.language},
        "results_count": {"maximum": defaults.max_results, "default": default.results_count},
        "fetch_content": {"description": "Also read the pages", "default": default.fetch_content},
        "safe_search": {
            "description": "0 off, 1 moderate, 2 strict",
            "minimum": 0,
            "maximum": 2,
            "enum": None,
            "default": default.safe_search.value,
        },
        "time_range": {"enum": [*AGES], "default": default.time_range.value or "any"},
        "allowed_domains": {"description": "Only these and subdomains"},
        "search_prompt": {"description": "What you want to know"},
        "timeout": {
            "type": "integer",
            "description": "Seconds",
            "minimum": None,
            "maximum": None,
        },
        "max_tokens": {"minimum": None, "maximum": None},
        "page": {"default": None, "minimum": None, "maximum": None},
    }
    return _schema(SearchRequest, changes)


def fetch_schema(
    *, timeout: float = 30.0, max_content_length: int = 1_048_576
) -> dict[str, object]:
    """Describe the arguments of `web_fetch` likewise; the defaults are seconds and bytes."""
    changes: _Changes = {
        "url": {"default": None},
        "cursor": {"description": "To read on"},
        "offset": {"default": None, "minimum": None, "maximum": None},
        "max_chars": {"description": "Size of the answer", "minimum": None, "maximum": None},
        "section": {"description": "Heading or #fragment"},
        "prompt": {"description": "What you want to know"},
        "images": {"enum": [Images.LINKS, Images.INLINE], "default": None},
        "force_refresh": {"default": None},
        "timeout": {"type": "integer", "description": "Seconds", "default": max(5, round(timeout))},
        "max_content_length": {"description": "Bytes", "default": max_content_length},
    }
    return _schema(FetchRequest, changes)


def _schema(model: type[Frozen], changes: _Changes) -> dict[str, object]:
    """Resolve what pydantic writes with references and unions, and leave out what says nothing."""
    whole = model.model_json_schema()
    properties = {}
    for name, rules in whole["properties"].items():
        if name in _UNPUBLISHED[model]:
            continue
        rules = {**rules.get("anyOf", [{}])[0], **rules}  # noqa: PLW2901 - the first of a union
        definition = whole.get("$defs", {}).get(rules.get("$ref", "").rpartition("/")[2], {})
        merged = {**definition, "description": "", **rules}
        merged = {rule: value for rule, value in merged.items() if rule not in _LONG}
        properties[name] = {
            rule: value
            for rule, value in (merged | changes.get(name, {})).items()
            if rule not in _UNSAID and value not in (None, "", [])
        }
    # Unknown names are refused by us. Gemini's clients refuse a schema that says so.
    schema: dict[str, object] = {"type": "object", "properties": properties}
    return {**schema, "required": whole["required"]} if "required" in whole else schema
