import re

import pytest


def found(html):
    """The names of references in order, and the text of each note by its name."""
    references = re.findall(r'<x-reference name="([^"]*)"></x-reference>', html)
    notes = re.findall(r'<x-note name="([^"]*)">(.*?)</x-note>', html, re.DOTALL)
    return references, {name: _text(note) for name, note in notes}


def _text(html):
    return " ".join(re.sub(r"<[^>]*>", "", html).split())


ONE = (["1"], {"1": "The note."})
TWO = (["1", "2"], {"1": "The note.", "2": "Another one."})


ONE_NOTE = {
    "GitHub":
        '<p>Word.<sup><a href="#fn-1" id="fnref-1" data-footnote-ref>1</a></sup></p><section '
        'class="footnotes"><h2 class="sr-only">Footnotes</h2><ol><li id="fn-1"><p>The note. <a '
        'href="#fnref-1" class="data-footnote-backref">↩</a></p></li></ol></section>',
    "Pandoc":
        '<p>Word.<a href="#fn1" class="footnote-ref" id="fnref1" role="doc-noteref"><sup>1</sup></a></p>'
        '<section class="footnotes" role="doc-endnotes"><hr><ol><li id="fn1" role="doc-endnote"><p>The '
        'note.<a href="#fnref1" class="footnote-back" role="doc-backlink">↩︎</a></p></li></ol></section>',
    "markdown-it":
        '<p>Word.<sup class="footnote-ref"><a href="#fn1" id="fnref1">[1]</a></sup></p><ol '
        'class="footnotes-list"><li id="fn1" class="footnote-item"><p>The note. <a href="#fnref1" '
        'class="footnote-backref">↩</a></p></li></ol>',
    "Sphinx":
        '<p>Word.<a class="footnote-reference" href="#id2" id="id1">[1]</a></p><aside class="footnote" '
        'id="id2"><span class="label">[<a href="#id1">1</a>]</span><p>The note.</p></aside>',
    "Docutils, terms":
        '<p>Word.<a class="footnote-reference" href="#id2" id="id1">1</a></p><dl class="footnote"><dt '
        'class="label" id="id2"><span class="brackets"><a href="#id1">1</a></span></dt><dd><p>The note.'
        "</p></dd></dl>",
    "Docutils, table":
        '<p>Word.<a class="footnote-reference" href="#id2" id="id1">[1]</a></p><table class="docutils '
        'footnote" id="id2"><tbody><tr><td class="label"><a href="#id1">[1]</a></td><td>The note.</td>'
        "</tr></tbody></table>",
    "MediaWiki":
        '<p>Word.<sup id="cite_ref-1" class="reference"><a href="#cite_note-1"><span>[</span>1<span>]'
        '</span></a></sup></p><ol class="references"><li id="cite_note-1"><span class="mw-cite-backlink">'
        '<b><a href="#cite_ref-1">^</a></b></span> <span class="reference-text">The note.</span></li></ol>',
    "Substack":
        '<p>Word.<a id="footnote-anchor-1" href="https://example.org/p/x#footnote-1" class="footnote-anchor">'
        '1</a></p><div class="footnote"><a id="footnote-1" href="https://example.org/p/x#footnote-anchor-1" '
        'class="footnote-number">1</a><div class="footnote-content"><p>The note.</p></div></div>',
    "WordPress":
        '<p>Word.<sup data-fn="0ab" class="fn"><a href="#0ab" id="0ab-link">1</a></sup></p><ol '
        'class="wp-block-footnotes"><li id="0ab">The note. <a href="#0ab-link">↩︎</a></li></ol>',
    "Word":
        '<p>Word <span><sup><a href="#_ftn1">[1]</a></sup></span>.</p><hr><p><sup><a '
        'href="//0AB#_ftnref1">[1]</a> </sup>The note.</p>',
    "Google Docs":
        '<p>Word.<sup id="ftnt_ref1"><a href="#ftnt1">[1]</a></sup></p><div><p id="ftnt1"><a '
        'href="#ftnt_ref1">[1]</a>&nbsp;The note.</p></div>',
    "mdBook":
        '<p>Word.<sup class="footnote-reference"><a href="#1">1</a></sup></p><div '
        'class="footnote-definition" id="1"><sup class="footnote-definition-label">1</sup><p>The note.'
        "</p></div>",
    "Texinfo":
        '<p>Word<a id="DOCF1" href="#FOOT1"><sup>1</sup></a>.</p><h5><a id="FOOT1" href="#DOCF1">(1)</a>'
        "</h5><p>The note.</p>",
    "Tufte":
        '<p>Word.<label for="sn-1" class="margin-toggle sidenote-number"></label><input type="checkbox" '
        'id="sn-1" class="margin-toggle"><span class="sidenote">The note.</span> More.</p>',
    "LaTeXML":
        '<p>Word.<span class="ltx_note ltx_role_footnote"><sup class="ltx_note_mark">1</sup><span '
        'class="ltx_note_outer"><span class="ltx_note_content"><sup class="ltx_note_mark">1</sup><span '
        'class="ltx_tag ltx_tag_note">1</span>The note.</span></span></span></p>',
    "beside and below":
        '<p>Word.<sup><a href="#fn-1">1</a></sup><span class="sidenote"><span class="sidenote-number">1. '
        '</span>The note.</span></p><div class="footnotes"><div id="fn-1"><sup>1</sup> The note.</div></div>',
    "brackets around links back":
        '<p>Word.<sup id="r1">[<a href="#d1">1</a>]</sup></p><ol class="footnotes"><li id="d1"><p><span>'
        '[<a href="#r1">1</a>]</span> The note. (<a href="#r1">↩</a>)</p></li></ol>',
}  # fmt: skip

