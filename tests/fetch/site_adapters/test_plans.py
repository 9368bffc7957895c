"""Which addresses are read by a tier, and what is fetched for them."""

from collections.abc import Callable

import pytest
from yarl import URL

from searx_mcp.fetch.config import TierName
from searx_mcp.fetch.site_adapters.all import tiers
from searx_mcp.fetch.site_adapters.interface import Plan

API = "https://api.github.com/repos"
RAW = "https://raw.githubusercontent.com"
GISTS = "https://api.github.com/gists"
CDN = "https://cdn.jsdelivr.net/npm"
LAB = "https://gitlab.com/api/v4/projects"
BERG = "https://codeberg.org/api/v1/repos"
HUB = "https://huggingface.co"
SHA = "0123456789abcdef0123456789abcdef01234567"
GIST = "aa5a315d61ae9438b18d"

PLANNED: list[tuple[str, str, list[str]]] = [
    # A package index
    ("https://pypi.example/project/yarl", "pypi", ["https://pypi.example/pypi/yarl/json"]),
    ("https://pypi.example/project/yarl/", "pypi", ["https://pypi.example/pypi/yarl/json"]),
    ("https://PyPI.example/project/yarl/", "pypi", ["https://pypi.example/pypi/yarl/json"]),
    ("http://pypi.example/project/yarl/", "pypi", ["http://pypi.example/pypi/yarl/json"]),
    ("https://pypi.internal.example:8443/project/x/", "pypi", ["https://pypi.internal.example:8443/pypi/x/json"]),
    ("https://pypi.example/project/yarl/1.20.0/", "pypi", ["https://pypi.example/pypi/yarl/1.20.0/json"]),
    ("https://pypi.example/project/a.b_c-d/1!2.0rc1+local.1", "pypi", ["https://pypi.example/pypi/a.b_c-d/1!2.0rc1+local.1/json"]),
    ("https://pypi.example/project/yarl/#description", "pypi", ["https://pypi.example/pypi/yarl/json"]),
    ("https://pypi.example/project/yarl/?x=y", "pypi", ["https://pypi.example/pypi/yarl/json"]),
    # npm packages
    ("https://www.npmsite.example/package/yargs", "npm", [f"{CDN}/yargs@latest/package.json", f"{CDN}/yargs@latest/README.md", f"{CDN}/yargs@latest/readme.md"]),
    ("https://npmsite.example/package/yargs/", "npm", [f"{CDN}/yargs@latest/package.json", f"{CDN}/yargs@latest/README.md", f"{CDN}/yargs@latest/readme.md"]),
    ("https://npm.example/package/yargs/v/17.7.2", "npm", [f"{CDN}/yargs@17.7.2/package.json", f"{CDN}/yargs@17.7.2/README.md", f"{CDN}/yargs@17.7.2/readme.md"]),
    ("https://npm.example/package/@babel/core", "npm", [f"{CDN}/@babel/core@latest/package.json", f"{CDN}/@babel/core@latest/README.md", f"{CDN}/@babel/core@latest/readme.md"]),
    ("https://npm.example/package/%40babel/core/v/8.0.0-beta.1+x", "npm", [f"{CDN}/@babel/core@8.0.0-beta.1+x/package.json", f"{CDN}/@babel/core@8.0.0-beta.1+x/README.md", f"{CDN}/@babel/core@8.0.0-beta.1+x/readme.md"]),
    ("https://npm.example/package/JSONStream?activeTab=readme", "npm", [f"{CDN}/JSONStream@latest/package.json", f"{CDN}/JSONStream@latest/README.md", f"{CDN}/JSONStream@latest/readme.md"]),
    ("https://npm.example/package/v", "npm", [f"{CDN}/v@latest/package.json", f"{CDN}/v@latest/README.md", f"{CDN}/v@latest/readme.md"]),
    # Files of GitHub
    ("https://github.com/o/r/blob/main/src/a.py", "github", [f"{RAW}/o/r/main/src/a.py"]),
    ("https://github.com/o/r/blob/main/src/a.py#L10-L40", "github", [f"{RAW}/o/r/main/src/a.py"]),
    ("https://www.github.com/o/r/blob/main/a.py?plain=1#L3", "github", [f"{RAW}/o/r/main/a.py"]),
    ("https://GitHub.com/O/R/blob/main/a.py", "github", [f"{RAW}/O/R/main/a.py"]),
    ("https://github.com:443/o/r/blob/main/a.py", "github", [f"{RAW}/o/r/main/a.py"]),
    ("http://github.com/o/r/blob/main/a.py", "github", [f"{RAW}/o/r/main/a.py"]),
    ("https://github.com/o/r/blob/feature/x/src/a.py", "github", [f"{RAW}/o/r/feature/x/src/a.py"]),
    ("https://github.com/o/r/blob/refs/heads/main/a.py", "github", [f"{RAW}/o/r/refs/heads/main/a.py"]),
    (f"https://github.com/o/r/blob/{SHA}/a.py", "github", [f"{RAW}/o/r/{SHA}/a.py"]),
    ("https://github.com/o/r/raw/main/a.py", "github", [f"{RAW}/o/r/main/a.py"]),
    ("https://github.com/o/r/blob/main/a%20b/%C3%BC.md", "github", [f"{RAW}/o/r/main/a%20b/%C3%BC.md"]),
    ("https://github.com/o/r/blob/main/a b/ü.md", "github", [f"{RAW}/o/r/main/a%20b/%C3%BC.md"]),
    ("https://github.com/o/r/blob/main/x%3Fy%23z.py", "github", [f"{RAW}/o/r/main/x%3Fy%23z.py"]),
    ("https://github.com/o/r/blob/main/100%25.txt", "github", [f"{RAW}/o/r/main/100%25.txt"]),
    ("https://github.com/o/r/blob/main/docs/../a.py", "github", [f"{RAW}/o/r/main/a.py"]),
    ("https://github.com/o/r/blob/main/docs/", "github", [f"{RAW}/o/r/main/docs"]),
    ("https://github.com/o/my.repo_1/blob/v1.0/LICENSE", "github", [f"{RAW}/o/my.repo_1/v1.0/LICENSE"]),
    ("https://github.com/name_corp/r/blob/main/a.py", "github", [f"{RAW}/name_corp/r/main/a.py"]),
    ("https://raw.githubusercontent.com/o/r/main/a.py", "github", [f"{RAW}/o/r/main/a.py"]),
    ("https://raw.githubusercontent.com/o/r/refs/heads/main/docs/a.md", "github", [f"{RAW}/o/r/refs/heads/main/docs/a.md"]),
    # Repositories and folders of GitHub
    ("https://github.com/o/r", "github", [f"{API}/o/r", f"{API}/o/r/readme"]),
    ("https://github.com/o/r/", "github", [f"{API}/o/r", f"{API}/o/r/readme"]),
    ("https://github.com/o/r.git", "github", [f"{API}/o/r", f"{API}/o/r/readme"]),
    ("https://github.com/o/r?tab=readme-ov-file#install", "github", [f"{API}/o/r", f"{API}/o/r/readme"]),
    ("https://github.com/o/.github", "github", [f"{API}/o/.github", f"{API}/o/.github/readme"]),
    ("https://github.com/o/r/tree/main", "github", [f"{API}/o/r/contents?ref=main", f"{API}/o/r/readme?ref=main"]),
    ("https://github.com/o/r/tree/main/src/lib", "github", [f"{API}/o/r/contents/src/lib?ref=main", f"{API}/o/r/readme/src/lib?ref=main"]),
    ("https://github.com/o/r/tree/refs/heads/main/src", "github", [f"{API}/o/r/contents/src?ref=refs/heads/main", f"{API}/o/r/readme/src?ref=refs/heads/main"]),
    ("https://github.com/o/r/tree/feature/x", "github", [f"{API}/o/r/contents/x?ref=feature", f"{API}/o/r/readme/x?ref=feature"]),
    ("https://github.com/o/r/tree/a%26b%3Dc/d", "github", [f"{API}/o/r/contents/d?ref=a%26b%3Dc", f"{API}/o/r/readme/d?ref=a%26b%3Dc"]),
    # Issues, pull requests and releases of GitHub
    ("https://github.com/o/r/issues/12", "github", [f"{API}/o/r/issues/12", f"{API}/o/r/issues/12/comments?per_page=100"]),
    ("https://github.com/o/r/issues/12/", "github", [f"{API}/o/r/issues/12", f"{API}/o/r/issues/12/comments?per_page=100"]),
    ("https://github.com/o/r/issues/12#issuecomment-99", "github", [f"{API}/o/r/issues/12", f"{API}/o/r/issues/12/comments?per_page=100"]),
    ("https://github.com/o/r/pull/7", "github", [f"{API}/o/r/pulls/7", f"{API}/o/r/issues/7/comments?per_page=100", f"{API}/o/r/pulls/7/comments?per_page=100"]),
    ("https://github.com/o/r/releases", "github", [f"{API}/o/r/releases?per_page=20"]),
    ("https://github.com/o/r/releases/latest", "github", [f"{API}/o/r/releases/latest"]),
    ("https://github.com/o/r/releases/tag/v1.0", "github", [f"{API}/o/r/releases/tags/v1.0"]),
    ("https://github.com/o/r/releases/tag/@x/y@1.0", "github", [f"{API}/o/r/releases/tags/@x%2Fy@1.0"]),
    # Gists
    (f"https://gist.github.com/{GIST}", "github", [f"{GISTS}/{GIST}"]),
    (f"https://gist.github.com/o/{GIST}", "github", [f"{GISTS}/{GIST}"]),
    (f"https://gist.github.com/o/{GIST}/", "github", [f"{GISTS}/{GIST}"]),
    (f"https://gist.github.com/o/{GIST}#file-a-py", "github", [f"{GISTS}/{GIST}"]),
    (f"https://gist.github.com/o/{GIST}/{SHA}", "github", [f"{GISTS}/{GIST}/{SHA}"]),
    ("https://gist.github.com/o/1234567", "github", [f"{GISTS}/1234567"]),
    (f"https://gist.githubusercontent.com/o/{GIST}/raw/a.py", "github", [f"https://gist.githubusercontent.com/o/{GIST}/raw/a.py"]),
    (f"https://gist.githubusercontent.com/o/{GIST}/raw/{SHA}/a.py", "github", [f"https://gist.githubusercontent.com/o/{GIST}/raw/{SHA}/a.py"]),
    # GitLab
    ("https://gitlab.com/g/p", "gitlab", [f"{LAB}/g%2Fp?license=true", f"{LAB}/g%2Fp/repository/files/README.md/raw?ref=HEAD"]),
    ("https://gitlab.com/g/sub/p/", "gitlab", [f"{LAB}/g%2Fsub%2Fp?license=true", f"{LAB}/g%2Fsub%2Fp/repository/files/README.md/raw?ref=HEAD"]),
    ("https://gitlab.com/g/p/-/blob/main/src/a.rb", "gitlab", ["https://gitlab.com/g/p/-/raw/main/src/a.rb"]),
    ("https://gitlab.com/g/p/-/blob/main/a.rb?ref_type=heads#L3-9", "gitlab", ["https://gitlab.com/g/p/-/raw/main/a.rb"]),
    ("https://gitlab.com/g/p/-/raw/feature/x/a.rb", "gitlab", ["https://gitlab.com/g/p/-/raw/feature/x/a.rb"]),
    ("https://gitlab.com/g/p/-/blob/main/a%20b/%C3%BC.md", "gitlab", ["https://gitlab.com/g/p/-/raw/main/a%20b/%C3%BC.md"]),
    ("https://gitlab.com/g/p/-/issues/3", "gitlab", [f"{LAB}/g%2Fp/issues/3"]),
    ("https://gitlab.com/g/p/-/work_items/3", "gitlab", [f"{LAB}/g%2Fp/issues/3"]),
    ("https://gitlab.com/g/p/-/merge_requests/4#note_1", "gitlab", [f"{LAB}/g%2Fp/merge_requests/4"]),
    ("https://lab.example/g/p/-/blob/main/a.rb", "gitlab", ["https://lab.example/g/p/-/raw/main/a.rb"]),
    ("https://lab.example:8443/g/p/-/blob/main/a.rb", "gitlab", ["https://lab.example:8443/g/p/-/raw/main/a.rb"]),
    ("https://lab.example/g/p/-/issues/3", "gitlab", ["https://lab.example/api/v4/projects/g%2Fp/issues/3"]),
    ("https://salsa.example/g/h/i/j/-/blob/main/a", "gitlab", ["https://salsa.example/g/h/i/j/-/raw/main/a"]),
    # Codeberg and its like
    ("https://codeberg.org/o/r", "codeberg", [f"{BERG}/o/r", f"{BERG}/o/r/raw/README.md"]),
    ("https://codeberg.org/o/r/src/branch/main/a/b.go", "codeberg", ["https://codeberg.org/o/r/raw/branch/main/a/b.go"]),
    ("https://codeberg.org/o/r/src/branch/main/b.go#L3-L9", "codeberg", ["https://codeberg.org/o/r/raw/branch/main/b.go"]),
    ("https://codeberg.org/o/r/src/tag/v1/b.go", "codeberg", ["https://codeberg.org/o/r/raw/tag/v1/b.go"]),
    (f"https://codeberg.org/o/r/src/commit/{SHA}/b.go", "codeberg", [f"https://codeberg.org/o/r/raw/commit/{SHA}/b.go"]),
    ("https://codeberg.org/o/r/raw/branch/main/b.go", "codeberg", ["https://codeberg.org/o/r/raw/branch/main/b.go"]),
    ("https://codeberg.org/o/r/media/branch/main/b.go", "codeberg", ["https://codeberg.org/o/r/media/branch/main/b.go"]),
    ("https://codeberg.org/o/r/issues/5", "codeberg", [f"{BERG}/o/r/issues/5", f"{BERG}/o/r/issues/5/comments"]),
    ("https://codeberg.org/o/r/pulls/6", "codeberg", [f"{BERG}/o/r/pulls/6", f"{BERG}/o/r/issues/6/comments"]),
    ("https://codeberg.org/o/r/releases", "codeberg", [f"{BERG}/o/r/releases?limit=20"]),
    ("https://codeberg.org/o/r/releases/latest", "codeberg", [f"{BERG}/o/r/releases/latest"]),
    ("https://codeberg.org/o/r/releases/tag/v1/2", "codeberg", [f"{BERG}/o/r/releases/tags/v1%2F2"]),
    ("https://git.example/o/r/src/branch/main/a.c", "codeberg", ["https://git.example/o/r/raw/branch/main/a.c"]),
    ("https://git.example:3000/o/r/src/tag/v1/a.c", "codeberg", ["https://git.example:3000/o/r/raw/tag/v1/a.c"]),
    # Hugging Face
    ("https://huggingface.co/o/m/blob/main/config.json", "huggingface", [f"{HUB}/o/m/resolve/main/config.json"]),
    ("https://huggingface.co/o/m/raw/main/a/b.py#L3", "huggingface", [f"{HUB}/o/m/resolve/main/a/b.py"]),
    ("https://huggingface.co/o/m/resolve/main/a.txt?download=true", "huggingface", [f"{HUB}/o/m/resolve/main/a.txt"]),
    ("https://huggingface.co/o/m/resolve/main/w.safetensors", "huggingface", [f"{HUB}/o/m/resolve/main/w.safetensors"]),
    ("https://huggingface.co/o/m/blob/refs%2Fpr%2F1/a.py", "huggingface", [f"{HUB}/o/m/resolve/refs%2Fpr%2F1/a.py"]),
    ("https://huggingface.co/datasets/o/d/blob/main/README.md", "huggingface", [f"{HUB}/datasets/o/d/resolve/main/README.md"]),
    ("https://huggingface.co/spaces/o/s/blob/main/app.py", "huggingface", [f"{HUB}/spaces/o/s/resolve/main/app.py"]),
    ("https://hf.co/o/m/blob/main/a.py", "huggingface", [f"{HUB}/o/m/resolve/main/a.py"]),
    ("https://www.huggingface.co/o/m/blob/main/a.py", "huggingface", [f"{HUB}/o/m/resolve/main/a.py"]),
]  # fmt: skip

