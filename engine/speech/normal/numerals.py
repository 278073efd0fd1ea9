"""Times, dates, money, measures and long numbers, where hibari reads them otherwise than people do."""

import re
from typing import Final

from engine.speech.normal.rule import GLUE, Rule, alternatives, glued, rule

_N: Final = r"\d+(?:,\d{3})*(?:\.\d+)?"
_CURRENCIES: Final = {
    "US$": "US dollars",
    "A$": "Australian dollars",
    "C$": "Canadian dollars",
    "NZ$": "New Zealand dollars",
    "$": "dollars",
    "£": "pounds",
    "€": "euros",
    "¥": "yen",
    "₹": "rupees",
}
_CODES: Final = {
    "USD": "US dollars",
    "EUR": "euros",
    "GBP": "pounds",
    "CHF": "Swiss francs",
    "CAD": "Canadian dollars",
    "AUD": "Australian dollars",
}
_SCALES: Final = {
    "k": "thousand",
    "K": "thousand",
    "m": "million",
    "M": "million",
    "mn": "million",
    "bn": "billion",
    "b": "billion",
    "B": "billion",
    "tn": "trillion",
    "T": "trillion",
}
_UNITS: Final = {
    "m": "meter",
    "g": "gram",
    "kg": "kilogram",
    "km": "kilometer",
    "cm": "centimeter",
    "mm": "millimeter",
    "mg": "milligram",
    "L": "liter",
    "l": "liter",
    "mL": "milliliter",
    "ml": "milliliter",
    "V": "volt",
    "W": "watt",
    "kW": "kilowatt",
    "h": "hour",
    "mol": "mole",
    "J": "joule",
    "kJ": "kilojoule",
    "N": "newton",
    "dB": "decibel",
    "kPa": "kilopascal",
    "hPa": "hectopascal",
    "kcal": "kilocalorie",
    "kbps": "kilobit per second",
    "kbit": "kilobit",
    "Mbit": "megabit",
    "Gbit": "gigabit",
    "GB": "gigabyte",
    "MB": "megabyte",
    "TB": "terabyte",
    "ft": "foot",
    "in²": "square inch",
    "lb": "pound",
    "mi": "mile",
    "tsp": "teaspoon",
    "tbsp": "tablespoon",
    "µm": "micrometer",
    "μm": "micrometer",
    "μg": "microgram",
}
_AFTER_A_SPACE: Final = {"s": "second", "t": "ton"}  # "1990s" are no seconds
_IRREGULAR: Final = {"foot": "feet", "square foot": "square feet", "square inch": "square inches"}
_PER: Final = {"h": "hour", "s": "second", "min": "minute", "day": "day", **_UNITS}
_SHORT: Final = {"mo": "month", "yr": "year", "wk": "week", "hr": "hour", "min": "minute"}
_FRACTIONS: Final = {
    "½": "a half",
    "⅓": "a third",
    "⅔": "two thirds",
    "¼": "a quarter",
    "¾": "three quarters",
    "⅕": "a fifth",
    "⅛": "an eighth",
    "⅜": "three eighths",
    "⅝": "five eighths",
    "⅞": "seven eighths",
}
_POWERS: Final = {"²": "square", "³": "cubic", "2": "square", "3": "cubic"}
_WAYS: Final = "tall|high|long|wide|deep|thick"
_DAYS: Final = "Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat|Sun"
_TENS: Final = ("twenty", "thirty", "forty", "fifty")
_ONES: Final[list[str]] = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen",
)


def _words(number: int) -> str:
    """A number below 60 in words: what stands beside a time is read otherwise than what stands beside digits."""
    tens, ones = divmod(number, 10)
    if number < 20:
        return _ONES[number]
    return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")


def _one(number: str) -> bool:
    return number.replace(",", "") in ("1", "1.0", "-1")


def _many(words: str) -> str:
    head, _, rest = words.partition(" per ")
    plural = _IRREGULAR.get(head, head if head.endswith("s") else head + "s")
    return f"{plural} per {rest}" if rest else plural


def _measured(number: str, words: str) -> str:
    return glued(words if _one(number) else _many(words))