TWO_NOTES = {
    "anchors in a list":
        '<p>Word <a href="#r1">[1]</a> and <a href="#r2">[2]</a>.</p><h4>References</h4><ol><li><a id="r1">'
        '</a>The note.</li><li><a id="r2"></a>Another one.</li></ol>',
    "notes in one paragraph":
        '<p>Word.<a href="#one"><sup>1</sup></a> More.<a href="#two"><sup>2</sup></a></p><p><a name="one">'
        '<sup>1</sup></a> The note. <a href="#">↩</a><br><br><a name="two"><sup>2</sup></a> Another one.</p>',
    "numbers only":
        "<p>A first word.<sup>1</sup></p><p>A second word.<sup>2</sup></p><hr><p><sup>1</sup> The note.</p>"
        "<p><sup>2</sup> Another one.</p>",
    "bold numbers":
        "<p>A first word.<sup>1</sup></p><p>A second word.<sup>2</sup></p><h2>Notes</h2><p><strong>1</strong>"
        " The note.</p><p><strong>2</strong> Another one.</p>",
    "numbered list":
        '<p>A first word.<sup>1</sup> A second word.<sup>2</sup></p><div class="x__footnotes"><ol><li>The '
        "note.</li><li>Another one.</li></ol></div>",
}  # fmt: skip


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        *(pytest.param(html, ONE, id=name) for name, html in ONE_NOTE.items()),
        *(pytest.param(html, TWO, id=name) for name, html in TWO_NOTES.items()),
        pytest.param(
            '<p>Word.<sup id="cite_ref-a_1-0"><a href="#cite_note-a-1">[1]</a></sup> More.<sup '
            'id="cite_ref-a_1-1"><a href="#cite_note-a-1">[1]</a></sup></p><ol class="references"><li '
            'id="cite_note-a-1"><span class="mw-cite-backlink">^ <sup><a href="#cite_ref-a_1-0"><i>a</i></a>'
            '</sup> <sup><a href="#cite_ref-a_1-1"><i>b</i></a></sup></span> The note.</li></ol>',
            (["1", "1"], {"1": "The note."}), id="MediaWiki, twice",
        ),
        pytest.param(
            '<p>Word <cite>[<a href="#b7">7</a>, <a href="#b2">2</a>]</cite>.</p><ul class="biblist"><li id="b2">'
            '<span>[2]</span> Another one.</li><li id="b7"><span>[7]</span> The note.</li></ul>',
            (["7", "2"], {"2": "Another one.", "7": "The note."}), id="two in one pair of brackets",
        ),
        pytest.param(
            '<p>Word.<sup class="reference"><a href="#cite_note-1">[note 1]</a></sup></p><ol class="references">'
            '<li id="cite_note-1">The note.</li></ol>',
            (["note-1"], {"note-1": "The note."}), id="a name of two words",
        ),
        pytest.param(
            '<p>Word.<sup><a href="#fn-a">*</a></sup></p><div class="footnotes"><p id="fn-a">* The note.</p></div>',
            (["1"], {"1": "* The note."}), id="a sign",
        ),
        pytest.param(
            "".join(
                f'<p>Word.<sup><a href="#{part}1">1</a></sup></p><ol class="footnotes"><li id="{part}1">{part}</li></ol>'
                for part in "ab"
            ),
            (["1", "1-2"], {"1": "a", "1-2": "b"}), id="names that are given once",
        ),
    ],
)  # fmt: skip
def test_footnotes_of_any_dialect_keep_their_names(standard, html, expected):
    shown = standard(html)
    assert found(shown) == expected
    assert "↩" not in shown


