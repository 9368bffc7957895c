"""All settings in one value; building it reads neither the environment nor files."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeAlias, TypedDict, Unpack

import platformdirs
from pydantic import (
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from searx_mcp.arguments import SearchDefaults, check_profile
from searx_mcp.content.config import MarkdownConfig
from searx_mcp.errors import InvalidArgumentError
from searx_mcp.evidence.config import (
    AnswerConfig,
    CorpusConfig,
    EmbeddingConfig,
    RerankConfig,
)
from searx_mcp.fetch.config import FetchConfig, WebFetchConfig
from searx_mcp.http.config import NetworkConfig
from searx_mcp.models.base import Frozen, refusal
from searx_mcp.models.spelling import shown
from searx_mcp.pool.config import NATIVE_FOLDER, InstancesConfig, OwnConfig
from searx_mcp.search.config import QualityConfig, SearchConfig, WebSearchConfig
from searx_mcp.settings.instances import checked
from searx_mcp.settings.server import HttpConfig, RemoteConfig, ServerConfig
from searx_mcp.sources.open.config import OpenSourcesConfig, ProvidersConfig
from searx_mcp.storage.config import PostgresConfig, RedisConfig, StorageConfig
from searx_mcp.workers.config import WorkersConfig

DROP_STRANGERS: Final = "drop_strangers"
"""Key of the validation context: whether to ignore credentials for addresses that are no own instances."""

_PROFILE_NAME = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")


Table: TypeAlias = Mapping[str, object]
"""A table of settings as in the file, by key."""


class SettingsTables(TypedDict, total=False):
    """The keywords of `Settings`, as a program writes them; for type checkers."""

    web_search: WebSearchConfig | Table
    search: SearchConfig | Table
    quality: QualityConfig | Table
    web_fetch: WebFetchConfig | Table
    fetch: FetchConfig | Table
    markdown: MarkdownConfig | Table
    instances: InstancesConfig | Table
    own: OwnConfig | Table
    open_sources: OpenSourcesConfig | Table
    providers: ProvidersConfig | Table
    corpus: CorpusConfig | Table
    embedding: EmbeddingConfig | Table
    rerank: RerankConfig | Table
    answer: AnswerConfig | Table
    network: NetworkConfig | Table
    storage: StorageConfig | Table
    redis: RedisConfig | Table
    postgres: PostgresConfig | Table
    workers: WorkersConfig | Table
    server: ServerConfig | Table
    http: HttpConfig | Table
    remote: RemoteConfig | Table
    profile: str
    profiles: Mapping[str, Table]


class Settings(Frozen):
    """All settings, validated; building them reads neither the environment nor files.

    Addresses of own instances are normalised: they end in `/` and have no default port.
    """

    # An address may contain a password, so pydantic's errors must not show their input.
    model_config = ConfigDict(hide_input_in_errors=True)

    web_search: WebSearchConfig = Field(default_factory=WebSearchConfig)
    search: SearchConfig = Field(default_factory=SearchConfig)
    quality: QualityConfig = Field(default_factory=QualityConfig)
    web_fetch: WebFetchConfig = Field(default_factory=WebFetchConfig)
    fetch: FetchConfig = Field(default_factory=FetchConfig)
    markdown: MarkdownConfig = Field(default_factory=MarkdownConfig)
    instances: InstancesConfig = Field(default_factory=InstancesConfig)
    own: OwnConfig = Field(default_factory=OwnConfig)
    open_sources: OpenSourcesConfig = Field(default_factory=OpenSourcesConfig)
    providers: ProvidersConfig = Field(default_factory=ProvidersConfig)
    corpus: CorpusConfig = Field(default_factory=CorpusConfig)
    embedding: EmbeddingConfig = Field(default_factory=EmbeddingConfig)
    rerank: RerankConfig = Field(default_factory=RerankConfig)
    answer: AnswerConfig = Field(default_factory=AnswerConfig)
    network: NetworkConfig = Field(default_factory=NetworkConfig)
    storage: StorageConfig = Field(default_factory=StorageConfig)
    redis: RedisConfig = Field(default_factory=RedisConfig)
    postgres: PostgresConfig = Field(default_factory=PostgresConfig)
    workers: WorkersConfig = Field(default_factory=WorkersConfig)
    server: ServerConfig = Field(default_factory=ServerConfig)
    http: HttpConfig = Field(default_factory=HttpConfig)
    remote: RemoteConfig = Field(default_factory=RemoteConfig)
    profile: str = Field(
        default="",
        description="Default profile of search arguments.",
    )
    profiles: dict[str, dict[str, object]] = Field(
        default_factory=dict, description="Search arguments by name of profile."
    )

    if TYPE_CHECKING:
        # Pydantic accepts more types than the fields declare to type checkers.
        def __init__(self, **tables: Unpack[SettingsTables]) -> None: ...

    @field_validator("instances")
    @classmethod
    def _check_instances(cls, instances: InstancesConfig, info: ValidationInfo) -> InstancesConfig:
        return checked(instances, drop_strangers=(info.context or {}).get(DROP_STRANGERS, False))

    @model_validator(mode="after")
    def _check_profiles(self) -> Self:
        for name, arguments in self.profiles.items():
            if not _PROFILE_NAME.fullmatch(name):
                raise refusal(f"profiles.{name}", "a name has lower-case letters, digits, - and _")
            try:
                check_profile(arguments, defaults=self.search_defaults())
            except InvalidArgumentError as error:
                reason = error.message.removeprefix(f"{error.field}: ")
                raise refusal(f"profiles.{name}.{error.field}", reason) from error
        if self.profile and self.profile not in self.profiles:
            known = ", ".join(self.profiles) or "none"
            raise refusal("profile", f"{shown(self.profile)} does not exist; there is {known}")
        return self

    def state_folder(self) -> Path | None:
        """Return the folder of the state, or `None` if it is kept in memory."""
        if not self.storage.state:
            return None
        default = platformdirs.user_state_path("searx-mcp", appauthor=False)
        return Path(self.storage.folder or default).expanduser()

    def has_native_instance(self) -> bool:
        """Return whether SearXNG may be installed as a process of this machine."""
        folder = self.state_folder()
        return folder is not None and (folder / NATIVE_FOLDER).is_dir()

    def own_endpoints(self) -> tuple[str, ...]:
        """Return the operator's endpoints besides instances: they may be private."""
        return (
            *self.open_sources.own_endpoints(),
            *filter(None, (self.embedding.url, self.rerank.url)),
        )

    def search_defaults(self) -> SearchDefaults:
        """Return the defaults of a search."""
        return SearchDefaults(
            results_count=self.web_search.default_results_count,
            max_results=self.web_search.max_results_count,
            category=self.search.default_category,
            language=self.search.default_language,
            categories=self.instances.categories,
            profile=self.profiles.get(self.profile, {}),
        )
