"""Files of GitHub."""

from collections.abc import Callable

import pytest

from searx_mcp.content.document import Document

TEXT = "one\ntwo\nthree\n"
MARKDOWN = "# T\n\n[x](y.md) [z](/z.md)"


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("https://github.com/o/r/blob/main/src/a.py#L2", "src/a.py, line 2 of 3"),
        ("https://github.com/o/r/blob/main/src/a.py?plain=1#L2-L3", "src/a.py, lines 2 to 3 of 3"),
        ("https://github.com/o/r/raw/main/src/a.py#L1", "src/a.py, line 1 of 3"),
        ("https://raw.githubusercontent.com/o/r/main/src/a.py#L1", "src/a.py, line 1 of 3"),
        (
            "https://raw.githubusercontent.com/o/r/refs/heads/main/src/a.py",
            "src/a.py",
        ),
        ("https://github.com/o/r/blob/refs/tags/v1/a.py", "a.py"),
        ("https://github.com/o/r/blob/feature/x/a.py", "x/a.py"),
        (
            "https://gist.githubusercontent.com/o/aa5a315d61ae9438b18d/raw/a.py#L3",
            "a.py, line 3 of 3",
        ),
    ],
)
def test_a_file_is_called_by_its_path_and_lines(
    read: Callable[..., Document], url: str, where: str
):
    assert read(url, TEXT).markdown.split("\n")[0] == f"# {where}"


@pytest.mark.parametrize(
    ("url", "is_source"),
    [
        ("https://github.com/o/r/blob/main/a.md", False),
        ("https://github.com/o/r/blob/main/a.md?plain=1", True),
        ("https://github.com/o/r/blob/main/a.md?plain=0", False),
        ("https://github.com/o/r/raw/main/a.md?plain=1", False),
    ],
)
def test_the_source_of_markdown_can_be_asked_for(
    read: Callable[..., Document], url: str, *, is_source: bool
):
    assert ("```markdown" in read(url, MARKDOWN).markdown) is is_source


@pytest.mark.parametrize("ref", ["main", "refs/heads/main"])
def test_links_stay_in_the_repository(read: Callable[..., Document], ref: str):
    page = read(f"https://github.com/o/r/blob/{ref}/docs/a.md", MARKDOWN)
    home = f"https://github.com/o/r/blob/{ref}"
    assert page.markdown == f"# T\n\n[x]({home}/docs/y.md) [z]({home}/z.md)"
