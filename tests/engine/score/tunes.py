"""Tunes for the tests, and what they sound like in short form."""

from pathlib import Path

from hypothesis import strategies as st

from engine.errors import ScoreError
from engine.score import Bar, Score, parse, timeline

EXAMPLE = Path(__file__).parents[2] / "data" / "scores" / "em-120.abc"


def tune(body: str, *, meter: str = "4/4", unit: str = "1/8", tempo: str = "1/4=120", key: str = "C") -> str:
    """The text of a tune with one voice."""
    return f"X:1\nT:t\nM:{meter}\nL:{unit}\nQ:{tempo}\nK:{key}\n{body}\n"


def bars_of(body: str, **header: str) -> tuple[Bar, ...]:
    """The bars of the only voice of a tune."""
    return parse(tune(body, **header)).voices[0].bars


def midis(body: str, **header: str) -> list[int]:
    """The lowest pitch of each note as written, -1 for a rest."""
    return [
        min((pitch.midi for pitch in note.pitches), default=-1)
        for bar in bars_of(body, **header)
        for note in bar.notes
    ]


def lengths(body: str, **header: str) -> list[str]:
    """The length of each note as a fraction of a whole note."""
    return [str(note.duration) for bar in bars_of(body, **header) for note in bar.notes]


def heard(score: Score) -> list[tuple[int, float, float]]:
    """Pitch, start and end of each sounding note, in seconds to the millisecond."""
    return sorted((note.midi, round(note.start, 3), round(note.end, 3)) for note in timeline(score).notes)


def read(text: str) -> Score | ScoreError:
    """The score of a text, or the fault found in it."""
    try:
        return parse(text)
    except ScoreError as fault:
        return fault


PIECES = (
    *(
        "C",
        "c'",
        "^D",
        "_e",
        "=f",
        "G,",
        "^^c",
        "__d",
        "z",
        "x",
        "Z",
        "Z3",
        "X2",
        "C8",
        "x8",
        "z4|",
        "CDEF|",
        "[CEG]2",
        "[C-E]",
    ),
    *(
        "|",
        "||",
        "|]",
        "[|",
        "|:",
        ":|",
        "::",
        ":||:",
        "|1",
        "|2",
        "[1",
        "[2",
        "[1,3",
        ":|2",
        "(3abc",
        "(3:2:2",
        "(5",
        "G>A",
        ">>",
    ),
    *(
        ">",
        "<",
        "-",
        "[",
        "]",
        "{gc}",
        "{",
        "}",
        '"Am7/G"',
        '"^x"',
        '"N.C."',
        '"',
        "!trill!",
        "!",
        "+x+",
        "~",
        ".",
        "y",
        "&",
    ),
    *(
        "2",
        "/",
        "//",
        "3/2",
        "/4",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\\\n",
        "%c\n",
        "% verse\n",
        "\nw: a b-c _ * | d~e\n",
        "\n+: f\n",
    ),
    *(
        "[K:Em]",
        "[M:3/4]",
        "[M:none]",
        "[L:1/16]",
        "[Q:90]",
        "[V:1]",
        "[V:2]",
        "[V:2 transpose=3]",
        "[K:none octave=1]",
        "[r:x]",
    ),
    *(
        '\nV:1 clef=bass-8 name="q"\n',
        "\nV: Ins\n",
        "\nV: Vocal\n",
        "\nK:D exp =c\n",
        "\nM:2+3/8\n",
        "\nP:B\n",
        "\n\n",
        "\nX:2\n",
    ),
    *(
        "C99999999/1",
        "Z999999999",
        "''",
        "7",
        "w:",
        "\nW: words\n",
        "$",
        "`",
        "(",
        ")",
        ".(",
        "é",
        "\x00",
        "[K:",
        "[1--2",
        "|1-",
    ),
)
HEADERS = (
    "",
    "X:1\nK:C\n",
    "X:1\nT:t\nM:6/8\nL:1/16\nQ:1/4=90.3\nK:Bbm\n",
    "M:C|\nK:HP\n",
    "X:1\nT:\nM:4/4\nL:1/32\nQ:1/4=120\nV: Vocal clef=treble\nV: Ins\nK:Em\n",
    "K:G clef=bass transpose=-2\n",
    "X:1\nV:1\nV:1&2\nK:D\n",
)
abc_texts = st.builds(
    lambda head, body: head + "".join(body),
    st.sampled_from(HEADERS),
    st.lists(st.sampled_from(PIECES), max_size=40),
)
