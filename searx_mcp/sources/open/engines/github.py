"""GitHub: repositories by name and description, or issues by their words."""

import re
from typing import Final
from urllib.parse import SplitResult

from searx_mcp.content.addresses import absolute_web
from searx_mcp.content.clean import clean_line
from searx_mcp.content.values import Fields
from searx_mcp.models.attempt import Verdict
from searx_mcp.models.hits import Package
from searx_mcp.models.request import Category
from searx_mcp.sources.open.engine import (
    ANY_AGE,
    Ask,
    Engine,
    EngineWords,
    OpenQuery,
    Parsed,
    RefusedError,
    Routing,
    Scope,
    fitting,
)
from searx_mcp.sources.open.question import IdentifierKind, Signal
from searx_mcp.sources.open.rows import Rows, json_object

NAME: Final = "github"
PER_PAGE: Final = 10
MAX_FOUND: Final = 1_000
"""It refuses results beyond this number (docs.github.com/rest/search/search)."""
MAX_WORDS: Final = 256
"""Maximum characters of the search without qualifiers (same page)."""
MAX_KEYWORDS: Final = 4
"""Maximum words for repositories: all must match, and descriptions are short."""
AIMS: Final = frozenset({"repositories", "issues"})

_MAX_BODY: Final = 600
_EDGES: Final = re.compile(r"^[^\w]+|[^\w+#]+$")
_PLAIN: Final = re.compile(r"[\w.+#-]+")
_OPERATORS: Final = frozenset({"AND", "OR", "NOT"})
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
"""Instructions of issue templates, which the page does not show."""
_REPOSITORY: Final = re.compile(r"/repos/([\w.-]{1,100}/[\w.-]{1,100})\Z")
_PAGE: Final = re.compile(
    r"/([A-Za-z0-9](?:[A-Za-z0-9-]{0,38}))/([\w.-]{1,100}?)(?:\.git)?(?:/(issues|pull|discussions)/([0-9]{1,9}))?/?"
)
_NOT_OWNERS: Final = frozenset(
    {
        "about", "apps", "collections", "customer-stories", "enterprise", "events", "explore",
        "features", "login", "marketplace", "notifications", "orgs", "pricing", "readme", "search",
        "security", "settings", "site", "solutions", "sponsors", "stars", "topics", "trending", "users",
    }
)  # fmt: skip
"""First path segments of github.com that are not accounts."""


def aim(scope: Scope) -> str:
    """Choose issues for questions about failures, unless they ask for repositories."""
    signals = scope.question.signals
    is_flaw = signals & {Signal.ERROR, Signal.VULNERABILITY} and Signal.REPOSITORY not in signals
    return "issues" if is_flaw else "repositories"


def ask(query: OpenQuery) -> Ask | None:
    """Search by best match; a vulnerability is searched in issues."""
    keywords, aim = query.keywords, "repositories"
    if query.identifier and query.identifier.kind == IdentifierKind.CVE:
        keywords, aim = (query.identifier.value,), "issues"
    if query.aim in AIMS:
        aim = query.aim
    words = _words(keywords if aim == "issues" else keywords[:MAX_KEYWORDS])
    if not words or query.page * PER_PAGE > MAX_FOUND:
        return None
    if aim == "issues":
        words += " is:issue"
    if query.since:
        words += f" {'created' if aim == 'issues' else 'pushed'}:>={query.since}"
    return Ask({"q": words, "per_page": str(PER_PAGE), "page": str(query.page)}, path=(aim,))


def parse(body: bytes, query: OpenQuery) -> Parsed:
    """Parse `items`; those with a `full_name` are repositories."""
    answer = json_object(body, key="items")
    items = answer.parts("items")
    if not items and answer.flag("incomplete_results"):
        raise RefusedError(Verdict.SERVER_ERROR, "GitHub's search took too long.")
    rows = Rows(NAME, query)
    for item in items:
        if "full_name" in item:
            _add_repository(rows, item)
        else:
            _add_issue(rows, item)
    found = min(answer.count("total_count") or 0, MAX_FOUND)
    return rows.parsed(has_next=query.page * PER_PAGE < found)


