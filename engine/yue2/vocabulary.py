"""Token ids of the YuE2 protocol and the rows of the head that each stage draws from.

The ids are fixed by the protocol and are not in the checkpoint's configuration, whose `*_token_id` are null.
From the front: ordinary text, the tokenizer's specials, music start and end, the codec's codes, names for latents
(never embedded) and padding.
"""

from dataclasses import dataclass

from engine.request_types import CODES as CODES
from engine.request_types import TEXT_IDS as TEXT_IDS

END_OF_DOCUMENT = 151_643  # the first token of every prefix
SCORE_START = 151_847
SCORE_END = 151_848
TOKENIZER_IDS = 151_851  # text and the tokenizer's 208 specials
MUSIC_START = 151_851
MUSIC_END = 151_852
CODEC_FIRST = 151_853  # code c is token 151853 + c
VOCABULARY = 184_704

MARKER_ROWS = 2  # of zeros, before the first frame of a chunk and behind the last

Ids = tuple[int, ...]
"""Tokens, or codes, in their order."""


@dataclass(frozen=True, slots=True)
class TokenRows:
    """A run of vocabulary ids that holds everything a stage may draw.

    `first` and `count` are the run, `end_id` is the token that ends the stage and `barred` are ids in the run
    that may not be drawn, if any.
    """

    first: int
    count: int
    end_id: int
    barred: range

    @property
    def barred_places(self) -> slice:
        """Where in the run the barred ids stand."""
        if not self.barred:
            return slice(0)
        return slice(self.barred.start - self.first, self.barred.stop - self.first)


SCORE_ROWS = TokenRows(0, SCORE_END + 1, SCORE_END, range(TEXT_IDS, SCORE_END))
SEMANTIC_ROWS = TokenRows(MUSIC_END, CODES + 1, MUSIC_END, range(0))