def _unit(match: re.Match[str]) -> str:
    name = _UNITS.get(match["unit"]) or _AFTER_A_SPACE[match["letter"]]
    if match["power"]:
        name = f"{_POWERS[match['power']]} {name}"
    if match["per"]:
        power = f"{_POWERS[match['per_power']]} " if match["per_power"] else ""
        name = f"{name} per {power}{_PER[match['per']]}"
    return f"{match['number']}{match['gap'] or match['apart'] or GLUE}{_measured(match['number'], name)}"


def _time(match: re.Match[str]) -> str:
    hour, minute, half = int(match["hour"]), int(match["minute"]), match["half"]
    if hour > 24 or minute > 59:
        return match[0]
    said = _words(hour)
    if minute:
        said += f"{GLUE}{f'oh{GLUE}' if minute < 10 else ''}{_words(minute)}"
    elif not half:
        said += GLUE + ("hundred" if hour > 12 else "o'clock")
    return said + (f"{match['gap'] or GLUE}{half.upper()}.M." if half else "")


def _scaled_money(match: re.Match[str]) -> str:
    scale = _SCALES.get(match["scale"], match["scale"])
    return f"{match['number']}{match['gap'] or GLUE}{scale}{GLUE}{glued(_CURRENCIES[match['sign']])}"


def _foreign_money(match: re.Match[str]) -> str:
    number = match["number"]
    words = {**_CURRENCIES, **_CODES}[match["sign"]]
    return (
        f"{number}{match['gap'] or GLUE}{glued(words[:-1] if _one(number) and words[-1] == 's' else words)}"
    )


def _scaled(match: re.Match[str]) -> str:
    return f"{match['number']}{GLUE}{_SCALES[match['scale']]}"


def _digits(match: re.Match[str]) -> str:
    return GLUE.join(match[0].replace(",", ""))


def _point(match: re.Match[str]) -> str:
    whole = f"{match['whole']}{GLUE}" if match["whole"] else ""
    return f"{whole}point{GLUE}{GLUE.join(match['part'])}"


def _version(match: re.Match[str]) -> str:
    return match[0].replace(".", f"{GLUE}point{GLUE}")


def _mixed(match: re.Match[str]) -> str:
    upper, lower = match["upper"], match["lower"]
    half = "a half" if (upper, lower) == ("1", "2") else ""
    quarter = "a quarter" if (upper, lower) == ("1", "4") else ""
    return f"{match['whole']} and{GLUE}{glued(half or quarter or f'{upper}/{lower}')}"


def _fraction(match: re.Match[str]) -> str:
    name = glued(_FRACTIONS[match["part"]])
    apart = GLUE if match.string[match.end() : match.end() + 1].isalnum() else ""
    if match["whole"]:
        return f"{match['whole']}{GLUE}and{GLUE}{name}{apart}"
    return re.sub(r"^an?\b", "one", name) + apart


def _grouped(match: re.Match[str]) -> str:
    """The number as its first group's, so that the others are not said again."""
    first, *others = match[0].split(" ")
    return ",".join([first, *others]) + " " * len(others)


def _sixteenths(match: re.Match[str]) -> str:
    name = {
        "12": "twelfth",
        "16": "sixteenth",
        "32": "thirty-second",
        "64": "sixty-fourth",
        "100": "hundredth",
        "1000": "thousandth",
    }
    plural = "" if match["upper"] == "1" else "s"
    return f"{match['upper']}{GLUE}{name[match['lower']]}{plural}"