def identify(host: str, parts: SplitResult) -> str:
    """Return the repository, issue, pull request or discussion at an address."""
    found = _PAGE.fullmatch(parts.path) if host == "github.com" else None
    if found is None or found[1].lower() in _NOT_OWNERS:
        return ""
    # Issues, pull requests and discussions of a repository share one sequence of numbers.
    number = f"#{int(found[4])}" if found[4] else ""
    return f"{NAME}:{found[1]}/{found[2]}{number}".lower()


def _words(keywords: tuple[str, ...]) -> str:
    """Return as many keywords as allowed; anything that could be a qualifier is quoted."""
    bare = (_EDGES.sub("", re.sub(r'["\\\s]+', " ", keyword).strip()) for keyword in keywords)
    return fitting(
        (
            word if _PLAIN.fullmatch(word) and word not in _OPERATORS else f'"{word}"'
            for word in bare
            if word
        ),
        MAX_WORDS,
    )


def _add_repository(rows: Rows, item: Fields) -> None:
    licence, owner = item.part("license"), item.part("owner")
    spdx = licence.line("spdx_id", 40)
    is_known = re.fullmatch(r"[A-Za-z0-9.+-]+", spdx) and spdx != "NOASSERTION"
    rows.add(
        item.text("html_url"),
        item.line("full_name"),
        description=" / ".join(
            filter(None, [item.line("language"), item.line("description", 1_000)])
        ),
        published=item.text("pushed_at"),
        thumbnail=owner.text("avatar_url"),
        template="packages",
        package=Package(
            name=item.line("name"),
            maintainer=owner.line("login"),
            licence=licence.line("name"),
            licence_url=f"https://spdx.org/licenses/{spdx}.html" if is_known else None,
            tags=tuple(item.lines("topics", 100)[:20]),
            popularity=str(item.count("stargazers_count") or ""),
            homepage=absolute_web("", item.text("homepage")) or None,
            source_url=absolute_web("", item.text("clone_url")) or None,
        ),
    )


def _add_issue(rows: Rows, item: Fields) -> None:
    repository = _REPOSITORY.search(item.text("repository_url"))
    comments = item.count("comments")
    facts = [
        repository[1] if repository else "",
        item.line("state"),
        "" if comments is None else f"comments: {comments}",
    ]
    about = clean_line(_COMMENT.sub(" ", item.text("body")[: 10 * _MAX_BODY]), _MAX_BODY)
    rows.add(
        item.text("html_url"),
        item.line("title", 500),
        description=f"{', '.join(filter(None, facts))}. {about}",
        published=item.text("created_at"),
        author=item.part("user").line("login"),
    )


ENGINE: Final = Engine(
    name=NAME,
    title="GitHub",
    operator="GitHub Inc., US",
    categories={Category.IT: 3.5},
    endpoint="https://api.github.com/search",
    ask=ask,
    parse=parse,
    aim=aim,
    identify=identify,
    accept="application/vnd.github+json",
    headers={"X-GitHub-Api-Version": "2022-11-28"},
    # It allows ten searches a minute without a token, thirty with one.
    gap=7.0,
    burst=3,
    per_day=600,
    gap_with_key=2.1,
    per_day_with_key=2_000,
    timeout=5.0,
    time_ranges=ANY_AGE,
    hosts=("github.com",),
    routing=Routing(
        signals={
            Signal.CODE: 2,
            Signal.ERROR: 2,
            Signal.PACKAGE: 2,
            Signal.REPOSITORY: 4,
            Signal.MODEL: 2,
            Signal.DATASET: 1.5,
            Signal.VULNERABILITY: 3,
        },
        within={
            Category.IT: {
                Signal.ERROR: 2,
                Signal.PACKAGE: 2,
                Signal.REPOSITORY: 4,
                Signal.MODEL: 2,
                Signal.DATASET: 1,
                Signal.VULNERABILITY: 3,
            },
        },
        further={"cargo": 2, "code": 1, "packages": 4, "repos": 1},
    ),
    words=EngineWords(
        names="github github_repo github_repos github_repository github_issue github_issues",
        frames=(
            "github_repo_for github_repository_for github_repo github_repos "
            "github_repository on_github from_github"
        ),
        implied="github repo repository repositories project library tool open source opensource",
    ),
    key_setting=lambda config: config.github_token,
    terms_url="https://docs.github.com/en/rest/search/search",
    terms_checked="2026-11",
)
