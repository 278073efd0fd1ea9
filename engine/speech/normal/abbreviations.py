"""Abbreviations and capitals that hibari takes for something else."""

import re
from typing import Final

from engine.speech.normal.rule import GLUE, Rule, alternatives, rule

_WORDS_TOO: Final = "no|nos|Sun|Sat|Wed|Mar|fig|ed|est|ch|vol"  # also words, or the ends of sentences
_SMALL: Final = (
    " am an and any are as at be but by can did do for get go had has he her him his how i if in is it its let me my "
    "new no nor not now of off on one or our out see she so that the them then they this to too two up us was way we "
    "were what when who why will with yes you your "
)
_DIAERESIS: Final = {
    "naïv": "naiv",
    "Naïv": "Naiv",
    "Zoë": "Zoe",
    "Noël": "Noel",
    "oö": "o-o",
    "façade": "facade",
}
_AFTER_A_STREET: Final = (  # and after no saint
    "The|He|She|It|We|They|I|You|My|His|Her|Our|This|That|There|In|On|At|But|And|So|Then|When|If|Call|Dr|Mr|Mrs|Ms"
)
_ROMAN_TAIL: Final = "II|III|IV|VI|VII|VIII|IX|XI|XII|XIII|XIV|XV|XVI"
_ORDINAL_TAIL: Final = {"II": "second", "III": "third", "IV": "fourth", "VI": "sixth"}
_ROMAN: Final = {"I": 1, "V": 5, "X": 10}
_COUNTED: Final = (
    "World|War|Part|Act|Scene|Section|Volume|Book|Phase|Article|Mark|Type|Level|Stage|Class|Grade|Bowl|Apollo|Gemini|"
    "Fantasy|Episode|Round|Rocky|Chapter|Title|Appendix|Table|Figure|Rule|Step|Group|Schedule|Division|Unit"
)
_LONGEST_WORD: Final = 24  # letters that hibari's network for unknown words reads


def _person(match: re.Match[str]) -> str:
    numeral = match["numeral"]
    said = f"the{GLUE}{_ORDINAL_TAIL[numeral]}" if numeral in _ORDINAL_TAIL else str(_value(numeral))
    return f"{match['name']} {said}"


def _value(numeral: str) -> int:
    values = [_ROMAN[letter] for letter in numeral]
    following = [*values[1:], 0]
    return sum(-one if one < later else one for one, later in zip(values, following, strict=True))


def _number(match: re.Match[str]) -> str:
    return f"{match['name']}{_value(match['numeral'])}"


def _spelled(match: re.Match[str]) -> str:
    return f"{'.'.join(match['letters'])}.{GLUE}{match['digits']}"


def _chopped(match: re.Match[str]) -> str:
    word, step = match[0], _LONGEST_WORD - 4
    return GLUE.join(word[start : start + step] for start in range(0, len(word), step))


def _plain_word(match: re.Match[str]) -> str:
    return _DIAERESIS[match[0]]


def _small(match: re.Match[str]) -> str:
    word = match[0]
    return word.lower() if len(word) > 1 and f" {word.lower()} " in _SMALL else word


_WEEK: Final = {
    "Mon": "Monday",
    "Tue": "Tuesday",
    "Tues": "Tuesday",
    "Wed": "Wednesday",
    "Thu": "Thursday",
    "Thur": "Thursday",
    "Thurs": "Thursday",
    "Fri": "Friday",
    "Sat": "Saturday",
    "Sun": "Sunday",
}
_YEAR: Final = {
    "Jan": "January",
    "Feb": "February",
    "Mar": "March",
    "Apr": "April",
    "May": "May",
    "Jun": "June",
    "Jul": "July",
    "Aug": "August",
    "Sep": "September",
    "Sept": "September",
    "Oct": "October",
    "Nov": "November",
    "Dec": "December",
}
_MONTHS: Final = "|".join(_YEAR)
_WRITTEN_SHORT: Final = {
    "n/a": "N.A.",
    "N/A": "N.A.",
    "c/o": "care_of",
    "WWI": "World_War_1",
    "WW1": "World_War_1",
    "WWII": "World_War_2",
    "WW2": "World_War_2",
    "JSON": "jason",
    "km/h": "kilometers_per_hour",
    "mph": "miles_per_hour",
}


def _weekday(match: re.Match[str]) -> str:
    return _WEEK[match["day"]]


