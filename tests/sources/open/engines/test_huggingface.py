"""The search of Hugging Face, and its answers."""

import json

import pytest

from searx_mcp.models.request import Category, TimeRange

SITE = "https://huggingface.co"


def test_a_question_becomes_an_address(ask, engine):
    row = engine("huggingface")
    url = row.url(row.ask(ask()))
    assert url.startswith(f"{SITE}/api/models?sort=downloads&")
    assert url.endswith("&search=red%20panda&limit=10")


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        pytest.param({"page": 2}, "&search=red%20panda&limit=10", id="no pages"),
        pytest.param({"time_range": TimeRange.DAY}, "&search=red%20panda&limit=10", id="no ages"),
        pytest.param({"language": "de"}, "&search=red%20panda&", id="no languages"),
        pytest.param({"aim": "datasets"}, "/api/datasets?", id="data sets"),
        pytest.param({"aim": "spaces"}, "/api/spaces?sort=likes&", id="demonstrations"),
        pytest.param({"aim": "../whoami"}, "/api/models?", id="no aim"),
        pytest.param({"category": Category.SCIENCE}, "/api/models?", id="science"),
        pytest.param({"category": Category.FILES}, "/api/datasets?", id="files"),
        pytest.param({"category": Category.FILES, "aim": "models"}, "/api/models?", id="both"),
        pytest.param(
            {"keywords": ("C++", '"<vector>"')}, "&search=C%2B%2B%20%3Cvector%3E&", id="signs"
        ),
        pytest.param({"keywords": ("a", "b", "c")}, "&search=a%20b&", id="two words"),
        pytest.param(
            {"keywords": ("Huggingface", "panda", "dataset")}, "&search=panda&", id="its kind"
        ),
        pytest.param({"keywords": ("model",)}, "&search=model&", id="only its kind"),
    ],
)
def test_what_is_asked_changes_the_address(ask, engine, fields, part):
    row = engine("huggingface")
    assert part in row.url(row.ask(ask(**fields)))


def test_a_model_is_described_by_numbers_and_tags(ask, engine, answer):
    parsed = engine("huggingface").parse(answer("huggingface.json"), ask())
    first, second = parsed.hits
    assert (first.url, first.title) == (f"{SITE}/example/red-panda-7b", "example/red-panda-7b")
    assert first.description == (
        "text-generation | transformers | downloads: 1,234,567 | likes: 1,200"
        " | tags: transformers, safetensors, text-generation, en, license:apache-2.0"
    )
    assert (first.published_at, first.author) == ("2026-05-26T09:12:25+00:00", "example")
    assert (second.url, second.author) == (f"{SITE}/panda-base", "")
    assert second.description == "downloads: 7 | likes: 0"
    assert (parsed.rows_seen, parsed.has_next) == (2, None)


def test_a_data_set_has_a_page_below_its_kind(ask, engine, answer):
    body = answer("huggingface-datasets.json")
    (hit,) = engine("huggingface").parse(body, ask(aim="datasets")).hits
    assert hit.url == f"{SITE}/datasets/example/red-pandas"
    assert hit.description.startswith("Red pandas A thousand sentences about pandas.")
    assert (hit.published_at, hit.author) == ("2025-05-26T09:12:25+00:00", "example")


def test_hostile_rows_become_text_or_nothing(ask, engine):
    items = [
        {"id": "../../evil/x"},
        {"id": "../evil"},
        {"id": "a/b/c"},
        {"id": "javascript:alert(1)"},
        {"id": "熊/猫"},
        {"id": 7},
        {"id": "a/private", "private": True},
        {
            "id": "a/b",
            "description": "A\u202e\x1b[31m set",
            "tags": [1, "<b>"],
            "likes": -1,
            "downloads": "many",
            "createdAt": {},
            "lastModified": "yesterday",
        },
    ]
    parsed = engine("huggingface").parse(json.dumps(items).encode(), ask())
    (hit,) = parsed.hits
    assert (hit.url, hit.description) == (f"{SITE}/a/b", "A set | tags: <b>")
    assert hit.published_at is None
    assert parsed.rows_seen == 8
