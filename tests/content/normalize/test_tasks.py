import pytest

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
