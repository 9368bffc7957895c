import pytest


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("https://www.youtube.com/embed/a-B_1?start=3", "https://www.youtube.com/watch?v=a-B_1"),
        ("//www.youtube-nocookie.com/embed/a-B_1", "https://www.youtube.com/watch?v=a-B_1"),
        ("https://www.youtube.com/embed/videoseries?list=PL1", "https://www.youtube.com/playlist?list=PL1"),
        ("https://player.vimeo.com/video/42?h=1", "https://vimeo.com/42"),
        ("https://www.dailymotion.com/embed/video/x7", "https://www.dailymotion.com/video/x7"),
        ("https://geo.dailymotion.com/player.html?video=x7", "https://www.dailymotion.com/video/x7"),
        ("https://player.twitch.tv/?video=v12&parent=a.org", "https://www.twitch.tv/videos/12"),
        ("https://player.twitch.tv/?channel=someone", "https://www.twitch.tv/someone"),
        ("https://open.spotify.com/embed/track/1aB", "https://open.spotify.com/track/1aB"),
        (
            "https://w.soundcloud.com/player/?url=https%3A//soundcloud.com/a/b&auto_play=false",
            "https://soundcloud.com/a/b",
        ),
        ("https://embed.ted.com/talks/lang/de/a_talk", "https://www.ted.com/talks/lang/de/a_talk"),
        ("https://tube.example.org/videos/embed/0a1b2c3d-1111", "https://tube.example.org/w/0a1b2c3d-1111"),
        ("https://platform.twitter.com/embed/Tweet.html?id=99", "https://x.com/i/status/99"),
        ("https://x.com/someone/status/99", "https://x.com/someone/status/99"),
        ("https://social.example.org/@someone/12/embed", "https://social.example.org/@someone/12"),
        ("https://codepen.io/someone/embed/aBc?height=1", "https://codepen.io/someone/pen/aBc"),
        ("https://www.loom.com/embed/0ab", "https://www.loom.com/share/0ab"),
        ("https://archive.org/embed/some-item", "https://archive.org/details/some-item"),
        ("https://clips.twitch.tv/embed?clip=Some-1", "https://clips.twitch.tv/Some-1"),
        ("https://player.bilibili.com/player.html?bvid=BV1", "https://www.bilibili.com/video/BV1"),
        ("https://www.figma.com/embed?a=b&url=https://www.figma.com/file/x", "https://www.figma.com/file/x"),
    ],
)  # fmt: skip
def test_a_player_becomes_a_link_to_what_it_plays(standard, address, page):
    shown = standard(f'<p>a</p><iframe title="A title" src="{address}"></iframe>')
    assert f'href="{page.replace("&", "&amp;")}"' in shown
    assert ">A title</a>" in shown


NO_PLAYERS = {
    "unknown": '<iframe src="https://ads.example.org/frame"></iframe>',
    "script": '<iframe src="javascript:alert(1)"></iframe>',
    "tiny": '<iframe src="https://www.youtube.com/embed/a" width=1 height=1></iframe>',
    "hidden": '<iframe src="https://www.youtube.com/embed/a" hidden></iframe>',
    "no address": '<iframe src="https://[::1/embed"></iframe>',
    "made by a script": '<video src="blob:https://example.org/1"></video>',
    "decoration": '<video autoplay loop muted src="/0a1b2c.mp4"></video>',
    "hidden by a rule":
        '<style>.x{display:none}</style><iframe class=x src="https://vimeo.com/1"></iframe>'
        '<div><iframe class=x src="https://player.vimeo.com/video/1"></iframe></div>',
}  # fmt: skip


@pytest.mark.parametrize("html", NO_PLAYERS.values(), ids=NO_PLAYERS)
def test_other_frames_become_no_link(standard, html):
    assert "<a" not in standard(f"<p>{20 * 'Words that are shown. '}</p>{html}")