NOT_PLANNED = [
    # Other hosts, ports, schemes, users
    "https://example.org/project/yarl",
    "https://www.pypi.example/project/yarl",
    "https://mypypi.example/project/yarl",
    "https://pypi/project/yarl",
    "https://github.com:8443/o/r",
    "https://github.com:80/o/r",
    "https://github.com./o/r",
    "https://github.com.evil.example/o/r",
    "https://evil-github.com/o/r",
    "https://api.github.com/repos/o/r",
    "https://user@github.com/o/r",
    "https://user:word@github.com/o/r",
    "ftp://github.com/o/r",
    "https://npm.deep.example/package/yargs",
    "https://docs.npmsite.example/package/yargs",
    "https://notnpm.example/package/yargs",
    "https://npm.example:8443/package/yargs",
    # Other pages of the index
    "https://pypi.example/",
    "https://pypi.example/project/",
    "https://pypi.example/user/somebody/",
    "https://pypi.example/project/yarl/1.0/extra",
    "https://pypi.example/project/-bad/",
    "https://pypi.example/project/a%20b/",
    "https://pypi.example/project/yarl/1%20x/",
    "https://pypi.example/project/a%2F..%2Fb/",
    "https://pypi.example/project/yarl/..%2Fx",
    # Other pages of the package site
    "https://npm.example/",
    "https://npm.example/package",
    "https://npm.example/package/@babel",
    "https://npm.example/package/yargs/v",
    "https://npm.example/package/yargs/v/1.0/x",
    "https://npm.example/package/yargs/access",
    "https://npm.example/package/yargs?activeTab=versions",
    "https://npm.example/package/yargs?activeTab=code",
    "https://npm.example/package/a%20b",
    "https://npm.example/package/@babel%2Fcore",
    "https://npm.example/search?q=yargs",
    # GitHub's own pages
    "https://github.com",
    "https://github.com/o",
    "https://github.com/topics/python",
    "https://github.com/orgs/python",
    "https://github.com/orgs/python/repositories",
    "https://github.com/settings/profile",
    "https://github.com/marketplace/actions",
    "https://github.com/Marketplace/actions",
    "https://github.com/sponsors/o",
    "https://github.com/features/actions",
    "https://github.com/collections/x",
    "https://github.com/search/advanced",
    "https://github.com/users/o",
    "https://github.com/apps/x",
    "https://github.com/trending/python",
    "https://github.com/login/oauth",
    # Pages of repositories that no source tells better
    "https://github.com/o/r/wiki",
    "https://github.com/o/r/wiki/Page",
    "https://github.com/o/r/actions",
    "https://github.com/o/r/actions/runs/1",
    "https://github.com/o/r/commits/main",
    f"https://github.com/o/r/commit/{SHA}",
    "https://github.com/o/r/compare/a...b",
    "https://github.com/o/r/issues",
    "https://github.com/o/r/issues/new",
    "https://github.com/o/r/issues/0",
    "https://github.com/o/r/issues/1x",
    "https://github.com/o/r/issues/99999999999",
    "https://github.com/o/r/issues/1/edit",
    "https://github.com/o/r/pulls",
    "https://github.com/o/r/pull/7/files",
    "https://github.com/o/r/pull/7.diff",
    "https://github.com/o/r/discussions/1",
    "https://github.com/o/r/blame/main/a.py",
    "https://github.com/o/r/edit/main/a.py",
    "https://github.com/o/r/search?q=x",
    "https://github.com/o/r/blob/main",
    "https://github.com/o/r/blob",
    "https://github.com/o/r/blob/refs/heads/main",
    "https://github.com/o/r/tree",
    "https://github.com/o/r/releases?page=2",
    "https://github.com/o/r/releases/tag",
    "https://github.com/o/r/releases/latest/x",
    "https://github.com/o/r/releases/download/v1/a.zip",
    "https://github.com/o/r/releases/tag/a%2F..%2F..%2Fuser",
    "https://github.com/o/r?tab=MIT-1-ov-file",
    "https://github.com/o/r.git/x",
    # Parts that are no plain names
    "https://github.com/o/r%2F..%2F..%2Fuser",
    "https://github.com/..%2Fuser/r",
    "https://github.com/o//r",
    "https://github.com/-o/r",
    "https://github.com/o/r%20x",
    "https://github.com/o/ü",
    "https://github.com/o/r/blob/main/a%2F..%2Fb",
    "https://github.com/o/r/blob/main/a%5C..%5Cb",
    "https://github.com/o/r/blob/main/%FF.py",
    "https://github.com/o/r/blob/main//a.py",
    "https://raw.githubusercontent.com/o/r/main",
    "https://raw.githubusercontent.com/o/r/main/a%2Fb",
    "https://raw.githubusercontent.com:8443/o/r/main/a.py",
    # Gists
    "https://gist.github.com/",
    "https://gist.github.com/o",
    "https://gist.github.com/discover",
    "https://gist.github.com/o/starred",
    f"https://gist.github.com/o/{GIST}/revisions",
    f"https://gist.github.com/o/{GIST}/raw/a.py",
    f"https://gist.githubusercontent.com/o/{GIST}/raw",
    f"https://gist.githubusercontent.com/o/{GIST}/x/a.py",
    # GitLab
    "https://gitlab.com/",
    "https://gitlab.com/g",
    "https://gitlab.com/explore/projects",
    "https://gitlab.com/users/sign_in",
    "https://gitlab.com/groups/g",
    "https://gitlab.com/groups/g/-/issues/1",
    "https://gitlab.com/help/api",
    "https://gitlab.com/-/snippets/1",
    "https://gitlab.com/g/p/-/",
    "https://gitlab.com/g/p/-/tree/main",
    "https://gitlab.com/g/p/-/issues",
    "https://gitlab.com/g/p/-/issues/new",
    "https://gitlab.com/g/p/-/merge_requests/4/diffs",
    "https://gitlab.com/g/p/-/blob/main",
    "https://gitlab.com/g/p/-/pipelines/1",
    "https://gitlab.com/g/p/blob/main/a.rb",
    "https://gitlab.com/g/p/issues/3",
    "https://gitlab.com:8443/g/p",
    "https://gitlab.com/g/p/-/blob/main/a%2F..%2Fb",
    "https://lab.example/g/p",
    "https://lab.example/p/-/blob/main/a.rb",
    "https://lab.example/-/blob/main/a.rb",
    "https://codeberg.org/o/-/blob/main/a.rb",
    "https://github.com/o/r/-/blob/main/a.rb",
    # Codeberg
    "https://codeberg.org/",
    "https://codeberg.org/o",
    "https://codeberg.org/explore/repos",
    "https://codeberg.org/user/login",
    "https://codeberg.org/o/r.rss",
    "https://codeberg.org/o/r/src/branch/main",
    "https://codeberg.org/o/r/issues",
    "https://codeberg.org/o/r/pulls/6/files",
    "https://codeberg.org/o/r/releases?page=2",
    "https://codeberg.org/o/r/wiki/Home",
    "https://codeberg.org:3000/o/r",
    "https://git.example/o/r",
    "https://git.example/o/r/issues/5",
    "https://git.example/api/r/src/branch/main/a.c",
    "https://git.example/o/r/src/main/a.c",
    "https://git.example/o/r/src/branch/main/a%2F..%2Fb",
    "https://github.com/o/r/src/branch/main/a.c",
    # Hugging Face
    "https://huggingface.co/",
    "https://huggingface.co/o",
    "https://huggingface.co/models",
    "https://huggingface.co/docs/hub",
    "https://huggingface.co/blog/x",
    "https://huggingface.co/papers/2401.00001",
    "https://huggingface.co/datasets/squad",
    "https://huggingface.co/collections/o/c",
    "https://huggingface.co/o/m/tree/main",
    "https://huggingface.co/o/m/discussions/1",
    "https://huggingface.co/o/m/blob/main",
    "https://huggingface.co/o/m/blob/main/w.safetensors",
    "https://huggingface.co/o/m/blob/main/W.GGUF",
    "https://huggingface.co/o/m/blob/main/a%2Fb.py",
    "https://huggingface.co/o/m/blob/refs%2F..%2Fx/a.py",
    "https://huggingface.co/o%2Fx/m",
    "https://huggingface.co:8443/o/m",
    "https://cdn.huggingface.co/o/m",
]


