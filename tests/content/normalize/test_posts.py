"""Posts: quotations, link previews, and the comments that others reply to."""

import pytest

QUOTE = (
    '<aside class="quote no-group" data-username="al"><div class="title"><div class="quote-controls"></div>'
    '<img class="avatar"> al:</div><blockquote><p>Which one?</p></blockquote></aside>'
)
PREVIEW = (
    '<aside class="onebox"><header class="source"><a href="https://ex.org/t">ex.org</a></header>'
    '<article class="onebox-body"><h3><a href="https://ex.org/t">A <i>test</i></a></h3><p>All about it.</p>'
    "</article></aside>"
)


QUOTES = {
    "quotation": (QUOTE, "<blockquote><p><strong>al:</strong></p><p>Which one?</p></blockquote>"),
    "quotation of another thread": (
        QUOTE.replace("al:", '<a href="/t/9">Noise</a> <a href="/c/2">Bikes</a>'),
        '<blockquote><p><a href="/t/9">Noise</a></p><p>Which one?</p></blockquote>'),
    "quotation of nobody": (
        '<aside class="quote"><blockquote><p>Which one?</p></blockquote></aside>',
        "<blockquote><p>Which one?</p></blockquote>"),
    "preview": (PREVIEW, '<blockquote><p><a href="https://ex.org/t">A test</a></p></blockquote>'),
    "preview without a title": (
        '<aside class="onebox"><header><a href="/x.pdf">x.pdf</a></header></aside>',
        '<blockquote><p><a href="/x.pdf">x.pdf</a></p></blockquote>'),
    "preview without a link": (
        '<aside class="onebox"><p>A card.</p></aside>', "<blockquote><p>A card.</p></blockquote>"),
    "another box": ("<aside><p>Beside.</p></aside>", "<aside><p>Beside.</p></aside>"),
}  # fmt: skip


@pytest.mark.parametrize(("html", "expected"), QUOTES.values(), ids=QUOTES)
def test_quotations_and_previews_are_quotes(standard, html, expected):
    assert " ".join(standard(html).replace('<img class="avatar">', "").split()) == expected


def test_a_quotation_in_another_one_is_rewritten_too(standard):
    assert "aside" not in standard(QUOTE.replace("<p>Which", f"{QUOTE}<p>Which"))


def comment(name, inside="", tag="div"):
    return f'<{tag} class="comment"><a class="author">{name}</a><p>Text.</p>{inside}</{tag}>'


ANSWERS = {
    "nested": (
        comment("al", comment("bo", comment("cy"))), ["bo (reply to al)", "cy (reply to bo)"]),
    "beside each other": (
        comment("al", comment("bo") + comment("cy")), ["bo (reply to al)", "cy (reply to al)"]),
    "in a row": (comment("al") + comment("bo"), []),
    "wrapped": (f'<div class="comment">{comment("al")}</div>', []),
    "answer to nobody known": (comment("", comment("bo")), []),
    "answer of nobody known": (comment("al", comment("")), []),
    "item of a list": (comment("al", f"<ul><li>{comment('bo')}</li></ul>"), []),
    "item": (comment("al", comment("bo", tag="li")), []),
    "name on a line": (
        comment("al", comment("bo")).replace('a class="author"', 'h4 class="by author"').replace("</a>", "</h4>"),
        ["bo (reply to al)"]),
    "name in a line": (
        comment("al", comment("<b class='username'>bo</b> says:")).replace("<a class", "<p class").replace("</a>", "</p>"),
        ["bo (reply to al)"]),
    "rows moved to the right": (
        "<table>" + "".join(
            f"<tr><td class=ind indent={depth}><td><a href='/user/{name}'>{name}</a><p>Text.</p></tr>"
            for name, depth in [("al", 0), ("bo", 1), ("cy", 2), ("di", 1), ("ed", 0), ("fy", 7)]
        ) + "</table>",
        ["bo (reply to al)", "cy (reply to bo)", "di (reply to al)"]),
}  # fmt: skip


@pytest.mark.parametrize(("html", "replies"), ANSWERS.values(), ids=ANSWERS)
def test_a_comment_says_whom_it_answers(standard, html, replies):
    text = standard(html).replace("</a>", "").replace("</b>", "")
    assert text.count("(reply to") == len(replies)
    assert all(reply in text for reply in replies)


NOBODY = '<div><dl class="postprofile"><dd>9 posts</dd></dl><p>Text.</p></div>'
SAID = '<div><dl class="postprofile"><dt><a>al</a></dt></dl><p class="author">by al</p></div>'
AROUND = {
    "what folds it up": (
        '<div class="comment"><a class="expand">[-]</a> al <a class="numchildren">(4 children)</a></div>',
        '<div class="comment"> al </div>'),
    "scores with another vote": (
        '<p class="comment"><i class="score likes">3</i><i class="score unvoted">2</i></p>',
        '<p class="comment"><i class="score unvoted">2</i></p>'),
    "number of votes and what adds a comment": (
        '<b class="js-vote-count">36</b><p>Text.</p><p id="comments-link-7">Add a comment <i>|</i></p>', "<p>Text.</p>"),
    "what machines read": ('<p>al <b class="d-none" itemprop="name">al</b></p>', "<p>al </p>"),
    "place in the thread": (
        '<p>al <time>May</time><span itemprop="position">1</span></p>', "<p>al <time>May</time></p>"),
    "what is shown on wide screens": (
        '<p>al <b class="d-none">al</b></p>', '<p>al <b class="d-none">al</b></p>'),
    "post above its answer": (
        '<div><div component="post/parent/content">Text.</div><p>Answer.</p></div>', "<div><p>Answer.</p></div>"),
    "names above posts, which are no links": (
        '<div class="topic-meta-data"><a href="/u/al">al</a><i><a href="/t/1">2d</a></i></div>',
        '<div class="topic-meta-data">al<i>2d</i></div>'),
    "a pane without a name": (NOBODY, NOBODY),
    "a name that is said already": (SAID, SAID),
    "button above code": (
        '<div class="codebox"><p>Code: <a href="#">Select all</a></p><pre>x</pre></div>',
        '<div class="codebox"><pre><code>x</code></pre></div>'),
}  # fmt: skip


@pytest.mark.parametrize(("html", "left"), AROUND.values(), ids=AROUND)
def test_what_is_around_posts_is_no_part_of_them_and_a_name_is_said_once(standard, html, left):
    assert standard(html) == left


@pytest.mark.parametrize(
    "pane",
    [
        pytest.param('<div class="message-cell--user"><h4 class="message-name"><a>al</a></h4><i>9 posts</i></div>', id="XenForo"),
        pytest.param('<aside class="ipsComment_author cAuthorPane"><h3><a>al</a></h3><i>9 posts</i></aside>', id="Invision"),
        pytest.param('<aside class="ipsEntry__author-column"><div class="cAuthorPane"><h3>al</h3></div></aside>', id="two in one"),
        pytest.param('<dl class="postprofile"><dt><a><img></a><a class="username">al</a></dt><dd>9</dd></dl>', id="phpBB"),
    ],
)  # fmt: skip
def test_a_post_begins_with_the_name_of_who_wrote_it(standard, pane):
    assert (
        standard(f"<div>{pane}<p>Text.</p></div>")
        == f"<div><p><strong>al</strong></p>{pane}<p>Text.</p></div>"
    )