MEDIA = {
    "video": ('<video src="/v/a%20b.mp4"></video>', '<a href="/v/a%20b.mp4">Video: a b.mp4</a>'),
    "source": (
        '<audio controls><source src="s.ogg?x=1"></audio>',
        '<a href="s.ogg?x=1">Audio: s.ogg</a>',
    ),
    "title": ('<video title="A film" src="/a.mp4"></video>', '<a href="/a.mp4">A film</a>'),
    "a loop with controls": (
        '<video loop controls src="/a.mp4"></video>',
        '<a href="/a.mp4">Video: a.mp4</a>',
    ),
    "a loop with a title": (
        '<video loop title="A film" src="/a.mp4"></video>',
        '<a href="/a.mp4">A film</a>',
    ),
    "PDF": ('<object type="application/pdf" data="/a.pdf"></object>', '<a href="/a.pdf">a.pdf</a>'),
    "element of its own": (
        '<lite-youtube videoid="a1" playlabel="Play: x"></lite-youtube>',
        '<a href="https://www.youtube.com/watch?v=a1">Play: x</a>',
    ),
    "Gist": (
        '<script src="https://gist.github.com/someone/0ab.js"></script>',
        '<a href="https://gist.github.com/someone/0ab">Gist</a>',
    ),
    "no title of its own": (
        '<iframe title="YouTube video player" src="https://www.youtube.com/embed/a"></iframe>',
        '<a href="https://www.youtube.com/watch?v=a">YouTube video</a>',
    ),
}


@pytest.mark.parametrize(("html", "link"), MEDIA.values(), ids=MEDIA)
def test_media_and_snippets_become_links(standard, html, link):
    assert link in standard(html)


@pytest.mark.parametrize(
    ("src", "left"),
    [
        pytest.param(
            "data:image/gif;base64,AA", '<p><img src="/a.jpg" alt="A"></p>', id="none yet"
        ),
        pytest.param("/b.jpg", '<p><img src="/b.jpg"></p>', id="one of its own"),
    ],
)
def test_an_image_that_waits_gets_the_address_behind_noscript(standard, src, left):
    html = f'<p><img src="{src}"><noscript><img src="/a.jpg" alt="A"></noscript></p>'
    assert standard(html) == left


TASKS = {
    "open": ("<input type=checkbox> a", "<x-task></x-task> a"),
    "done": ("<input type=checkbox checked> a", '<x-task done=""></x-task> a'),
    "cannot be sent": ("<input type=checkbox disabled name=x> a", "<x-task></x-task> a"),
    "says so": (
        '<input type="CHECKBOX" class="task-list-item-checkbox" value=1> a',
        "<x-task></x-task> a"),
    "in a label": (
        "<label><input type=checkbox checked> a</label>",
        '<label><x-task done=""></x-task> a</label>'),
    "in a paragraph": ("<p><input type=checkbox> a</p>", "<p><x-task></x-task> a</p>"),
    "TipTap": (
        "<label><input type=checkbox><span></span></label><div><p>a</p></div>",
        "<label><x-task></x-task><span></span></label><div><p>a</p></div>"),
    "in another one": (
        "<input type=checkbox checked> a<ul><li><input type=checkbox> b</li></ul>",
        '<x-task done=""></x-task> a<ul><li><x-task></x-task> b</li></ul>'),
}  # fmt: skip


@pytest.mark.parametrize(("html", "task"), TASKS.values(), ids=TASKS)
def test_an_item_that_begins_with_a_box_is_a_task(standard, html, task):
    assert standard(f"<ul><li>{html}</li></ul>") == f"<ul><li>{task}</li></ul>"


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("<form><ul><li><input type=checkbox> a</li></ul></form>", id="form"),
        pytest.param("<nav><ul><li><input type=checkbox> a</li></ul></nav>", id="menu"),
        pytest.param("<ul><li><input type=checkbox name=c value=1> a</li></ul>", id="sent"),
        pytest.param("<ul class=filters><li><input type=checkbox> a</li></ul>", id="filter"),
        pytest.param("<ul><li>a <input type=checkbox></li></ul>", id="behind the text"),
        pytest.param("<p><input type=checkbox> a</p>", id="no item"),
        pytest.param(
            "<ul><li style='display:none'><input type=checkbox> a</li><li>b</ul>", id="hidden"
        ),
    ],
)
def test_other_boxes_are_no_tasks(standard, html):
    assert "x-task" not in standard(html)
