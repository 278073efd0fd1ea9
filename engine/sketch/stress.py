"""Which syllables of an English word carry its stress, guessed from its spelling.

Endings that draw the stress and unstressed first syllables are known; other words begin with it. Little words have none.
Words of other alphabets are neither stressed nor unstressed.
"""

import re
from collections.abc import Sequence
from typing import Final

STRESSED: Final = 1.0
HALF: Final = 0.5  # of no weight either way
UNSTRESSED: Final = 0.0
_LITTLE: Final = frozenset(
    re.findall(
        r"[a-z']+",
        "a an and as at but by for from i if in into is it my of on or our so than that the their then there they this "
        "to was we when where who with you your he she his her him me us them its be been am are were will would can "
        "could has have had do does did i'm you're we're i'll you'll it's i've don't not just till until upon",
    )
)
_DRAWING: Final = re.compile(  # the stress lies right before these
    r"(?:[st]ion|cian|[ct]ious|ical|ic|ity|ia|ify|ian|graphy|logy|ual|uous|eous)s?$"
)
_FINAL: Final = re.compile(r"(?:self|selves|ee|een|eer|ette|esque|oon|violin)$")
_LATE_BUT_ONE: Final = re.compile(
    r"[^aeiou][ao]h?s?$"
)  # banana, potato: the last but one, in three syllables and more
_LIGHT_FIRST: Final = frozenset(
    re.findall(
        r"[a-z']+",
        "a ab ac ad al ap ar as at be com con de dis e em en ex for fo in im mis o ob per pre pro re se sub sur to un "
        "with up",
    )
)
_HEAVY_WORDS: Final = frozenset(
    re.findall(
        r"[a-z']+",
        "able camera africa opera orchestra canada buffalo stamina angela pamela cinema acorn after alley always angel anger angle ankle answer any apple april arrow artist ashes aspen autumn "
        "actor action even ever evening every extra forest forty former forward fortune index inner insect into inside "
        "open over other ocean only promise people perfect person prophet present preacher prelude pretty proper proud "
        "problem profit realm reason rebel recent record region rescue second secret seven several sepal sudden subject "
        "subway summer total token tower under upper uproar upward envy empty ember emblem enter entry denim desert "
        "despot debit atom attic arbor army album alder almond alpine basil comet comfort common compass concert conquer "
        "constant content contact distant dismal district instant image impulse",
    )
)
_LATE_WORDS: Final = frozenset(
    re.findall(
        r"[a-z']+",
        "america hello goodbye guitar hotel machine believe police july cartoon balloon champagne cologne design desire divine "
        "supreme sincere extreme serene marine romance today tonight inside outside myself forever whenever wherever horizon "
        "together tomorrow remember november december september october",
    )
)


def stresses(parts: Sequence[str]) -> tuple[float, ...]:
    """The weight of each syllable of one word, 0 to 1; `parts` join to the word."""
    word = re.sub(r"[^a-z']", "", "".join(parts).lower().replace("’", "'"))
    if not word or not all(ord(letter) < 0x250 or letter == "’" for letter in "".join(parts)):
        return (HALF,) * len(parts)
    if len(parts) == 1:
        return (UNSTRESSED if word in _LITTLE else STRESSED,)
    main = _main(word, [re.sub(r"[^a-z]", "", part.lower()) for part in parts])
    return tuple(
        STRESSED if place == main else HALF if abs(place - main) == 2 else UNSTRESSED
        for place in range(len(parts))
    )


def _main(word: str, parts: Sequence[str]) -> int:
    last = len(parts) - 1
    if _FINAL.search(word) and word not in _HEAVY_WORDS:
        return last
    if drawing := _DRAWING.search(word):
        return _part_at(parts, drawing.start() - 1)
    if last >= 2 and _LATE_BUT_ONE.search(word) and word not in (_HEAVY_WORDS | _LATE_WORDS):
        return last - 1
    if word.startswith("under") and len(parts) > 2:
        return 2
    late = word in _LATE_WORDS or (parts[0] in _LIGHT_FIRST and word not in _HEAVY_WORDS)
    return 1 if late else 0


def _part_at(parts: Sequence[str], letter: int) -> int:
    """The syllable that holds the vowel at or before a letter."""
    end = 0
    for place, part in enumerate(parts):
        end += len(part)
        if letter < end:
            holds = re.search(r"[aeiouy]", part[: letter - end + len(part) + 1])
            return place if holds or not place else place - 1
    return len(parts) - 1
