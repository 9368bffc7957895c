"""The search of Hugging Face, and its answers."""

SITE = "https://huggingface.co"


def test_a_model_is_described_by_numbers_and_tags(read, answer):
    parsed = read("huggingface", answer("huggingface.json"))
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


def test_a_data_set_has_a_page_below_its_kind(read, answer):
    body = answer("huggingface-datasets.json")
    (hit,) = read("huggingface", body, aim="datasets").hits
    assert hit.url == f"{SITE}/datasets/example/red-pandas"
    assert hit.description.startswith("Red pandas A thousand sentences about pandas.")
    assert (hit.published_at, hit.author) == ("2025-05-26T09:12:25+00:00", "example")


def test_hostile_rows_become_text_or_nothing(read):
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
    parsed = read("huggingface", items)
    (hit,) = parsed.hits
    assert (hit.url, hit.description) == (f"{SITE}/a/b", "A set | tags: <b>")
    assert hit.published_at is None
    assert parsed.rows_seen == 8
