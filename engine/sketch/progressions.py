"""Harmony by genre and mode, as Roman numerals that `harmony` reads."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progressions:
    """Choices of harmony by kind of section, as Roman numerals with one chord a bar; lower case is minor."""

    verse: tuple[str, ...]
    chorus: tuple[str, ...]
    bridge: tuple[str, ...]


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
BALLAD_MAJOR = Progressions(
    verse=("I iii IV V", "I V vi iii IV I ii7 V", "Imaj7 vi7 ii7 V"),
    chorus=("IV V iii vi ii7 V I I", "I V vi IV", "IV iv I V"),
    bridge=("vi iii IV V", "ii7 iii IV V"),
)
WALTZ_MAJOR = Progressions(
    verse=("I I V7 V7 V7 V7 I I", "I vi ii7 V7", "I I IV V7"),
    chorus=("IV IV I I V7 V7 I I", "IV I V7 I"),
    bridge=("vi ii7 V7 I", "II7 II7 V7 V7"),
)
BOSSA_MAJOR = Progressions(
    verse=("Imaj9 Imaj9 II9 II9 ii9 bII7 Imaj9 bII7", "Imaj9 vi9 ii9 V9", "ii9 V9 Imaj9 VI7"),
    chorus=("IVmaj7 iv6 iii7 VI7 ii9 V9 Imaj9 Imaj9", "IVmaj9 iv6 Imaj9 VI9"),
    bridge=("iv6 bVII9 iii7 VI7", "IVmaj9 iv6 iii7 VI9 ii9 II9 ii9 V9"),
)
BOSSA_MINOR = Progressions(
    verse=("i9 i9 iiø V7 i9 i9 iiø V7", "i9 iv9 bII7 i9", "i6 i6 iv9 V7"),
    chorus=("iv9 VII9 IIImaj7 VImaj7 iiø V7 i9 i9", "VImaj7 V7 i9 i9"),
    bridge=("iv9 VII9 IIImaj9 VImaj7", "VImaj9 IIImaj9 iiø V7"),
)
REGGAE_MAJOR = Progressions(
    verse=("I ii I ii", "I IV I IV", "I I IV V"),
    chorus=("I V vi IV", "IV V I I", "I IV V IV"),
    bridge=("vi ii vi ii", "vi IV ii V"),
)
REGGAE_MINOR = Progressions(
    verse=("i iv i iv", "i VII i VII", "i v i v"),
    chorus=("VI VII i i", "i VII VI VII"),
    bridge=("iv iv i i", "VI VI VII VII"),
)
COUNTRY_MAJOR = Progressions(
    verse=("I I IV I I I V7 V7", "I IV I V7", "I I IV IV V7 V7 I I"),
    chorus=("IV IV I I V7 V7 I I", "IV I V7 I"),
    bridge=("vi vi IV IV I I V7 V7", "II7 II7 V7 V7"),
)
METAL_MINOR = Progressions(
    verse=("i i bII i", "i VI bII i", "i i iv bII"),
    chorus=("i VI VII i", "VI VII i v", "i III VII VI"),
    bridge=("i bII i bII", "iv iv bII V"),
)
CLUB_MAJOR = Progressions(
    verse=("I V vi IV", "vi IV I V"), chorus=("IV I V vi", "vi IV I V"), bridge=("ii vi IV V", "IV IV vi V")
)
CLUB_MINOR = Progressions(
    verse=("i i VI VII", "i VI i VII"),
    chorus=("VI VII i III", "i VI III VII"),
    bridge=("iv VI i VII", "VI VI VII VII"),
)
HIP_HOP_MAJOR = Progressions(
    verse=("Imaj9 vi9 Imaj9 vi9", "IVmaj7 iii7 IVmaj7 iii7"),
    chorus=("IVmaj9 iii7 vi9 V9",),
    bridge=("ii9 ii9 V9 V9",),
)
HIP_HOP_MINOR = Progressions(
    verse=("i9 iv9 i9 iv9", "i7 i7 VImaj7 V7", "i9 VImaj7 i9 VImaj7"),
    chorus=("VImaj7 v7 i9 i9", "i9 VImaj7 IIImaj7 V7"),
    bridge=("iv9 iv9 VImaj7 V7",),
)
LULLABY_MAJOR = Progressions(
    verse=("I I V V V V I I", "I IV I V I IV V I", "I I IV I"),
    chorus=("IV I V I", "IV I IV I V V I I"),
    bridge=("IV IV I I", "vi IV I V"),
)
ORCHESTRAL_MAJOR = Progressions(
    verse=("I V vi iii IV I IV V", "I iii IV iv", "I vi IV V"),
    chorus=("IV V iii vi ii V I V", "I bVI bVII I", "vi IV I V"),
    bridge=("vi iii bVI V", "iv bVII I V"),
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
