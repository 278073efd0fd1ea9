"""Genres: what each brings of tempo, meter, mode, harmony, groove and band where a style says nothing itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from engine.sketch.progressions import (
    BALLAD_MAJOR,
    BLUES_MAJOR,
    BLUES_MINOR,
    BOSSA_MAJOR,
    BOSSA_MINOR,
    CLASSICAL_MAJOR,
    CLASSICAL_MINOR,
    CLUB_MAJOR,
    CLUB_MINOR,
    COUNTRY_MAJOR,
    FOLK_MAJOR,
    FOLK_MINOR,
    FUNK_MAJOR,
    FUNK_MINOR,
    HIP_HOP_MAJOR,
    HIP_HOP_MINOR,
    JAZZ_MAJOR,
    JAZZ_MINOR,
    LULLABY_MAJOR,
    METAL_MINOR,
    ORCHESTRAL_MAJOR,
    POP_MAJOR,
    POP_MINOR,
    REGGAE_MAJOR,
    REGGAE_MINOR,
    ROCK_MAJOR,
    ROCK_MINOR,
    WALTZ_MAJOR,
    Progressions,
)
from engine.sketch.shapes import (
    AABA,
    ARCH,
    CLUB,
    GENTLE,
    LOOPS,
    RIFFS,
    SONG,
    STROPHES,
    TWELVE_BARS,
    TWO_STRAINS,
    Shape,
)
from engine.sketch.vocabulary import INSTRUMENTS, Band, Meter, Mode


@dataclass(frozen=True, slots=True)
class Genre:
    """One genre; tempo in quarter notes a minute, `words` are the tags that name it."""

    name: str
    words: tuple[str, ...]
    tempo_bpm: float
    groove: str
    band: Band
    major: Progressions
    minor: Progressions
    mode: Mode = "major"
    meter: Meter = (4, 4)
    shape: Shape = SONG
    offbeat: float = 0.0  # share of beats that the melody anticipates


def _band(lead: str, comp: str, pad: str = "", bass: str = "", drums: str = "") -> Band:
    optional = [INSTRUMENTS[name] if name else None for name in (pad, bass, drums)]
    return Band(INSTRUMENTS[lead], INSTRUMENTS[comp], *optional)


ROCK_BAND = _band("overdriven guitar", "overdriven guitar", "organ", "finger bass", "standard kit")
POP_BAND = _band("saw lead", "piano", "warm pad", "finger bass", "standard kit")
FOLK_BAND = _band("flute", "steel guitar", "strings", "acoustic bass", "brush kit")
JAZZ_BAND = _band("tenor sax", "piano", "", "acoustic bass", "brush kit")
CLUB_BAND = _band("saw lead", "electric piano", "warm pad", "synth bass", "tr-808")
SOUL_BAND = _band("tenor sax", "electric piano", "organ", "finger bass", "standard kit")
QUIET_BAND = _band("flute", "harp", "strings", "cello")
ORCHESTRA = _band("violin", "harp", "strings", "cello")

# Of two names in one tag the later one is the noun: folk rock is rock. Only a jazz waltz is jazz in three.
GENRES: tuple[Genre, ...] = (
    Genre(
        "pop",
        ("pop", "synth pop", "synthpop", "dance pop", "indie pop", "k pop", "j pop", "indie"),
        108,
        "pop",
        POP_BAND,
        POP_MAJOR,
        POP_MINOR,
    ),
    Genre(
        "folk",
        ("folk", "indie folk", "singer songwriter", "americana", "acoustic", "sea shanty", "campfire"),
        96,
        "folk",
        FOLK_BAND,
        FOLK_MAJOR,
        FOLK_MINOR,
        shape=GENTLE,
    ),
    Genre(
        "celtic",
        ("celtic", "irish", "scottish", "jig", "reel", "medieval"),
        108,
        "folk",
        _band("violin", "steel guitar", "harp", "acoustic bass"),
        FOLK_MAJOR,
        FOLK_MINOR,
        shape=TWO_STRAINS,
    ),
    Genre(
        "rock",
        ("rock", "indie rock", "alternative", "classic rock", "grunge", "rock and roll", "hard rock"),
        124,
        "rock",
        ROCK_BAND,
        ROCK_MAJOR,
        ROCK_MINOR,
        shape=RIFFS,
    ),
    Genre(
        "punk",
        ("punk", "pop punk", "punk rock"),
        168,
        "rock",
        _band("overdriven guitar", "distorted guitar", "", "finger bass", "standard kit"),
        ROCK_MAJOR,
        ROCK_MINOR,
        shape=RIFFS,
    ),
    Genre(
        "metal",
        ("metal", "heavy metal", "death metal", "metalcore"),
        150,
        "metal",
        _band("overdriven guitar", "distorted guitar", "", "finger bass", "standard kit"),
        ROCK_MAJOR,
        METAL_MINOR,
        "minor",
        shape=RIFFS,
    ),
    Genre(
        "ballad",
        ("ballad", "power ballad", "piano ballad", "love song"),
        72,
        "ballad",
        _band("violin", "piano", "strings", "finger bass", "standard kit"),
        BALLAD_MAJOR,
        POP_MINOR,
        shape=GENTLE,
    ),
    Genre(
        "waltz",
        ("waltz", "valse"),
        126,
        "waltz",
        _band("violin", "piano", "strings", "acoustic bass"),
        WALTZ_MAJOR,
        CLASSICAL_MINOR,
        meter=(3, 4),
        shape=TWO_STRAINS,
    ),
    Genre(
        "jazz",
        ("jazz", "swing", "big band", "bebop", "smooth jazz"),
        126,
        "swing",
        JAZZ_BAND,
        JAZZ_MAJOR,
        JAZZ_MINOR,
        shape=AABA,
        offbeat=0.5,
    ),
    Genre(
        "blues",
        ("blues", "delta blues", "twelve bar blues", "12 bar blues"),
        92,
        "shuffle",
        _band("overdriven guitar", "piano", "organ", "finger bass", "standard kit"),
        BLUES_MAJOR,
        BLUES_MINOR,
        shape=TWELVE_BARS,
    ),
    Genre(
        "bossa nova",
        ("bossa nova", "bossa", "samba", "mpb"),
        120,
        "bossa",
        _band("flute", "nylon guitar", "", "acoustic bass", "brush kit"),
        BOSSA_MAJOR,
        BOSSA_MINOR,
        shape=AABA,
        offbeat=0.7,
    ),
    Genre(
        "latin",
        ("latin", "salsa", "tango", "cumbia", "bolero", "reggaeton", "flamenco"),
        104,
        "latin",
        _band("trumpet", "nylon guitar", "", "acoustic bass", "standard kit"),
        CLASSICAL_MAJOR,
        CLASSICAL_MINOR,
        "minor",
        offbeat=0.5,
    ),
    Genre(
        "reggae",
        ("reggae", "ska", "dub", "dancehall"),
        78,
        "reggae",
        _band("trumpet", "organ", "", "finger bass", "standard kit"),
        REGGAE_MAJOR,
        REGGAE_MINOR,
        offbeat=0.5,
    ),
    Genre(
        "country",
        ("country", "bluegrass", "western", "honky tonk"),
        112,
        "train",
        _band("violin", "steel guitar", "", "finger bass", "standard kit"),
        COUNTRY_MAJOR,
        FOLK_MINOR,
        shape=GENTLE,
    ),
    Genre(
        "hip hop",
        ("hip hop", "rap", "trap", "lofi", "lo fi", "boom bap", "drill"),
        88,
        "hip hop",
        _band("vibraphone", "electric piano", "warm pad", "synth bass", "tr-808"),
        HIP_HOP_MAJOR,
        HIP_HOP_MINOR,
        "minor",
        shape=LOOPS,
        offbeat=0.4,
    ),
    Genre(
        "soul",
        ("soul", "r&b", "rnb", "gospel", "motown", "neo soul"),
        84,
        "ballad",
        SOUL_BAND,
        FUNK_MAJOR,
        FUNK_MINOR,
        shape=GENTLE,
        offbeat=0.4,
    ),
    Genre(
        "funk",
        ("funk", "disco", "funky", "groove"),
        112,
        "funk",
        _band("brass", "electric piano", "strings", "finger bass", "standard kit"),
        FUNK_MAJOR,
        FUNK_MINOR,
        offbeat=0.6,
    ),
    Genre(
        "electronic",
        (
            "electronic",
            "edm",
            "house",
            "techno",
            "trance",
            "dance",
            "synthwave",
            "electro",
            "drum and bass",
            "dubstep",
            "club",
        ),
        124,
        "four on the floor",
        CLUB_BAND,
        CLUB_MAJOR,
        CLUB_MINOR,
        "minor",
        shape=CLUB,
        offbeat=0.3,
    ),
    Genre(
        "ambient",
        ("ambient", "new age", "meditation", "drone", "chillout", "atmospheric"),
        68,
        "sustained",
        _band("vibraphone", "electric piano", "warm pad", "synth bass"),
        POP_MAJOR,
        POP_MINOR,
        shape=ARCH,
    ),
    Genre(
        "orchestral",
        (
            "orchestral",
            "classical",
            "cinematic",
            "symphonic",
            "epic",
            "soundtrack",
            "film score",
            "baroque",
            "opera",
        ),
        84,
        "sustained",
        ORCHESTRA,
        ORCHESTRAL_MAJOR,
        CLASSICAL_MINOR,
        shape=ARCH,
    ),
    Genre(
        "hymn",
        ("hymn", "choral", "church", "christmas", "carol", "worship", "a cappella"),
        84,
        "sustained",
        _band("choir", "organ", "choir", "cello"),
        CLASSICAL_MAJOR,
        CLASSICAL_MINOR,
        shape=STROPHES,
    ),
    Genre(
        "march",
        ("march", "anthem", "military", "marching band"),
        112,
        "march",
        _band("trumpet", "brass", "", "finger bass", "standard kit"),
        CLASSICAL_MAJOR,
        CLASSICAL_MINOR,
        shape=TWO_STRAINS,
    ),
    Genre(
        "lullaby",
        ("lullaby", "cradle song", "nursery rhyme", "bedtime"),
        72,
        "fingerpicking",
        QUIET_BAND,
        LULLABY_MAJOR,
        FOLK_MINOR,
        meter=(3, 4),
        shape=TWO_STRAINS,
    ),
)
GENRE_BY_NAME: Mapping[str, Genre] = MappingProxyType({genre.name: genre for genre in GENRES})
# How much louder the lead has to play so that it stands some 1 LU above the genre's own band, as measured on composed
# songs: bands differ in how many play and how densely.
LEAD_DB: Mapping[str, float] = MappingProxyType(
    {
        "pop": 3.5,
        "folk": -0.5,
        "celtic": -1.5,
        "rock": 5.0,
        "punk": 2.0,
        "metal": 4.0,
        "ballad": -5.5,
        "waltz": -5.0,
        "jazz": -0.5,
        "bossa nova": 1.5,
        "reggae": -1.0,
        "country": 1.5,
        "hip hop": 3.5,
        "soul": -1.5,
        "funk": 4.0,
        "electronic": 3.5,
        "ambient": -3.0,
        "orchestral": 1.5,
        "hymn": 2.5,
        "lullaby": 2.5,
    }
)
