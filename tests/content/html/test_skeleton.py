"""Pages that are empty until their scripts run, and pages that are merely short."""

import pytest

from searx_mcp.content.page import read_page
from searx_mcp.content.writing.style import Style

LONG = "<p>" + "A sentence that a reader can read without any script at all. " * 5
SCRIPT = f"<script>{'draw();' * 400}</script>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("<div id=root></div><script type=module src=/m.js></script>", True, id="Vite"),
        pytest.param("<div id=app><!-- --></div><script src=/m.js></script>", True, id="Vue"),
        pytest.param(
            "<div id=__next>Loading…</div><script src=/m.js></script>", True, id="loading"
        ),
        pytest.param("<app-root></app-root><script src=/m.js></script>", True, id="Angular"),
        pytest.param(
            "<noscript>Enable JavaScript.</noscript><script src=/m.js></script>",
            True,
            id="asks in the head",
        ),
        pytest.param(
            "<body><noscript>You need to enable JavaScript to run this app.</noscript><div></div>"
            "<script src=/m.js></script>",
            True,
            id="asks for scripts",
        ),
        pytest.param(
            "<my-page></my-page><script type=module src=/m.js></script>", True, id="module"
        ),
        pytest.param(f"<h1>Shop</h1>{SCRIPT}", True, id="large script"),
        pytest.param(f"<div id=root>{LONG}</div>{SCRIPT}", False, id="drawn by the server"),
        pytest.param(f"<noscript>No JavaScript?</noscript>{LONG}{SCRIPT}", False, id="long enough"),
        pytest.param("<p>Hello.</p><script src=/count.js></script>", False, id="counts visits"),
        pytest.param("<p>Hello.</p>", False, id="short"),
        pytest.param("<div id=root></div>", False, id="no scripts at all"),
        pytest.param(
            "<h1>x</h1><script type='application/ld+json'>" + "[]" * 5_000 + "</script>",
            False,
            id="data",
        ),
        pytest.param("", False, id="empty"),
    ],
)
def test_a_skeleton_is_told_from_a_short_page(body: str, *, expected: bool):
    assert (
        read_page(body, url="https://ex.org/", style=Style(), max_chars=100_000).is_skeleton
        is expected
    )
