"""What a question may be about."""

from enum import StrEnum


class Signal(StrEnum):
    """What the words of a question say about where its answer stands; the value is for a person."""

    CODE = "code"
    ERROR = "error"
    TECHNOLOGY = "technology"
    PACKAGE = "package"
    REPOSITORY = "repository"
    MODEL = "model"
    DATASET = "dataset"
    VULNERABILITY = "vulnerability"
    OPINION = "opinion"
    HOW_TO = "how-to"
    DEFINITION = "definition"
    SCHOLARLY = "scholarly"
    BIOMEDICAL = "biomedical"
    FORMAL = "exact science"
    PLACE = "place"
    ENTITY = "person or entity"
    NEWS = "news"
    IMAGE = "image"
    VIDEO = "video"
    MUSIC = "music"
    SOUND = "sound"
    FILE = "file"


class Ecosystem(StrEnum):
    """Where a package lives."""

    NPM = "npm"
    CRATES = "crates"
    HUGGINGFACE = "huggingface"
    OTHER = "other"
