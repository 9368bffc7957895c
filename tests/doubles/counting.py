"""Tokens of a text by the weights that `docs/decisions/token-estimate.md` publishes, but not by its rule for hashes."""

_BEYOND_ASCII = {2: 100, 3: 150, 4: 400}
"""Hundredths of a token, by the bytes of a character."""


def tokens_in(text: str) -> int:
    """Tokens of a text; Cyrillic and Arabic, Han and kana have weights of their own, which are not needed here."""
    return -(-sum(map(_weight, text)) // 100)


def _weight(character: str) -> int:
    if not character.isascii():
        return _BEYOND_ASCII[len(character.encode())]
    if character.isdigit() or character == "\n":
        return 100
    if character.isalpha():
        return 30
    return 10 if character.isspace() else 55