@pytest.mark.parametrize(("url", "tier", "sources"), PLANNED)
def test_a_known_address_is_read_from_its_sources(
    plan: Callable[[str], Plan | None], url: str, tier: str, sources: list[str]
):
    found = plan(url)
    assert found is not None
    assert found.tier == tier
    assert [source.url for source in found.sources] == sources


@pytest.mark.parametrize("url", NOT_PLANNED)
def test_any_other_address_is_a_page(plan: Callable[[str], Plan | None], url: str):
    assert plan(url) is None


@pytest.mark.parametrize("kind", ["models", "datasets", "spaces"])
def test_a_repository_of_hugging_face_names_the_fields_it_wants(
    plan: Callable[[str], Plan | None], kind: str
):
    folder = "" if kind == "models" else f"{kind}/"
    found = plan(f"https://huggingface.co/{folder}o/m")
    assert found is not None
    api, card = found.sources
    assert URL(api.url).path == f"/api/{kind}/o/m"
    assert {"cardData", "tags", "lastModified"} <= set(URL(api.url).query.getall("expand"))
    assert "siblings" not in URL(api.url).query.getall("expand")
    assert card.url == f"https://huggingface.co/{folder}o/m/resolve/main/README.md"


@pytest.mark.parametrize(("url", "tier", "sources"), PLANNED)
def test_the_first_source_is_required_and_the_tier_can_be_switched_off(
    plan: Callable[[str], Plan | None], url: str, tier: str, sources: list[str]
):
    found = plan(url)
    assert found is not None
    assert [source.is_required for source in found.sources] == [True] + [False] * (len(sources) - 1)
    others = tiers([name for name in TierName if name != tier])
    assert all(other.plan(URL(url)) is None for other in others)


@pytest.mark.parametrize(("url", "tier", "sources"), PLANNED)
def test_a_source_is_an_address_that_a_parser_does_not_change(
    plan: Callable[[str], Plan | None], url: str, tier: str, sources: list[str]
):
    found = plan(url)
    assert found is not None
    for source in found.sources:
        assert str(URL(source.url)) == source.url
