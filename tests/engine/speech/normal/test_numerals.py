"""Numbers in all their dress."""

import pytest

from engine.speech.normal.numerals import NUMERALS
from engine.speech.normal.rule import applied

SAID = {
    "at 7:30 pm": "at seven thirty P.M.",
    "at 07:05": "at seven oh five",
    "at 12:00 or 17:00": "at twelve o'clock or seventeen hundred",
    "at 99:99": "at 99:99",
    "9am-5pm": "9 A.M. to 5 P.M.",
    "9:00 - 17:30": "nine o'clock to seventeen thirty",
    "a 10:1 ratio": "a 10 to 1 ratio",
    "Mon-Fri": "Mon. to Fri.",
    "2024/3/5": "2024-03-05",
    "$5 million, £3.2bn, $10k": "5 million dollars, 3.2 billion pounds, 10 thousand dollars",
    "US$5, 5€, 100 USD, 1 EUR": "5 US dollars, 5 euros, 100 US dollars, 1 euro",
    "$9.99": "$9.99",
    "5 km, 1 kg, 3 m": "5 kilometers, 1 kilogram, 3 meters",
    "10 kg/m³, 5 m/s, 60 km/h": "10 kilograms per cubic meter, 5 meters per second, 60 kilometers per hour",
    "5 m², 10 ft": "5 square meters, 10 feet",
    "the 1990s, 4 s": "the 1990s, 4 seconds",
    "5km": "5 kilometers",
    "2 tsp": "2 teaspoons",
    "a 5 m's": "a 5 m's",
    "2 1/2 cups, 3 1/4": "2 and a half cups, 3 and a quarter",
    "3/16 inch": "3 sixteenths inch",
    "5'10\" tall": "5 foot 10 tall",
    "1920x1080, 2 x 4, 10x faster": "1920 by 1080, 2 by 4, 10 times faster",
    "10k, 3M, 5K": "10 thousand, 3 million, 5K",
    "v2.0.1": "v2 point 0 point 1",
    ".75, 1.0, 3.14": "point 7 5, 1 point 0, 3.14",
    "007": "0 0 7",
    "1234567890123456": "1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6",
    "1,000,000": "1,000,000",
    "1 000 000 or 10 000": "1,000,000 or 10,000",
    "2½ or ½ or ⅛": "2 and a half or one half or one eighth",
    "-$5, $-5": "minus $5, minus $5",
    "$3/month, 20/hr, 5/months": "$3 per month, 20 per hour, 5/months",
    "2h 15m or 1h05m": "2 hours 15 minutes or 1 hour 5 minutes",
    "in 9.58s or 5s, his 30s": "in 9.58 seconds or 5 seconds, his 30s",
    "10.30pm, 7.05 am": "ten thirty P.M., seven oh five A.M.",
    "½cup ½½": "one half cup one half one half",
    "50/50 and 1st–3rd": "50 50 and 1st to 3rd",
    "the ’90s": "the 90s",
    "~5 in v1.2": "about 5 in v 1 point 2",
    "6'2 tall": "6 foot 2 tall",
    "6' tall, the 6' man": "6 feet tall, the 6' man",
    'a 10" pizza, 1" or 8" x 10"': "a 10 inch pizza, 1 inch or 8 inches by 10 inches",
    'he said "at 10" and': 'he said "at 10" and',
    "5 ft 10 in and 4 in. long, 3 in 4": "5 feet 10 inches and 4 inches long, 3 in 4",
    "a 12 oz. can, 12 oz. The": "a 12 oz can, 12 oz. The",
    "1/100, 3/1000, 1/12": "1 hundredth, 3 thousandths, 1/12",
    "2/3rds on 9/11": "2/3 on 9 11",
    "4.5/5 stars": "4.5 out of 5 stars",
    "New York, NY 10001": "New York, NY 1 0 0 0 1",
    ">5% and 10 x faster": "greater than 5% and 10 times faster",
    "8 a.m.-5 p.m., 8am-noon, Mon.-Fri.": "8 A.M. to 5 P.M., 8 A.M. to noon, Mon. to Fri.",
}


@pytest.mark.parametrize(("written", "expected"), SAID.items(), ids=SAID)
def test_what_is_said(written: str, expected: str) -> None:
    line = applied(NUMERALS, written)
    assert line.count(" ") == written.count(" ")
    assert " ".join(line.split()) == expected
