"""The elements that stand for what HTML has no element for.

`content.normalize` puts them into the tree; what finds the main content leaves them alone, and what
writes Markdown knows no others. A page that uses the same names is read as if it had meant them.
"""

from typing import Final

MATH: Final = "x-math"
"""LaTeX as its only text; `display="block"` for a formula of its own."""

CALLOUT: Final = "x-callout"
"""A labelled block: `kind` in lower case, `title` where the page gives another one than the kind."""

REFERENCE: Final = "x-reference"
"""Where a footnote is referred to; `name` of the note. It has no content."""

NOTES: Final = "x-notes"
"""The footnotes of the page, each a `NOTE`."""

NOTE: Final = "x-note"
"""One footnote with its `name`; without the link back."""

TASK: Final = "x-task"
"""The box in front of a task; `done` if it is ticked. It has no content."""
