"""Genres: what each brings of tempo, meter, mode, harmony, groove and band where a style says nothing itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from engine.sketch.vocabulary import INSTRUMENTS, Band, Meter, Mode


@dataclass(frozen=True, slots=True)
class Progressions:
    """Choices of harmony by kind of section, as Roman numerals with one chord a bar; lower case is minor."""

    verse: tuple[str, ...]
    chorus: tuple[str, ...]
    bridge: tuple[str, ...]


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


POP_MAJOR = Progressions(
    verse=("I V vi IV", "I vi IV V", "vi IV I V", "I IV vi V"),
    chorus=("IV V I vi", "I V vi IV", "IV I V vi"),
    bridge=("vi IV I V", "ii IV vi V"),
)
POP_MINOR = Progressions(
    verse=("i VI III VII", "i iv VI V", "i VII VI VII"),
    chorus=("VI VII i i", "VI III VII i", "iv VI i VII"),
    bridge=("iv i VI V", "VI III iv V"),
)
FOLK_MAJOR = Progressions(
    verse=("I IV I V", "I V vi IV", "I iii IV V", "I I IV V"),
    chorus=("IV I V I", "IV I V vi", "vi IV I V"),
    bridge=("vi iii IV V", "ii vi IV V"),
)
FOLK_MINOR = Progressions(
    verse=("i VII i v", "i VI VII i", "i iv i V"),
    chorus=("III VII i V", "VI VII i i", "iv i VII i"),
    bridge=("VI III VII V", "iv VII III V"),
)
ROCK_MAJOR = Progressions(
    verse=("I bVII IV I", "I IV V IV", "I V IV IV"),
    chorus=("IV V I I", "I V bVII IV", "I V vi IV"),
    bridge=("vi V IV V", "bVII IV I V"),
)
ROCK_MINOR = Progressions(
    verse=("i VII VI VII", "i III VII iv", "i i VI VII"),
    chorus=("VI VII i i", "i VI III VII", "III VII iv i"),
    bridge=("iv VI VII V", "VI VI VII V"),
)
JAZZ_MAJOR = Progressions(
    verse=("Imaj7 vi7 ii7 V7", "ii7 V7 Imaj7 vi7", "Imaj7 IV7 iii7 VI7 ii7 V7 Imaj7 V7"),
    chorus=("IVmaj7 iii7 ii7 V7", "ii7 V7 iii7 vi7", "Imaj7 iii7 IVmaj7 V7"),
    bridge=("iii7 vi7 ii7 V7", "IVmaj7 iv6 iii7 V7"),
)
JAZZ_MINOR = Progressions(
    verse=("i7 iv7 iiø V7", "i7 VImaj7 iiø V7", "iiø V7 i7 i7"),
    chorus=("iv7 VII7 IIImaj7 V7", "VImaj7 iiø V7 i7"),
    bridge=("iv7 i7 iiø V7", "IIImaj7 VImaj7 iiø V7"),
)
BLUES_MAJOR = Progressions(
    verse=("I7 I7 I7 I7 IV7 IV7 I7 I7 V7 IV7 I7 V7", "I7 IV7 I7 I7 IV7 IV7 I7 I7 V7 IV7 I7 V7"),
    chorus=("I7 IV7 I7 I7 IV7 IV7 I7 I7 V7 IV7 I7 V7",),
    bridge=("IV7 IV7 I7 I7 IV7 IV7 V7 V7",),
)
BLUES_MINOR = Progressions(
    verse=("i7 i7 i7 i7 iv7 iv7 i7 i7 V7 iv7 i7 V7",),
    chorus=("i7 iv7 i7 i7 iv7 iv7 i7 i7 V7 iv7 i7 V7",),
    bridge=("iv7 iv7 i7 i7 iv7 iv7 V7 V7",),
)
CLASSICAL_MAJOR = Progressions(
    verse=("I V vi iii IV I IV V", "I IV V I", "I ii V I"),
    chorus=("IV V iii vi ii V I V", "I V vi IV"),
    bridge=("vi ii V I", "vi iii IV V"),
)
CLASSICAL_MINOR = Progressions(
    verse=("i iv V i", "i VI iv V", "i V VI III iv i iv V"),
    chorus=("VI III iv V", "VI VII III V"),
    bridge=("iv VII III VI", "VI iv i V"),
)
FUNK_MAJOR = Progressions(
    verse=("I7 I7 IV7 IV7", "ii7 V7 ii7 V7", "I7 bVII IV7 I7"),
    chorus=("IVmaj7 iii7 vi7 V7", "IV7 V7 I7 I7"),
    bridge=("vi7 ii7 IVmaj7 V7",),
)
FUNK_MINOR = Progressions(
    verse=("i7 iv7 i7 iv7", "i7 VII VImaj7 VII"),
    chorus=("VImaj7 v7 i7 i7", "iv7 VII7 i7 i7"),
    bridge=("iv7 i7 VImaj7 V7",),
)


def _band(lead: str, comp: str, pad: str = "", bass: str = "", drums: str = "") -> Band:
    optional = [INSTRUMENTS[name] if name else None for name in (pad, bass, drums)]
    return Band(INSTRUMENTS[lead], INSTRUMENTS[comp], *optional)


ROCK_BAND = _band("overdriven guitar", "overdriven guitar", "organ", "finger bass", "standard kit")
POP_BAND = _band("saw lead", "piano", "warm pad", "finger bass", "standard kit")
FOLK_BAND = _band("flute", "steel guitar", "strings", "acoustic bass", "brush kit")
JAZZ_BAND = _band("tenor sax", "piano", "", "acoustic bass", "brush kit")
CLUB_BAND = _band("saw lead", "electric piano", "warm pad", "synth bass", "tr-808")
SOUL_BAND = _band("tenor sax", "electric piano", "organ", "finger bass", "standard kit")
QUIET_BAND = _band("flute", "harp", "strings")
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
    ),
    Genre(
        "celtic",
        ("celtic", "irish", "scottish", "jig", "reel", "medieval"),
        108,
        "folk",
        _band("violin", "steel guitar", "harp", "acoustic bass"),
        FOLK_MAJOR,
        FOLK_MINOR,
    ),
    Genre(
        "rock",
        ("rock", "indie rock", "alternative", "classic rock", "grunge", "rock and roll", "hard rock"),
        124,
        "rock",
        ROCK_BAND,
        ROCK_MAJOR,
        ROCK_MINOR,
    ),
    Genre(
        "punk",
        ("punk", "pop punk", "punk rock"),
        168,
        "rock",
        _band("overdriven guitar", "distorted guitar", "", "finger bass", "standard kit"),
        ROCK_MAJOR,
        ROCK_MINOR,
    ),
    Genre(
        "metal",
        ("metal", "heavy metal", "death metal", "metalcore"),
        150,
        "metal",
        _band("overdriven guitar", "distorted guitar", "", "finger bass", "standard kit"),
        ROCK_MAJOR,
        ROCK_MINOR,
        "minor",
    ),
    Genre(
        "ballad",
        ("ballad", "power ballad", "piano ballad", "love song"),
        72,
        "ballad",
        _band("violin", "piano", "strings", "finger bass", "standard kit"),
        POP_MAJOR,
        POP_MINOR,
    ),
    Genre(
        "waltz",
        ("waltz", "valse"),
        126,
        "ballad",
        _band("violin", "piano", "strings", "acoustic bass"),
        CLASSICAL_MAJOR,
        CLASSICAL_MINOR,
        meter=(3, 4),
    ),
    Genre(
        "jazz",
        ("jazz", "swing", "big band", "bebop", "smooth jazz"),
        126,
        "swing",
        JAZZ_BAND,
        JAZZ_MAJOR,
        JAZZ_MINOR,
    ),
    Genre(
        "blues",
        ("blues", "delta blues", "twelve bar blues", "12 bar blues"),
        92,
        "shuffle",
        _band("overdriven guitar", "piano", "organ", "finger bass", "standard kit"),
        BLUES_MAJOR,
        BLUES_MINOR,
    ),
    Genre(
        "bossa nova",
        ("bossa nova", "bossa", "samba", "mpb"),
        120,
        "bossa",
        _band("flute", "nylon guitar", "", "acoustic bass", "brush kit"),
        JAZZ_MAJOR,
        JAZZ_MINOR,
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
    ),
    Genre(
        "reggae",
        ("reggae", "ska", "dub", "dancehall"),
        78,
        "reggae",
        _band("trumpet", "organ", "", "finger bass", "standard kit"),
        FOLK_MAJOR,
        FOLK_MINOR,
    ),
    Genre(
        "country",
        ("country", "bluegrass", "western", "honky tonk"),
        112,
        "train",
        _band("violin", "steel guitar", "", "finger bass", "standard kit"),
        FOLK_MAJOR,
        FOLK_MINOR,
    ),
    Genre(
        "hip hop",
        ("hip hop", "rap", "trap", "lofi", "lo fi", "boom bap", "drill"),
        88,
        "hip hop",
        _band("vibraphone", "electric piano", "warm pad", "synth bass", "tr-808"),
        FUNK_MAJOR,
        FUNK_MINOR,
        "minor",
    ),
    Genre(
        "soul",
        ("soul", "r&b", "rnb", "gospel", "motown", "neo soul"),
        84,
        "ballad",
        SOUL_BAND,
        FUNK_MAJOR,
        FUNK_MINOR,
    ),
    Genre(
        "funk",
        ("funk", "disco", "funky", "groove"),
        112,
        "funk",
        _band("brass", "electric piano", "strings", "finger bass", "standard kit"),
        FUNK_MAJOR,
        FUNK_MINOR,
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
        POP_MAJOR,
        POP_MINOR,
        "minor",
    ),
    Genre(
        "ambient",
        ("ambient", "new age", "meditation", "drone", "chillout", "atmospheric"),
        68,
        "sustained",
        _band("vibraphone", "electric piano", "warm pad", "synth bass"),
        POP_MAJOR,
        POP_MINOR,
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
        CLASSICAL_MAJOR,
        CLASSICAL_MINOR,
    ),
    Genre(
        "hymn",
        ("hymn", "choral", "church", "christmas", "carol", "worship", "a cappella"),
        84,
        "sustained",
        _band("choir", "organ", "choir", "cello"),
        CLASSICAL_MAJOR,
        CLASSICAL_MINOR,
    ),
    Genre(
        "march",
        ("march", "anthem", "military", "marching band"),
        112,
        "march",
        _band("trumpet", "brass", "", "finger bass", "standard kit"),
        CLASSICAL_MAJOR,
        CLASSICAL_MINOR,
    ),
    Genre(
        "lullaby",
        ("lullaby", "cradle song", "nursery rhyme", "bedtime"),
        72,
        "fingerpicking",
        QUIET_BAND,
        FOLK_MAJOR,
        FOLK_MINOR,
        meter=(3, 4),
    ),
)
GENRE_BY_NAME: Mapping[str, Genre] = MappingProxyType({genre.name: genre for genre in GENRES})
# How much louder the lead has to play so that it stands some 1 LU above the genre's own band, as measured on composed
# songs: bands differ in how many play and how densely.
LEAD_DB: Mapping[str, float] = MappingProxyType(
    {
        "pop": 1.5,
        "folk": -1.0,
        "celtic": -4.0,
        "rock": 1.5,
        "punk": 2.0,
        "metal": 3.0,
        "ballad": -4.5,
        "waltz": -6.0,
        "jazz": -3.5,
        "blues": 1.0,
        "latin": -1.5,
        "reggae": -3.0,
        "country": -1.0,
        "hip hop": 3.5,
        "soul": -3.0,
        "funk": 1.0,
        "electronic": 1.5,
        "orchestral": -1.5,
        "hymn": 1.0,
        "march": -0.5,
        "lullaby": -8.5,
    }
)