def _month(match: re.Match[str]) -> str:
    return _YEAR[match["month"]]


def _months(match: re.Match[str]) -> str:
    return f"{_YEAR[match['from']]}{GLUE}to{GLUE}{_YEAR[match['to']]}"


def _in_full(match: re.Match[str]) -> str:
    return _WRITTEN_SHORT[match[0]].replace("_", GLUE)


ABBREVIATIONS: Final[tuple[Rule, ...]] = (
    rule("|".join(_DIAERESIS), _plain_word),
    rule(rf"(?<![\w.])(?P<word>{_WORDS_TOO})\.(?=[\"”’')]*(?: [^\d]|$))", rf"\g<word>{GLUE}."),
    rule(rf"(?<=[a-z] )St\.(?= (?:{_AFTER_A_STREET})\b)", "Street."),
    rule(r"(?<=[a-z] )Dr\.(?=,|\)| [a-z]|$)", "Drive"),
    rule(r"(?<![\w.])(?:a\.k\.a\.|AKA)(?!\w)", "also_known_as"),
    rule(r"(?<!\S)['’‘][nN]['’‘](?!\S)", "and"),
    rule(r"(?<=\w)['’‘][nN]['’‘](?=\w)", "_and_"),
    rule(rf"(?<![\w./])(?:{alternatives(_WRITTEN_SHORT)})(?![\w/])", _in_full),
    rule(r"(?<![\w.])p\.(?P<gap>\s?)(?=\d)", lambda match: f"page{match['gap'] or GLUE}"),
    rule(r"(?<![\w.])ca?\.(?P<gap>\s?)(?=\d{3,4}\b)", lambda match: f"circa{match['gap'] or GLUE}"),
    rule(
        r"(?<![\w.])(?P<e>[Ee])xt\.(?P<gap>\s?)(?=\d)",
        lambda match: f"{match['e']}xtension{match['gap'] or GLUE}",
    ),
    rule(rf"(?<![\w.])(?P<from>{_MONTHS})\.?[–-](?P<to>{_MONTHS})\b", _months),
    rule(rf"(?<![\w.])(?P<month>{_MONTHS})\.?(?= \d{{4}}(?!\w|,\d))", _month),
    rule(r"(?<![\w.])etc\.(?=[,;:])", "etc"),
    rule(r"(?<![\w.])(?P<day>Tues?|Thu(?:rs?)?|Fri)(?![\w.'’-])", _weekday),
    rule(
        rf"(?<![\w.])(?P<day>Mon|Wed|Sat|Sun)(?=(?:[,/ ]|, | & | and )(?:\d|(?:{_MONTHS})\b|(?:{alternatives(_WEEK)})\b|\w+day\b))",
        _weekday,
    ),
    rule(
        r"(?:(?<=day )|(?<=day, )|(?<=day/)|(?<=day and )|(?<=day & ))(?P<day>Mon|Wed|Sat|Sun)(?![\w.'’-])",
        _weekday,
    ),
    rule(r"(?<![\w.])i\.e\.(?!\w)", "I.E."),
    rule(
        rf"(?P<name>(?<!\S)[A-Z][a-z]+ (?!(?:{_COUNTED}) )[A-Z][a-z]+) (?P<numeral>{_ROMAN_TAIL})(?![\w'’])",
        _person,
    ),
    rule(rf"(?P<name>(?:^|(?:{_COUNTED}) ))(?P<numeral>{_ROMAN_TAIL})(?=[.,:;)]|\s|$)(?!'|’)", _number),
    rule(r"(?<!\w)IPv(?=[46])", rf"I.P.{GLUE}v{GLUE}"),
    rule(r"(?<![\w-])(?P<letters>[A-Z]{2,4})(?P<digits>\d{1,4})(?![\w-])", _spelled),
    rule(r"(?<![\w./@])24/7(?![\w/])", "24_7"),
    rule(rf"[^\W\d_]{{{_LONGEST_WORD + 1},}}", _chopped),
)

SHOUTED: Final[tuple[Rule, ...]] = (rule(r"[A-Z]+(?![\w'’.]*[a-z])", _small),)


def shouted(line: str) -> bool:
    """Whether a line is in capitals throughout, three words or more."""
    words = [word for word in line.split() if any(letter.isalpha() for letter in word)]
    return len(words) >= 3 and line.isupper()
