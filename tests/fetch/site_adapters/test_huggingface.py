"""Hugging Face."""

from typing import Any

import pytest

from searx_mcp.fetch.site_adapters.adapter import AsPage

ROOT = "https://huggingface.co/org/model"

# Members of ApiModelInfo in huggingface.js.
MODEL: dict[str, Any] = {
    "id": "org/model",
    "author": "org",
    "cardData": {
        "license": "apache-2.0", "language": ["en", "de"], "base_model": "org/base",
        "datasets": ["org/data"],
    },
    "createdAt": "2024-01-02T00:00:00.000Z",
    "downloads": 12_345,
    "gated": False,
    "lastModified": "2026-01-02T00:00:00.000Z",
    "library_name": "transformers",
    "likes": 7,
    "pipeline_tag": "text-generation",
    "tags": ["a", "b"],
}  # fmt: skip
CARD = "---\nlicense: apache-2.0\n---\n# Model\n\n[x](docs/y.md) [z](/z.md) ![i](u)"


def test_a_model_is_shown_with_its_card(read):
    page = read(ROOT, MODEL, CARD)
    assert page.markdown == (
        "# org/model\n\n- Kind: Model\n- Task: text-generation\n- Library: transformers\n"
        "- Licence: apache-2.0\n- Languages: en, de\n- Base model: org/base\n"
        "- Trained on: org/data\n- Downloads in 30 days: 12,345\n- Likes: 7\n"
        "- Last modified: 2026-01-02\n- Tags: a, b\n\n## Model\n\n"
        f"[x]({ROOT}/blob/main/docs/y.md) [z]({ROOT}/blob/main/z.md) [image: i]"
    )
    assert (page.title, page.author, page.notes) == ("org/model", "org", ())


@pytest.mark.parametrize(("folder", "kind"), [("datasets", "Dataset"), ("spaces", "Space")])
def test_datasets_and_spaces_are_told_apart(read, folder, kind):
    page = read(f"https://huggingface.co/{folder}/org/x", {"id": "org/x"}, "# T\n\n[x](y)")
    assert page.markdown == (
        f"# org/x\n\n- Kind: {kind}\n\n## T\n\n[x](https://huggingface.co/{folder}/org/x/blob/main/y)"
    )


@pytest.mark.parametrize(
    ("gated", "is_gated"),
    [("auto", True), ("manual", True), (True, True), (False, False), (None, False)],
)
def test_gated_files_are_told(read, gated, is_gated):
    notes = read(ROOT, {**MODEL, "gated": gated}, CARD).notes
    assert any("accepting its terms" in note for note in notes) is is_gated


def test_a_missing_card_is_told(read, answer):
    assert read(ROOT, MODEL, None).notes == ("The repository has no readable card.",)
    assert read(ROOT, MODEL, answer(CARD, is_truncated=True)).truncated


def test_a_file_is_shown(read):
    page = read(f"{ROOT}/blob/main/src/a.py#L1-L2", "a\nb\nc\n")
    assert page.markdown == "# src/a.py, lines 1 to 2 of 3\n\n```python\na\nb\n```"


def test_a_file_of_weights_is_left_to_the_fetcher(plan, answer):
    found = plan(f"{ROOT}/resolve/main/w.bin")
    assert found is not None
    material = answer(b"\x00", media="application/octet-stream")
    assert isinstance(found.compose([material]), AsPage)


@pytest.mark.parametrize(
    "value", [None, True, -1, 1.5, "![x](y)", [], [None], [3], {}, {"license": 3}]
)
@pytest.mark.parametrize("name", [name for name in MODEL if name != "id"])
def test_a_member_of_another_type_is_a_missing_one(read, name, value):
    page = read(ROOT, {**MODEL, name: value}, None)
    assert page.title == "org/model"
    assert "![x](" not in page.markdown
