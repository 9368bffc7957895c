"""The names of languages, in English and in themselves, and the codes that engines take."""

from typing import Final

_NAMES: Final = {
    "af": "afrikaans", "ar": "arabic العربية", "be": "belarusian беларуская",
    "bg": "bulgarian български", "bn": "bengali বাংলা", "ca": "catalan català",
    "cs": "czech čeština česky", "cy": "welsh cymraeg", "da": "danish dansk",
    "de": "german deutsch", "el": "greek ελληνικά", "en": "english", "eo": "esperanto",
    "es": "spanish español espanol castilian", "et": "estonian eesti", "eu": "basque euskara",
    "fa": "persian farsi فارسی", "fi": "finnish suomi", "fil": "filipino tagalog",
    "fr": "french français francais", "ga": "irish gaeilge", "gl": "galician galego",
    "he": "hebrew עברית", "hi": "hindi हिन्दी", "hr": "croatian hrvatski",
    "hu": "hungarian magyar", "id": "indonesian bahasa", "is": "icelandic íslenska",
    "it": "italian italiano", "ja": "japanese 日本語", "ko": "korean 한국어",
    "lt": "lithuanian lietuvių", "lv": "latvian latviešu", "ms": "malay melayu",
    "nb": "norwegian norsk bokmål", "nl": "dutch nederlands flemish", "pl": "polish polski",
    "pt": "portuguese português portugues", "ro": "romanian română", "ru": "russian русский",
    "sk": "slovak slovenčina", "sl": "slovenian slovenščina slovene", "sq": "albanian shqip",
    "sr": "serbian српски", "sv": "swedish svenska", "sw": "swahili kiswahili",
    "ta": "tamil தமிழ்", "th": "thai ไทย", "tr": "turkish türkçe", "uk": "ukrainian українська",
    "ur": "urdu اردو", "vi": "vietnamese", "zh": "chinese mandarin 中文",
}  # fmt: skip
LANGUAGES: Final = {
    **{name: code for code, names in _NAMES.items() for name in names.split()},
    **dict.fromkeys(("any", "any language", "all languages"), "all"),
}
"""Codes by name in lower case."""
