"""Words people use in a style, and what they mean: instruments of the sound bank, moods, meters, voices, tempi.

Aliases are written as a tag reads once it is in lower case and its hyphens and underscores are spaces.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Role = Literal["lead", "comp", "pad", "bass", "drums"]
Mode = Literal["major", "minor"]
Register = Literal["low", "middle", "high"]
Meter = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Instrument:
    """A preset of the sound bank; `bank` 128 holds drum kits. `role` is its usual place in a band."""

    name: str
    bank: int
    program: int
    role: Role


@dataclass(frozen=True, slots=True)
class Band:
    """Who plays: the melody's instrument, the chords', a sustained background, the bass, the drums."""

    lead: Instrument
    comp: Instrument
    pad: Instrument | None = None
    bass: Instrument | None = None
    drums: Instrument | None = None


PRESETS: tuple[tuple[str, int, int, Role], ...] = (
    ("piano", 0, 0, "comp"),
    ("electric piano", 0, 4, "comp"),
    ("vibraphone", 0, 11, "lead"),
    ("organ", 0, 19, "comp"),
    ("nylon guitar", 0, 24, "comp"),
    ("steel guitar", 0, 25, "comp"),
    ("overdriven guitar", 0, 29, "comp"),
    ("distorted guitar", 0, 30, "comp"),
    ("acoustic bass", 0, 32, "bass"),
    ("finger bass", 0, 33, "bass"),
    ("synth bass", 0, 38, "bass"),
    ("violin", 0, 40, "lead"),
    ("cello", 0, 42, "lead"),
    ("harp", 0, 46, "comp"),
    ("strings", 0, 48, "pad"),
    ("choir", 0, 52, "pad"),
    ("trumpet", 0, 56, "lead"),
    ("brass", 0, 61, "lead"),
    ("tenor sax", 0, 66, "lead"),
    ("clarinet", 0, 71, "lead"),
    ("flute", 0, 73, "lead"),
    ("saw lead", 0, 81, "lead"),
    ("warm pad", 0, 89, "pad"),
    ("standard kit", 128, 0, "drums"),
    ("tr-808", 128, 25, "drums"),
    ("brush kit", 128, 40, "drums"),
)
INSTRUMENTS: Mapping[str, Instrument] = MappingProxyType(
    {preset[0]: Instrument(*preset) for preset in PRESETS}
)

LOWEST_KEYS: Mapping[str, int] = MappingProxyType(  # of instruments that may have to lead a low voice
    {
        "vibraphone": 53,
        "violin": 55,
        "choir": 48,
        "trumpet": 55,
        "tenor sax": 44,
        "clarinet": 50,
        "flute": 60,
        "warm pad": 48,
    }
)

INSTRUMENT_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "piano": ("piano", "grand piano", "upright piano", "pianos", "keys", "keyboard"),
        "electric piano": ("electric piano", "rhodes", "wurlitzer", "e piano", "fender rhodes"),
        "vibraphone": (
            "vibraphone",
            "vibes",
            "marimba",
            "xylophone",
            "glockenspiel",
            "music box",
            "bells",
            "celesta",
        ),
        "organ": (
            "organ",
            "hammond",
            "hammond organ",
            "church organ",
            "pipe organ",
            "accordion",
            "harmonium",
        ),
        "nylon guitar": (
            "nylon guitar",
            "classical guitar",
            "spanish guitar",
            "nylon string guitar",
            "ukulele",
            "flamenco guitar",
        ),
        "steel guitar": (
            "steel guitar",
            "acoustic guitar",
            "acoustic guitars",
            "guitar",
            "guitars",
            "banjo",
            "mandolin",
            "fingerpicked guitar",
            "strummed guitar",
            "12 string guitar",
            "slide guitar",
        ),
        "overdriven guitar": (
            "overdriven guitar",
            "electric guitar",
            "electric guitars",
            "crunchy guitar",
            "crunch guitar",
        ),
        "distorted guitar": (
            "distorted guitar",
            "distorted guitars",
            "heavy guitar",
            "heavy guitars",
            "distortion",
            "fuzz guitar",
            "guitar riffs",
            "power chords",
        ),
        "acoustic bass": (
            "acoustic bass",
            "upright bass",
            "double bass",
            "contrabass",
            "walking bass",
            "standup bass",
        ),
        "finger bass": ("finger bass", "bass", "bass guitar", "electric bass", "slap bass", "fretless bass"),
        "synth bass": ("synth bass", "808 bass", "sub bass", "wobble bass", "moog bass", "reese bass"),
        "violin": ("violin", "fiddle", "viola", "solo violin"),
        "cello": ("cello", "cellos", "solo cello"),
        "harp": ("harp", "lyre", "kora", "koto"),
        "strings": (
            "strings",
            "string section",
            "string quartet",
            "orchestra",
            "violins",
            "orchestral strings",
        ),
        "choir": ("choir", "choral", "backing vocals", "background vocals", "choirs", "gospel choir"),
        "trumpet": ("trumpet", "muted trumpet", "flugelhorn", "cornet"),
        "brass": ("brass", "horns", "horn section", "trombone", "french horn", "brass section", "tuba"),
        "tenor sax": ("tenor sax", "sax", "saxophone", "alto sax", "saxophones"),
        "clarinet": ("clarinet", "oboe", "bassoon", "woodwinds"),
        "flute": ("flute", "tin whistle", "whistle", "recorder", "pan flute", "piccolo", "harmonica"),
        "saw lead": (
            "saw lead",
            "synth lead",
            "lead synth",
            "synth",
            "synths",
            "synthesizer",
            "synthesizers",
            "supersaw",
            "arpeggiator",
        ),
        "warm pad": ("warm pad", "pad", "pads", "synth pad", "synth pads", "ambient pads", "drone"),
        "standard kit": (
            "drums",
            "drum kit",
            "acoustic drums",
            "percussion",
            "live drums",
            "drum",
            "hand drums",
            "bongos",
        ),
        "tr-808": (
            "808",
            "tr 808",
            "808s",
            "drum machine",
            "electronic drums",
            "808 drums",
            "trap drums",
            "909",
        ),
        "brush kit": ("brush kit", "brushes", "brushed drums", "brush drums", "brushed snare"),
    }
)

GENERIC_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "guitar": "guitar",
        "guitars": "guitar",
        "bass": "bass",
        "drums": "drums",
        "drum": "drums",
        "percussion": "drums",
    }
)

METER_WORDS: Mapping[str, Meter] = MappingProxyType(
    {
        "waltz": (3, 4),
        "valse": (3, 4),
        "waltzing": (3, 4),
        "minuet": (3, 4),
        "mazurka": (3, 4),
        "triple meter": (3, 4),
        "triple time": (3, 4),
        "jig": (6, 8),
        "tarantella": (6, 8),
        "barcarolle": (6, 8),
        "sea shanty": (6, 8),
        "common time": (4, 4),
        "cut time": (2, 2),
        "polka": (2, 4),
    }
)
METERS: frozenset[Meter] = frozenset(
    {(2, 2), (2, 4), (3, 4), (4, 4), (5, 4), (6, 4), (7, 4), (3, 8), (5, 8), (6, 8), (7, 8), (9, 8), (12, 8)}
)

TEMPO_FACTORS: Mapping[str, float] = MappingProxyType(
    {
        "very slow": 0.65,
        "slow": 0.78,
        "slow tempo": 0.78,
        "slowly": 0.78,
        "relaxed": 0.88,
        "laid back": 0.88,
        "downtempo": 0.8,
        "calm": 0.88,
        "medium tempo": 1.0,
        "mid tempo": 1.0,
        "midtempo": 1.0,
        "moderate": 1.0,
        "upbeat": 1.12,
        "lively": 1.15,
        "driving": 1.12,
        "energetic": 1.15,
        "uptempo": 1.22,
        "up tempo": 1.22,
        "fast": 1.3,
        "fast tempo": 1.3,
        "very fast": 1.5,
    }
)
MOODS: Mapping[str, tuple[Mode, tuple[str, ...]]] = MappingProxyType(
    {
        "happy": (
            "major",
            ("happy", "joyful", "cheerful", "joyous", "sunny", "playful", "fun", "carefree", "festive"),
        ),
        "uplifting": (
            "major",
            ("uplifting", "hopeful", "bright", "triumphant", "inspiring", "optimistic", "anthemic"),
        ),
        "tender": (
            "major",
            ("tender", "romantic", "warm", "sweet", "gentle", "loving", "intimate", "peaceful", "soothing"),
        ),
        "sad": (
            "minor",
            ("sad", "sorrowful", "heartbroken", "tragic", "mournful", "tearful", "lonely", "grief"),
        ),
        "melancholic": (
            "minor",
            ("melancholic", "melancholy", "wistful", "bittersweet", "moody", "longing", "somber"),
        ),
        "dark": (
            "minor",
            (
                "dark",
                "gloomy",
                "haunting",
                "ominous",
                "eerie",
                "sinister",
                "brooding",
                "mysterious",
                "gothic",
            ),
        ),
        "angry": (
            "minor",
            ("angry", "aggressive", "furious", "rage", "intense", "brutal", "dramatic", "tense"),
        ),
    }
)

REGISTER_WORDS: Mapping[Register, tuple[str, ...]] = MappingProxyType(
    {
        "low": (
            "male",
            "male vocal",
            "male vocals",
            "male voice",
            "man",
            "baritone",
            "bass voice",
            "tenor",
            "deep voice",
            "male singer",
            "low voice",
        ),
        "high": ("soprano", "high voice", "child voice", "children", "kids", "falsetto", "child"),
        "middle": (
            "female",
            "female vocal",
            "female vocals",
            "female voice",
            "woman",
            "alto",
            "mezzo",
            "female singer",
        ),
    }
)
INSTRUMENTAL_WORDS = (
    "instrumental",
    "no vocals",
    "no vocal",
    "without vocals",
    "no singing",
    "instrumental only",
)
WITHOUT = ("no ", "without ")
