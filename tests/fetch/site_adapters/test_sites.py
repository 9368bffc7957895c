"""Which addresses an adapter reads, and what is fetched for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from searx_mcp.fetch.config import TierName
from searx_mcp.fetch.site_adapters.adapter import Plan
from searx_mcp.fetch.site_adapters.sites import adapters

API = "https://api.github.com/repos"
RAW = "https://raw.githubusercontent.com"
GISTS = "https://api.github.com/gists"
CDN = "https://cdn.jsdelivr.net/npm"
HUB = "https://huggingface.co"
SHA = "0123456789abcdef0123456789abcdef01234567"
GIST = "aa5a315d61ae9438b18d"

PLANNED: list[tuple[str, str, list[str]]] = [
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
    ("https://gitlab.com/g/p/-/blob/main/src/a.rb", "gitlab", ["https://gitlab.com/g/p/-/raw/main/src/a.rb"]),
    ("https://gitlab.com/g/p/-/blob/main/a.rb?ref_type=heads#L3-9", "gitlab", ["https://gitlab.com/g/p/-/raw/main/a.rb"]),
    ("https://gitlab.com/g/p/-/raw/feature/x/a.rb", "gitlab", ["https://gitlab.com/g/p/-/raw/feature/x/a.rb"]),
    ("https://gitlab.com/g/p/-/blob/main/a%20b/%C3%BC.md", "gitlab", ["https://gitlab.com/g/p/-/raw/main/a%20b/%C3%BC.md"]),
    ("https://lab.example/g/p/-/blob/main/a.rb", "gitlab", ["https://lab.example/g/p/-/raw/main/a.rb"]),
    ("https://lab.example:8443/g/p/-/blob/main/a.rb", "gitlab", ["https://lab.example:8443/g/p/-/raw/main/a.rb"]),
    ("https://salsa.example/g/h/i/j/-/blob/main/a", "gitlab", ["https://salsa.example/g/h/i/j/-/raw/main/a"]),
    # Codeberg and its like
    ("https://codeberg.org/o/r/src/branch/main/a/b.go", "codeberg", ["https://codeberg.org/o/r/raw/branch/main/a/b.go"]),
    ("https://codeberg.org/o/r/src/branch/main/b.go#L3-L9", "codeberg", ["https://codeberg.org/o/r/raw/branch/main/b.go"]),
    ("https://codeberg.org/o/r/src/tag/v1/b.go", "codeberg", ["https://codeberg.org/o/r/raw/tag/v1/b.go"]),
    (f"https://codeberg.org/o/r/src/commit/{SHA}/b.go", "codeberg", [f"https://codeberg.org/o/r/raw/commit/{SHA}/b.go"]),
    ("https://codeberg.org/o/r/raw/branch/main/b.go", "codeberg", ["https://codeberg.org/o/r/raw/branch/main/b.go"]),
    ("https://codeberg.org/o/r/media/branch/main/b.go", "codeberg", ["https://codeberg.org/o/r/media/branch/main/b.go"]),
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

ELSEWHERE = [
    # Other hosts, ports, schemes, users
    ("", """
        https://pypi.example/project/yarl https://github.com https://github.com:8443/o/r
        https://github.com:80/o/r https://github.com./o/r https://github.com.evil.example/o/r
        https://evil-github.com/o/r https://api.github.com/repos/o/r
        https://user@github.com/o/r https://user:word@github.com/o/r ftp://github.com/o/r
        https://npm.deep.example/package/yargs https://docs.npmsite.example/package/yargs
        https://notnpm.example/package/yargs https://npm.example:8443/package/yargs
    """),
    # Other pages of the package site
    ("https://npm.example", "/ /package /search?q=yargs"),
    ("https://npm.example/package", """
        /@babel /yargs/v /yargs/v/1.0/x /yargs/access /yargs?activeTab=versions
        /yargs?activeTab=code /a%20b /@babel%2Fcore
    """),
    # GitHub's own pages
    ("https://github.com", """
        /o /topics/python /orgs/python /orgs/python/repositories /settings/profile
        /marketplace/actions /Marketplace/actions /sponsors/o /features/actions /collections/x
        /search/advanced /users/o /apps/x /trending/python /login/oauth
    """),
    # Pages of repositories that no source tells better
    ("https://github.com/o/r", f"""
        /wiki /wiki/Page /actions /actions/runs/1 /commits/main /commit/{SHA} /compare/a...b
        /issues /issues/new /issues/0 /issues/1x /issues/99999999999 /issues/1/edit /pulls
        /pull/7/files /pull/7.diff /discussions/1 /blame/main/a.py /edit/main/a.py /search?q=x
        /blob/main /blob /blob/refs/heads/main /tree /releases?page=2 /releases/tag
        /releases/latest/x /releases/download/v1/a.zip /releases/tag/a%2F..%2F..%2Fuser
    """),
    ("https://github.com", "/o/r?tab=MIT-1-ov-file /o/r.git/x"),
    # Parts that are no plain names
    ("https://github.com", "/o/r%2F..%2F..%2Fuser /..%2Fuser/r /o//r /-o/r /o/r%20x /o/ü"),
    ("https://github.com/o/r", """
        /blob/main/a%2F..%2Fb /blob/main/a%5C..%5Cb /blob/main/%FF.py /blob/main//a.py
    """),
    ("https://raw.githubusercontent.com/o/r", "/main /main/a%2Fb"),
    ("https://raw.githubusercontent.com:8443/o/r", "/main/a.py"),
    # Gists
    ("https://gist.github.com", f"""
        / /o /discover /o/starred /o/{GIST}/revisions /o/{GIST}/raw/a.py
    """),
    ("https://gist.githubusercontent.com", f"/o/{GIST}/raw /o/{GIST}/x/a.py"),
    # GitLab
    ("https://gitlab.com", "/ /g/p /g /-/snippets/1 /g/p/blob/main/a.rb /g/p/issues/3"),
    ("https://gitlab.com/g/p/-", """
        /issues/3 /merge_requests/4 / /tree/main /issues /issues/new /merge_requests/4/diffs
        /blob/main /pipelines/1 /blob/main/a%2F..%2Fb
    """),
    ("https://gitlab.com:8443", "/g/p"),
    ("https://lab.example", "/g/p /p/-/blob/main/a.rb /-/blob/main/a.rb"),
    ("https://codeberg.org", "/o/-/blob/main/a.rb"),
    ("https://github.com/o/r", "/-/blob/main/a.rb"),
    # Codeberg
    ("https://codeberg.org", "/ /o/r /o"),
    ("https://codeberg.org/o/r", """
        /issues/5 /pulls/6 /releases /src/branch/main /issues /pulls/6/files /releases?page=2
        /wiki/Home
    """),
    ("https://codeberg.org:3000", "/o/r"),
    ("https://git.example", "/o/r"),
    ("https://git.example/o/r", "/issues/5 /src/main/a.c /src/branch/main/a%2F..%2Fb"),
    ("https://github.com/o/r", "/src/branch/main/a.c"),
    # Hugging Face
    ("https://huggingface.co", """
        / /o /models /docs/hub /blog/x /papers/2401.00001 /datasets/squad /collections/o/c
        /o%2Fx/m
    """),
    ("https://huggingface.co/o/m", """
        /tree/main /discussions/1 /blob/main /blob/main/w.safetensors /blob/main/W.GGUF
        /blob/main/a%2Fb.py /blob/refs%2F..%2Fx/a.py
    """),
    ("https://huggingface.co:8443", "/o/m"),
    ("https://cdn.huggingface.co", "/o/m"),
]  # fmt: skip
NOT_PLANNED = [f"{home}{path}" for home, paths in ELSEWHERE for path in paths.split()]


@pytest.mark.parametrize(("url", "tier", "sources"), PLANNED)
def test_a_known_address_is_read_from_its_sources_the_first_of_which_is_required(
    plan, url, tier, sources
):
    for found in (plan(url), plan(url)):  # planning twice gives the same
        assert found is not None
        assert found.tier == tier
        assert [source.url for source in found.sources] == sources
        assert [source.is_required for source in found.sources][1:] == [False] * len(sources[1:])
        assert found.sources[0].is_required
    assert all(str(URL(source)) == source for source in sources), "a parser changes none of them"


@pytest.mark.parametrize(("url", "tier", "sources"), PLANNED)
def test_an_adapter_can_be_switched_off(url, tier, sources):
    others = adapters([name for name in TierName if name != tier])
    assert all(other(URL(url)) is None for other in others)


@pytest.mark.parametrize("url", NOT_PLANNED)
def test_any_other_address_is_a_page(plan, url):
    assert plan(url) is None


@pytest.mark.parametrize("kind", ["models", "datasets", "spaces"])
def test_a_repository_of_hugging_face_names_the_fields_it_wants(plan, kind):
    folder = "" if kind == "models" else f"{kind}/"
    found = plan(f"https://huggingface.co/{folder}o/m")
    assert found is not None
    api, card = found.sources
    assert URL(api.url).path == f"/api/{kind}/o/m"
    assert {"cardData", "tags", "lastModified"} <= set(URL(api.url).query.getall("expand"))
    assert "siblings" not in URL(api.url).query.getall("expand")
    assert card.url == f"https://huggingface.co/{folder}o/m/resolve/main/README.md"


HOSTS = (
    "github.com", "raw.githubusercontent.com", "gist.github.com", "gitlab.com", "lab.example",
    "codeberg.org", "huggingface.co", "npm.example",
)  # fmt: skip
API_HOSTS = {"api.github.com"}


def test_there_is_an_adapter_for_each_name_but_one_without_effect():
    assert len(adapters(TierName)) == len(TierName) - 1
    assert adapters([TierName.PYPI]) == adapters([]) == ()
    assert len(adapters([TierName.NPM, TierName.NPM])) == 1


@pytest.mark.parametrize("token", ["", "ghp_0123456789abcdef"])
@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/o/r",
        "https://github.com/o/r/tree/main/src",
        "https://github.com/o/r/issues/1",
        "https://github.com/o/r/pull/1",
        "https://github.com/o/r/releases",
        "https://github.com/o/r/blob/main/a.py",
        "https://raw.githubusercontent.com/o/r/main/a.py",
        "https://gist.github.com/o/aa5a315d61ae9438b18d",
        "https://gist.githubusercontent.com/o/aa5a315d61ae9438b18d/raw/a.py",
        "https://gitlab.com/g/p/-/blob/main/a.rb",
        "https://codeberg.org/o/r/src/branch/main/a.go",
        "https://huggingface.co/o/m",
    ],
)
def test_only_githubs_api_sees_the_token(url, token):
    plans = [adapter(URL(url)) for adapter in adapters(TierName, github_token=token)]
    (found,) = filter(None, plans)
    for source in found.sources:
        is_api = URL(source.url).host in API_HOSTS
        expected = f"Bearer {token}" if is_api and token else None
        assert source.headers.get("Authorization") == expected
        assert ("X-GitHub-Api-Version" in source.headers) is is_api
        assert (source.accept == "application/vnd.github+json") is is_api


segments = st.text(st.characters(exclude_characters="/?#"), min_size=1, max_size=12)
known = st.sampled_from((
    "o", "r", "-", "blob", "raw", "tree", "main", "src", "branch", "issues", "pull", "pulls", "1",
    "releases", "tag", "project", "package", "v", "@scope", "datasets", "spaces", "resolve",
    "refs", "heads", "..", ".", "%2e%2e", "%2F", "..%2F..%2Fuser", "%00", "aa5a315d61ae9438b18d",
))  # fmt: skip


@given(
    host=st.sampled_from(HOSTS),
    path=st.lists(st.one_of(known, segments), max_size=8),
    fragment=st.text(max_size=12),
)
def test_no_path_makes_a_source_leave_its_place(host, path, fragment):
    try:
        url = URL(f"https://{host}/{'/'.join(path)}").with_fragment(fragment)
    except ValueError:
        return
    for adapter in adapters(TierName):
        found: Plan | None = adapter(url)
        for source in found.sources if found is not None else ():
            target = URL(source.url)
            assert (str(target), target.scheme) == (source.url, "https")
            assert target.user is None
            pieces = [piece for part in target.parts[1:] for piece in part.split("/")]
            assert not {"", ".", ".."} & set(pieces)
            if target.host == "api.github.com":
                assert target.parts[1] in {"repos", "gists"}
            elif target.host == "cdn.jsdelivr.net":
                assert target.parts[1] == "npm"
            else:
                assert target.host in {url.host, "raw.githubusercontent.com"}
