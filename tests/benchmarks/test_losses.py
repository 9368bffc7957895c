"""What of a page is not in its Markdown is found, and what only its chrome says."""

from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def page(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("losing.page")


@pytest.fixture(scope="module")
def written(load_benchmark: Callable[[str], ModuleType]) -> ModuleType:
    return load_benchmark("losing.written")


PAGE = """<body><nav><ul><li><a href=/a>Alpha</a></li><li><a href=/b>Beta</a></li></ul></nav><main><h1>Kites<a
class=headerlink href="#k">#</a></h1><p>A kite needs wind and a line. It was <b>flown</b> by day and night<a href="#n1">[1]</a>, too.</p>
<pre><span class=lineno>1</span>fly(<b>10</b>)
land()</pre><table><tr><th>Kite<th>Tail</tr><tr><td>box<td>none</tr></table><table><tr><td>laid<td>out</tr></table>
<ul><li>paper</li><li>silk<p>or nylon</p></li></ul><dl><dt>bridle</dt><dd>cords in front</dd><dt>reel</dt></dl>
<p hidden>Nobody can read this sentence here.</p></main><footer>All rights are reserved here.</footer></body>"""
MARKDOWN = """# Kites

A kite needs wind and a line. It was **flown** by day and night[^1], too.

```
fly(10)
land()
```

| Kite | Tail |
| --- | --- |
| box | none |

- paper
- silk

  or nylon

**bridle**: cords in front

**reel**
"""


def losses(page: ModuleType, written: ModuleType, markdown: str) -> list[tuple[str, str]]:
    read = written.read_markdown(markdown)
    found = ((part.kind, written.missing(part, read)[0]) for part in page.read_source(PAGE).parts)
    return [(kind, verdict) for kind, verdict in found if verdict]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("", "", [], id="nothing"),
        pytest.param("# Kites", "Kites", [("heading", "as text")], id="heading as text"),
        pytest.param("# Kites", "", [("heading", "gone")], id="heading gone"),
        pytest.param(
            "```\nfly(10)\nland()\n```", "fly(10) land()", [("fence", "as text")], id="code"
        ),
        pytest.param("| box | none |", "box none", [("table", "as text")], id="row"),
        pytest.param("| box | none |", "| box | |", [("table", "gone")], id="cell"),
        pytest.param("- paper\n- silk", "paper\n\nsilk", [("list", "as text")], id="list"),
        pytest.param("**reel**", "", [("list", "gone")], id="term"),
        pytest.param(
            "It was **flown** by day and night[^1], too.", "", [("sentence", "gone")], id="sentence"
        ),
    ],
)
def test_a_part_that_is_lost_is_told_from_one_that_is_only_text(page, written, old, new, expected):
    assert losses(page, written, MARKDOWN.replace(old, new)) == expected


def test_what_is_around_the_main_element_is_chrome(page):
    source = page.read_source(PAGE)
    assert source.chrome == page.words_of("Alpha Beta All rights are reserved here.")
    assert not set(source.words) & {"alpha", "nobody"}


def test_the_main_element_can_be_selected(page):
    source = page.read_source("<div id=a><h1>A</h1></div><main><h1>B</h1></main>", main="#a")
    assert [part.text for part in source.parts] == ["A"]
