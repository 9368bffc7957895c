"""First parts of GitHub's addresses that are its own pages, not accounts.

Most are in the list that Mottie/github-reserved-names collects by trying; those are left out that
can stand before no second part.
"""

from typing import Final

RESERVED: Final = frozenset({
    "about", "account", "accelerator", "admin", "advisories", "api", "apps", "auth", "blog",
    "business", "careers", "case-studies", "changelog", "codespaces", "collections", "community",
    "contact", "copilot", "customer-stories", "customers", "dashboard", "dashboards", "developer",
    "discussions", "docs", "edu", "education", "enterprise", "enterprises", "events", "explore",
    "features", "gist", "gists", "github-copilot", "guides", "help", "home", "images", "issues",
    "jobs", "join", "learn", "legal", "login", "logout", "marketplace", "mobile", "models", "new",
    "news", "newsroom", "nonprofit", "nonprofits", "notifications", "oauth", "open-source",
    "organizations", "orgs", "pages", "partners", "plans", "premium-support", "press", "pricing",
    "projects", "pulls", "readme", "repositories", "repos", "resources", "search", "security",
    "services", "sessions", "settings", "showcases", "signin", "signup", "site", "site-policy",
    "solutions", "spark", "sponsors", "stars", "status", "stories", "support", "teams", "terms",
    "topics", "trending", "trust-center", "user", "user-attachments", "users", "watching",
    "why-github", "works-with",
})  # fmt: skip
