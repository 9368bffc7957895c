"""Files of GitHub."""

import pytest

TEXT = "one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("https://github.com/o/r/blob/main/src/a.py#L2", "src/a.py, line 2 of 3"),
        ("https://github.com/o/r/blob/main/src/a.py?plain=1#L2-L3", "src/a.py, lines 2 to 3 of 3"),
        ("https://github.com/o/r/raw/main/src/a.py#L1", "src/a.py, line 1 of 3"),
        ("https://raw.githubusercontent.com/o/r/main/src/a.py#L1", "src/a.py, line 1 of 3"),
        ("https://raw.githubusercontent.com/o/r/refs/heads/main/src/a.py", "src/a.py"),
        ("https://github.com/o/r/blob/refs/tags/v1/a.py", "a.py"),
        ("https://github.com/o/r/blob/feature/x/a.py", "x/a.py"),
        (
            "https://gist.githubusercontent.com/o/aa5a315d61ae9438b18d/raw/a.py#L3",
            "a.py, line 3 of 3",
        ),
    ],
)
def test_a_file_is_called_by_its_path_and_lines(read, url, where):
    assert read(url, TEXT).markdown.split("\n")[0] == f"# {where}"
