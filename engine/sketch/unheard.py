"""Words of a request that nobody sings although they were sent, each told in a sentence."""

import re

from engine.score.lyrics import split_words
from engine.sketch.lyrics import read_lyrics
from engine.sketch.style import unsung_tag

_WORDS_OF_A_SCORE = re.compile(r"^\s*(?:w|\+):(.*)$", re.MULTILINE)
_MOST_NAMED = 3


def unheard(style: str, lyrics: str, abc: str) -> str:
    """Which words stay unsung, and what to change; empty where all that were sent are sung."""
    written, asked = _letters_of(abc), _words(lyrics)
    if (tag := unsung_tag(style)) and (written or (asked and not abc.strip())):
        return f"Nobody sings, since the style says “{tag}”: leave that tag out to have the words sung."
    if not abc.strip() or tag:
        return ""
    if asked and not written:
        return "The band sings only what stands below the notes as w: lines, and this score has none: an instrument plays."
    missing = [word for word in asked if word not in written]
    if not missing or _is_shortened(abc, "".join(asked)):
        return ""
    named = ", ".join(f"“{word}”" for word in missing[:_MOST_NAMED])
    rest = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
    return f"The band sings the score's w: lines, which lack {named}{rest} of the lyrics: change them there."


def _words(lyrics: str) -> tuple[str, ...]:
    """The words of lyrics, each once, as letters and digits alone."""
    words: dict[str, None] = {}
    for section in read_lyrics(lyrics):
        for line in section.lines:
            word = ""
            for syllable in line.syllables:
                word += syllable.text
                if syllable.ends_word:
                    words[_letters(word)] = None
                    word = ""
    return tuple(filter(None, words))


def _is_shortened(abc: str, asked: str) -> bool:
    """Whether a score has no other words than those asked for, as where bars were taken out."""
    lines = (split_words(text) for text in _WORDS_OF_A_SCORE.findall(abc))
    return all(_letters(word) in asked for line in lines for word in line)


def _letters_of(abc: str) -> str:
    """All syllables below the notes of a score in one string, so that it does not matter how words are parted."""
    return "".join(_letters("".join(split_words(text))) for text in _WORDS_OF_A_SCORE.findall(abc))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
