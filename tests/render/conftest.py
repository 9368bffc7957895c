"""Answers to render."""

from collections.abc import Callable
from typing import Any

import pytest

from searx_mcp.models.page import Page
from searx_mcp.models.request import Category, SafeSearch, TimeRange
from searx_mcp.models.response import SearchResponse, SearchResult


@pytest.fixture(scope="session")
def make_response() -> Callable[..., SearchResponse]:
    def make(*results: SearchResult, **fields: Any) -> SearchResponse:
        defaults: dict[str, Any] = {
            "query": "rust async",
            "category": Category.GENERAL,
            "language": "en",
            "safe_search": SafeSearch.MODERATE,
            "time_range": TimeRange.ANY,
            "fetch_content": False,
            "results_count": len(results),
            "search_time_ms": 1250,
            "instance_used": "https://search.example.org/",
            "results": results,
            "total_results": len(results),
            "engines_used": ("duckduckgo",),
        }
        return SearchResponse(**(defaults | fields))

    return make


@pytest.fixture(scope="session")
def make_page() -> Callable[..., Page]:
    def make(markdown: str, **fields: Any) -> Page:
        defaults: dict[str, Any] = {
            "url": "https://example.com/page",
            "final_url": "https://example.com/page",
            "title": "Example",
            "content_type": "text/html",
            "content_length": 15_420,
            "status_code": 200,
            "response_time_ms": 245,
            "markdown_content": markdown,
            "word_count": len(markdown.split()),
        }
        return Page(**(defaults | fields))

    return make
