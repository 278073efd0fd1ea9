"""Splits written words into sung syllables.

English spelling is guessed by rule (silent e, endings, vowels that part); other alphabets go by their vowels, Chinese,
Japanese and Korean by character, Indic scripts by consonant cluster, scripts that leave vowels out by pairs of letters.
The parts always join to the word again.
"""

import re
from itertools import pairwise
from unicodedata import category, normalize

VOWELS = frozenset("aeiouyæœøıаеёиоуыэюяіїєαεηιουω")
WHOLE_WORDS = {
    "every": "ev|ery",
    "everything": "ev|ery|thing",
    "everyone": "ev|ery|one",
    "everybody": "ev|ery|bo|dy",
    "evening": "eve|ning",
    "people": "peo|ple",
    "beautiful": "beau|ti|ful",
    "quiet": "qui|et",
    "science": "sci|ence",
    "poem": "po|em",
    "idea": "i|de|a",
    "real": "real",
    "really": "real|ly",
    "ocean": "o|cean",
    "somebody": "some|bo|dy",
    "business": "busi|ness",
    "area": "a|re|a",
    "create": "cre|ate",
    "created": "cre|a|ted",
    "eye": "eye",
    "eyes": "eyes",
    "element": "el|e|ment",
    "darling": "dar|ling",
    "naive": "na|ive",
}
SILENT_INSIDE = re.compile(
    r"(?<=[^aeiouy])e(?=(?:ly|ful|less|ness|thing|times?|where|one|how|what|day|body)s?$)"
)
SILENT_AT_END = re.compile(
    r"[^aeiouy](?<![^aeiouylrw]l)e$|[^aeiouyszxcg](?<!ch)(?<!sh)(?<![^aeiouylr]l)es$|[^aeiouytd](?<![^aeiour]r)ed$"
)
PARTING = re.compile(r"(?<=i)(?<![tcsgx]i)(?=[aou])|(?<=e)(?=o)|(?<=[aeiouy])(?=ing)|(?<=u)(?=e[lt]$)")
ONSETS = frozenset(
    [
        "th",
        "sh",
        "ch",
        "ph",
        "wh",
        "bl",
        "br",
        "cl",
        "cr",
        "dr",
        "fl",
        "fr",
        "gl",
        "gr",
        "pl",
        "pr",
        "tr",
        "tw",
    ]
)
INNER_ONSETS = ONSETS | {
    "st",
    "sp",
    "sk",
    "sc",
    "sm",
    "sn",
    "sw",
    "dl",
    "tl",
    "kl",
    "zl",
}  # behind a further consonant
LONG_ONSETS = frozenset(["str", "spr", "scr", "spl", "thr", "shr"])
CLOSED = frozenset(["ck", "gh", "ng"])
COMPOUND_THING = re.compile(r"(?:any|every|some|no|play)things?$")
JOINED_KANA = frozenset("ゃゅょぁぃぅぇぉっャュョァィゥェォッー")
CHARACTER = re.compile(
    r"[\u1100-\u11ff\u3005-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
INDIC = re.compile(r"[\u0900-\u0dff\u1000-\u109f\u1780-\u17ff]")
VOWELLESS = re.compile(r"[\u0590-\u077f\u08a0-\u08ff\u0e00-\u0eff\ufb1d-\ufdff\ufe70-\ufeff]")
VIRAMAS = frozenset("\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039\u17d2")


def syllables(word: str) -> tuple[str, ...]:
    """The parts of one word; empty for a word without a letter or digit."""
    starts = [place for run, place in _runs(word) for place in _starts(run, place)]
    if not starts:
        return ()
    edges = [0, *starts[1:], len(word)]
    return tuple(word[left:right] for left, right in pairwise(edges))


def _kind(letter: str) -> str:
    if CHARACTER.match(letter):
        return "character"
    if category(letter) == "Nd":
        return "digit"
    if INDIC.match(letter):
        return "indic"
    if VOWELLESS.match(letter):
        return "vowelless"
    if letter.isalpha() or letter in "'’" or category(letter).startswith("M"):
        return "alphabet"
    return "mark"


def _runs(word: str) -> list[tuple[str, int]]:
    """Stretches of one kind of script, each with its place in the word."""
    runs: list[tuple[str, int]] = []
    before = "mark"
    for place, letter in enumerate(word):
        kind = _kind(letter)
        if kind == before and kind != "mark":
            runs[-1] = (runs[-1][0] + letter, runs[-1][1])
        elif kind != "mark":
            runs.append((letter, place))
        before = kind
    return runs


def _starts(run: str, place: int) -> list[int]:
    """Where in the word the syllables of a run begin."""
    kind = _kind(run[0])
    if kind == "character":
        return [place + at for at, letter in enumerate(run) if not at or letter not in JOINED_KANA]
    if kind == "digit":
        return [place + at for at in range(len(run))]
    if kind == "indic":
        return [place + at for at, letter in enumerate(run) if not at or _opens(run, at, letter)]
    if kind == "vowelless":
        return [place + at for at in range(0, len(run), 2)]
    if not any(letter.isalpha() for letter in run):
        return []
    return [place + at for at in _alphabet_starts(run)]


def _opens(run: str, at: int, letter: str) -> bool:
    return category(letter) == "Lo" and run[at - 1] not in VIRAMAS


def _plain(run: str) -> str:
    """Lower case without accents, letter for letter."""
    return "".join((normalize("NFD", letter.lower()) or letter)[0] for letter in run)


def _alphabet_starts(run: str) -> list[int]:
    plain = _plain(run)
    bare = plain.strip("'’")
    if bare in WHOLE_WORDS:
        lead = plain.index(bare)
        lengths = [len(part) for part in WHOLE_WORDS[bare].split("|")]
        return [0, *(lead + sum(lengths[:count]) for count in range(1, len(lengths)))]
    nuclei = _nuclei(plain)
    return [0, *(_cut(plain, left[1], right[0]) for left, right in pairwise(nuclei))]


def _nuclei(plain: str) -> list[tuple[int, int]]:
    """Start and end of every sounding vowel group; at least one, however the word is spelled."""
    silent = _silent(plain)
    sounding = [
        letter in VOWELS and at not in silent and not _glides(plain, at) for at, letter in enumerate(plain)
    ]
    parted = {match.start() for match in PARTING.finditer(plain)}
    groups: list[tuple[int, int]] = []
    for at, sounds in enumerate(sounding):
        if sounds and at and sounding[at - 1] and at not in parted:
            groups[-1] = (groups[-1][0], at + 1)
        elif sounds:
            groups.append((at, at + 1))
    return groups or [(0, 1)]


def _glides(plain: str, at: int) -> bool:
    """A y before a vowel at the start, a u after q."""
    follows = plain[at + 1 : at + 2]
    if plain[at] == "y":
        return follows in VOWELS and (at == 0 or plain[at - 1] in VOWELS)
    return plain[at] == "u" and plain[at - 1 : at] == "q" and follows in VOWELS


def _silent(plain: str) -> set[int]:
    word = plain.rstrip("'’")
    silent = {match.start() for match in SILENT_INSIDE.finditer(word)}
    ending = SILENT_AT_END.search(word)
    if ending and any(letter in VOWELS for letter in word[: ending.start() + 1]):
        silent.add(ending.start() + 1)
    return silent


def _cut(plain: str, left: int, right: int) -> int:
    """Where the syllable of the second of two vowel groups begins, given the consonants between them."""
    between = plain[left:right]
    if "e" in between[:-1]:
        return left + between.rindex("e") + 1
    if between and _leaves_suffix(plain, between, right):
        return right
    if len(between) <= 1:
        return left
    if between[:2] in CLOSED:
        return left + 2
    if between in ONSETS:
        return right - 2
    return _cut_cluster(between, right) if len(between) > 2 and between.isascii() else left + 1


def _cut_cluster(between: str, right: int) -> int:
    """Where three or more consonants part: before an onset, else before the last of them."""
    if between[-3:] in LONG_ONSETS and len(between) > 3:
        return right - 3
    return right - 2 if between[-2:] in INNER_ONSETS else right - 1


def _leaves_suffix(plain: str, between: str, right: int) -> bool:
    """True where a word goes on with -ing behind its whole stem: `walk-ing`, but `run-ning` and `trem-bling`."""
    if plain[right:].rstrip("'’") not in ("ing", "ings") or COMPOUND_THING.search(plain):
        return False
    doubled = len(between) == 2 and between[0] == between[1] and between[0] not in "lsfz"
    return not (doubled or re.search(r"[bcdfgkptz]l$", between))