NO_NOTES = {
    "theorems":
        '<p>See <a href="#thm">1</a> and (<a href="#lem">2</a>).</p><h3><a name="thm"></a>Theorem 1</h3>'
        '<p>a</p><ul><li><a name="lem"></a>Exercise 2.</li></ul>',
    "year of what is cited":
        '<p>(Smith, <a href="#bib.1">1999</a>)</p><ul class="references"><li id="bib.1">Smith (1999) On it.</li></ul>',
    "contents": '<p><a href="#s1">1</a></p><h2 id="s1">1 Section</h2>',
    "exponent": "<p>Area: 5 m<sup>2</sup>.</p><p><sup>2</sup>H is heavy.</p>",
    "no target": '<p>Word.<sup><a href="#top">1</a></sup></p>',
    "upwards": '<p id="top">Word <sup><a href="#top">1</a></sup>.</p>',
    "a list of steps": "<p>Word.<sup>1</sup></p><ol><li>The step.</li></ol>",
    "a section":
        '<p><a href="#p2">[2]</a></p><section id="p2" class="notes"><p>2</p></section>'.replace(
        "2</p>", "x" * 40_000
        ),
}  # fmt: skip


@pytest.mark.parametrize("html", NO_NOTES.values(), ids=NO_NOTES)
def test_other_links_and_numbers_stay(standard, html):
    shown = standard(html)
    assert "x-reference" not in shown
    assert "x-note" not in shown


def test_a_hidden_note_stays_hidden(standard):
    html = (
        f"<p>{20 * 'Words that are shown. '}<sup><a href='#fn1'>1</a></sup></p>"
        '<ol class="footnotes"><li id="fn1" style="display:none">The note.</li></ol>'
    )
    assert "The note" not in standard(html)


NOTED = '<p>Word.<sup><a href="#fn1">1</a></sup></p><ol class="footnotes"><li id="fn1">'
NOTE = '<x-notes><x-note name="1">{}</x-note></x-notes>'
PLACES = {
    "all its blocks": (
        f"{NOTED}<p>One.</p><pre>x</pre><p>Two.</p></li></ol>",
        "</p>" + NOTE.format("<p>One.</p><pre><code>x</code></pre><p>Two.</p>"),
    ),
    "but no item that nothing refers to": (
        f"{NOTED}The note.</li><li>Further reading.</li></ol>",
        f'</p>{NOTE.format("The note.")}<ol class="footnotes"><li>Further reading.</li></ol>',
    ),
    "but no number that leads back": (
        (
            '<p>Word.<sup>[<a id="r1" href="#d1">1</a>]</sup></p><div id="notes"><hr>'
            '<div class="footnote" id="d1"><a href="#r1">1</a>. Bark.</div></div>'
        ),
        f"{NOTE.format('Bark.')}</div>",
    ),
    "behind its paragraph": (
        '<div><p>Word.<span class="sidenote">A note.</span> On.</p><p>More.</p></div>',
        f" On.</p>{NOTE.format('A note.')}<p>More.</p></div>",
    ),
    "without a paragraph, at the end": (
        '<div>Word.<span class="sidenote">A note.</span> On.</div>',
        f" On.{NOTE.format('A note.')}</div>",
    ),
}


@pytest.mark.parametrize(("html", "end"), PLACES.values(), ids=PLACES)
def test_a_note_takes_what_is_its_own_to_its_place(standard, html, end):
    assert standard(html).endswith(end)


def test_references_of_a_long_article_are_all_found(standard):
    count = 1_500
    text = "".join(
        f'<p>Word.<sup id="cite_ref-{n}" class="reference"><a href="#cite_note-{n}">[{n}]</a></sup></p>'
        for n in range(count)
    )
    notes = "".join(
        f'<li id="cite_note-{n}"><span class="mw-cite-backlink"><a href="#cite_ref-{n}">^</a></span> Note {n}</li>'
        for n in range(count)
    )
    references, written = found(standard(f'{text}<ol class="references">{notes}</ol>'))
    assert references == list(map(str, range(count)))
    assert written == {str(n): f"Note {n}" for n in range(count)}