def _inches(match: re.Match[str]) -> str:
    """A number with its mark, unless the mark ends what was quoted before it."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    if match[0][-1] == '"' and len(re.findall(r'(?<!\d)"', before)) % 2:
        return match[0]
    described = re.match(rf" (?!(?:{_WAYS}|x|by|in|of|and|or|is|on|at|to|from|for|with|per)\b)[a-z]", after)
    return f"{match['inches']}{GLUE}{'inch' if described or _one(match['inches']) else 'inches'}"


def _inched(match: re.Match[str]) -> str:
    return f"{match['gap'] or match['near'] or match['far'] or GLUE}inches"


def _each(match: re.Match[str]) -> str:
    return f"{GLUE}per{GLUE}{_SHORT.get(match['per'], match['per'])}"


def _lasting(match: re.Match[str]) -> str:
    hours, minutes = _measured(match["hours"], "hour"), _measured(match["minutes"], "minute")
    return f"{match['hours']}{GLUE}{hours}{match['gap'] or GLUE}{int(match['minutes'])}{GLUE}{minutes}"


def _ordered(match: re.Match[str]) -> str:
    return f"{match['year']}-{int(match['month']):02}-{int(match['day']):02}"


NUMERALS: Final[tuple[Rule, ...]] = (
    rule(r"(?<!\w)[-−](?=[$£€¥]\d)", "minus_"),
    rule(r"(?P<sign>[$£€¥])[-−](?=\d)", r"minus_\g<sign>"),
    rule(r"(?<=\d)/(?P<per>month|mo|year|yr|week|wk|day|night|hour|hr|min|minute|person)(?!\w)", _each),
    rule(r"(?<![\w.])(?P<hours>\d{1,2})h(?P<gap>\s?)(?P<minutes>[0-5]?\d)m(?:in)?(?!\w)", _lasting),
    rule(r"(?<![\w.$£€])(?P<number>\d+\.\d+|\d{0,2}[1-9])s(?![\w'’])", r"\g<number>_seconds"),
    rule(r"(?<![\w:.])(?P<hour>\d{1,2})\.(?P<minute>[0-5]\d)(?P<gap>\s)?(?P<half>[AaPp])\.?[Mm]\b\.?", _time),
    rule(r"(?<![\w.,])\d{15,}(?![\w,.]\d)|(?<![\w.,])\d{1,3}(?:,\d{3}){5,}(?!\d)", _digits),
    rule(r"(?<![\w.,])\d{1,3}(?:(?: \d{3}){2,5}| 000)(?![\w.,]*\w)", _grouped),
    rule(r"\b(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})\b", _ordered),
    rule(r"(?<=\d)(?P<before>\s?)[–-](?P<after>\s?)(?=\d{1,2}:\d\d)", r"\g<before>_to_\g<after>"),
    rule(r"(?:(?<=[ap]m)|(?<=[ap]\.m\.))[–-](?=\d|noon|midnight)|(?<=\d(?:st|nd|rd|th))[–-](?=\d)", "_to_"),
    rule(r"(?<!\w)['’](?=\d0s)", ""),
    rule(rf"\b(?P<from>{_DAYS})\.?[–-](?P<to>{_DAYS})\b\.?", r"\g<from>._to_\g<to>."),
    rule(
        r"(?<![\w:.])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?![:\d])(?:(?P<gap>\s)?(?P<half>[AaPp])\.?[Mm]\b\.?)?",
        _time,
    ),
    rule(
        r"(?<![\w:.])(?P<hour>\d{1,2})(?P<gap>\s)?(?P<half>[AaPp])\.?[Mm]\b\.?",
        lambda match: f"{match['hour']}{match['gap'] or GLUE}{match['half'].upper()}.M.",
    ),
    rule(r"(?<![\w:.])(?P<from>\d{1,4}):(?P<to>\d)(?![\d:])", r"\g<from>_to_\g<to>"),
    rule(
        rf"(?P<sign>{alternatives(_CURRENCIES)})(?P<number>{_N})(?P<gap>\s)?(?P<scale>hundred|thousand|million|billion|trillion|mn|bn|tn|[kKmMbBT])\b",
        _scaled_money,
    ),
    rule(
        rf"(?P<sign>US\$|A\$|C\$|NZ\$|{alternatives(_CODES)})(?P<gap>\s)?(?P<number>{_N})(?!\w)",
        _foreign_money,
    ),
    rule(
        rf"(?<![\w.])(?P<number>{_N})(?P<gap>\s)?(?P<sign>[$£€¥₹]|{alternatives(_CODES)})(?![\w])",
        _foreign_money,
    ),
    rule(r"(?<![\w./])(?P<whole>\d+) (?P<upper>\d)/(?P<lower>[2-9]|10)(?![\w/])", _mixed),
    rule(
        r"(?<![\w./])(?P<upper>\d{1,2})/(?P<lower>(?:12|16|32|64)(?= ?(?:inch|in\b|of|second|note))|1000?(?![\w/]))",
        _sixteenths,
    ),
    rule(r"(?<=\d/\d)(?:rd|th)s?(?!\w)", ""),
    rule(r"(?<![\w./])9/11(?![\w/])", "9_11"),
    rule(r"(?<![\w./])(?P<from>\d+\.\d+)/(?P<to>\d+)(?![\w/]|\.\d)", r"\g<from>_out_of_\g<to>"),
    rule(r"(?<=, [A-Z][A-Z] )\d{5}(?![\w,]|\.\d)", _digits),
    rule(r"(?<!\S)>(?=\d)", "greater_than_"),
    rule(r"(?<![\w.'])(?P<feet>\d{1,2})['′](?P<inches>\d{1,2})[\"″]?(?!\w)", r"\g<feet>_foot_\g<inches>"),
    rule(rf"(?<![\w.'])(?P<feet>\d+)(?:′|['’](?= (?:{_WAYS})\b))(?!\w)", r"\g<feet>_feet"),
    rule(rf"(?<![\w\"])(?P<inches>{_N})[\"″](?!\w)", _inches),
    rule(
        rf"(?<=\d)(?P<gap> ?)in\.?(?= (?:{_WAYS})\b)|(?<=\d (?:ft|mi) \d)(?P<near> )in\b|(?<=\d (?:ft|mi) \d\d)(?P<far> )in\b",
        _inched,
    ),
    rule(r"(?<=\d )(?P<unit>oz|lbs?|ft|hrs?|mins?|secs?|yd|mi|tbsp|tsp)\.(?= [a-z(])", r"\g<unit>"),
    rule(
        rf"(?<![\w.$£€])(?P<number>-?{_N})(?:(?P<gap>\s)?(?P<unit>{alternatives(_UNITS)})|(?P<apart>\s)(?P<letter>[st]))(?P<power>[²³])?"
        rf"(?:/(?P<per>{alternatives(_PER)})(?P<per_power>[²³])?)?(?![\w'’/²³]|\.\w)",
        _unit,
    ),
    rule(rf"(?P<whole>\d*)(?P<part>[{''.join(_FRACTIONS)}])", _fraction),
    rule(r"(?<![\w./])(?P<part>\d+)/(?P=part)(?![\w/])", r"\g<part>_\g<part>"),
    rule(r"(?<!\S)~(?=\d)", "about_"),
    rule(r"(?<![A-Za-z])(?P<v>[vV])(?P<from>\d+)\.(?P<to>\d+)(?![\w.]*\w)", r"\g<v>_\g<from>_point_\g<to>"),
    rule(r"(?<![\w.])(?P<from>\d+)x(?P<to>\d+)(?!\w)", r"\g<from>_by_\g<to>"),
    rule(
        r"(?:(?<=\d)|(?<=inches)|(?<=feet)|(?<=meters))(?P<before> )x(?P<after> )(?=\d)",
        r"\g<before>by\g<after>",
    ),
    rule(r"(?<=\d)(?P<before> )x(?= [a-z]{2})", r"\g<before>times"),
    rule(r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)[x×](?!\w)", r"\g<number>_times"),
    rule(r"(?<![\w.])(?P<number>\d+(?:\.\d+)?)(?P<scale>k|bn|M)(?!\w)", _scaled),
    rule(r"\d+(?:\.\d+){2,}", _version),
    rule(r"(?<![\w.,$£€¥₹])(?P<whole>)\.(?P<part>\d+)(?![\w.])", _point),
    rule(r"(?<![\w.,$£€¥₹])(?P<whole>\d+(?:,\d{3})*)\.(?P<part>\d*0)(?![\w]|\.\d)", _point),
    rule(r"(?<![\w.,:/-])0\d+(?![\w,:/]|\.\d)", _digits),
)
