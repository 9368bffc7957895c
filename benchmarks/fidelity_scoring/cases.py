"""Our own pages with the Markdown that is expected of them, for checks without a checkout."""

from typing import Final

_PARAGRAPH: Final = "<p>" + " ".join(["A sentence that makes this page one to read."] * 4) + "</p>"
"""Around every case, so that it stands in a page with content."""

_FRAGMENTS: Final[dict[str, tuple[str, str]]] = {
    "code": (
        (
            '<div class="highlight-python"><div class="highlight"><pre><span class="linenos">1</span>'
            'def <b>f</b>():\n<span class="linenos">2</span>    return 1\n</pre></div></div>'
        ),
        "```python\ndef f():\n    return 1\n```",
    ),
    "code in a table": (
        (
            '<table><tbody><tr><td class="gutter"><pre>1\n2</pre></td><td class="code"><pre class="language-c">'
            "int a;\nint b;</pre></td></tr></tbody></table>"
        ),
        "```c\nint a;\nint b;\n```",
    ),
    "formulas": (
        (
            '<p>With <span class="katex"><span class="katex-mathml"><math><semantics><mi>x</mi><annotation '
            'encoding="application/x-tex">x^2</annotation></semantics></math></span><span class="katex-html" '
            'aria-hidden="true">x2</span></span>:</p><math display="block"><mfrac><mi>a</mi><mi>b</mi></mfrac>'
            "</math>"
        ),
        "With $x^2$:\n\n$$\n\\frac{a}{b}\n$$",
    ),
    "table": (
        (
            "<table><thead><tr><th>Name</th><th>Size</th></tr></thead><tbody><tr><td>a</td><td>1</td></tr>"
            "<tr><td>b</td><td>2</td></tr></tbody></table>"
        ),
        "| Name | Size |\n| --- | --- |\n| a | 1 |\n| b | 2 |",
    ),
    "footnotes": (
        (
            '<p>These are the very first words.<sup><a href="#fn1" id="r1">1</a></sup> And these are the second words.<sup><a href="#fn2" id="r2">2'
            '</a></sup></p><ol class="footnotes"><li id="fn1">One. <a href="#r1">↩</a></li><li id="fn2">Two. <a '
            'href="#r2">↩</a></li></ol>'
        ),
        "These are the very first words.[^1] And these are the second words.[^2]\n\n[^1]: One.\n\n[^2]: Two.",
    ),
    "callouts": (
        (
            '<div class="admonition warning"><p class="admonition-title">Warning</p><p>Mind the gap.</p></div>'
            "<p>Between them.</p>"
            '<div class="markdown-alert markdown-alert-tip"><p class="markdown-alert-title">A title</p><p>Use it.'
            "</p></div>"
        ),
        "> [!warning] Warning\n> Mind the gap.\n\nBetween them.\n\n> [!tip] A title\n> Use it.",
    ),
}

CASES: Final[dict[str, tuple[str, str]]] = {
    name: (
        f"<!doctype html><title>Case</title><article>{_PARAGRAPH}{html}{_PARAGRAPH}</article>",
        text,
    )
    for name, (html, text) in _FRAGMENTS.items()
}
"""A page and what of its Markdown is counted."""
