"""Languages that Whisper knows, by the codes of its tokens: ISO 639-1, where there is one."""

from typing import Final

from engine.errors import InvalidRequest

NAMES: Final = {
    "af": "afrikaans", "am": "amharic", "ar": "arabic", "as": "assamese", "az": "azerbaijani", "ba": "bashkir",
    "be": "belarusian", "bg": "bulgarian", "bn": "bengali", "bo": "tibetan", "br": "breton", "bs": "bosnian",
    "ca": "catalan", "cs": "czech", "cy": "welsh", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish", "fo": "faroese",
    "fr": "french", "gl": "galician", "gu": "gujarati", "ha": "hausa", "haw": "hawaiian", "he": "hebrew",
    "hi": "hindi", "hr": "croatian", "ht": "haitian creole", "hu": "hungarian", "hy": "armenian",
    "id": "indonesian", "is": "icelandic", "it": "italian", "ja": "japanese", "jw": "javanese", "ka": "georgian",
    "kk": "kazakh", "km": "khmer", "kn": "kannada", "ko": "korean", "la": "latin", "lb": "luxembourgish",
    "ln": "lingala", "lo": "lao", "lt": "lithuanian", "lv": "latvian", "mg": "malagasy", "mi": "maori",
    "mk": "macedonian", "ml": "malayalam", "mn": "mongolian", "mr": "marathi", "ms": "malay", "mt": "maltese",
    "my": "myanmar", "ne": "nepali", "nl": "dutch", "nn": "nynorsk", "no": "norwegian", "oc": "occitan",
    "pa": "punjabi", "pl": "polish", "ps": "pashto", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sa": "sanskrit", "sd": "sindhi", "si": "sinhala", "sk": "slovak", "sl": "slovenian", "sn": "shona",
    "so": "somali", "sq": "albanian", "sr": "serbian", "su": "sundanese", "sv": "swedish", "sw": "swahili",
    "ta": "tamil", "te": "telugu", "tg": "tajik", "th": "thai", "tk": "turkmen", "tl": "tagalog", "tr": "turkish",
    "tt": "tatar", "uk": "ukrainian", "ur": "urdu", "uz": "uzbek", "vi": "vietnamese", "yi": "yiddish",
    "yo": "yoruba", "yue": "cantonese", "zh": "chinese",
}  # fmt: skip
UNSPACED: Final = frozenset({"zh", "ja", "th", "lo", "my", "yue", "bo", "km"})  # written without blanks
HOW_TO_LEARN_LANGUAGES: Final = (
    "start the server with YUE2_WHISPER naming the folder of a multilingual Whisper model"
)
_CODES: Final = {name: code for code, name in NAMES.items()} | {"burmese": "my", "mandarin": "zh", "jv": "jw"}


def language_code(asked: str, known: tuple[str, ...]) -> str:
    """The code for what a request says: a code, one with a region ("en-US"), or an English name; "" stays.

    Raises InvalidRequest('language') for what is not among the `known` codes.
    """
    wanted = asked.strip().lower()
    region_free = wanted.replace("_", "-").partition("-")[0]
    code = _CODES.get(wanted, region_free)
    if wanted and code not in known:
        others = "" if len(known) > 1 else f", or {HOW_TO_LEARN_LANGUAGES}"
        raise InvalidRequest(
            "language",
            f"The model does not know the language {asked[:80]!r}; choose one of: {', '.join(known)}{others}.",
        )
    return code
