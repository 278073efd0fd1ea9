"""Songs before, while and after their tokens are drawn."""

from dataclasses import dataclass, field

from engine.yue2.decoding.sampling import Rule


@dataclass(frozen=True, slots=True)
class SongPrompt:
    """What a song is drawn from.

    `prefix` is read before the first token, `negative` likewise by the branch that guidance leads away from (unread
    without guidance). `kept` are tokens of the stage that are there already: they are read after the prefix, count
    as drawn and cost no random numbers. The seed, 0 to 2^63 - 1, is the song's own.
    """

    prefix: tuple[int, ...]
    negative: tuple[int, ...]
    kept: tuple[int, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Decoded:
    """Tokens of a song, kept ones included, the end excluded; `truncated` where the budget ended it."""

    tokens: tuple[int, ...]
    truncated: bool


@dataclass(slots=True)
class Take:
    """A song while it is drawn; changed by the decoding loop alone."""

    prompt: SongPrompt
    rule: Rule
    tokens: list[int] = field(init=False)
    ended: bool = False
    truncated: bool = False

    def __post_init__(self) -> None:
        self.tokens = list(self.prompt.kept)
        self._stop_at_budget()

    def accept(self, token: int) -> None:
        """Take the token that was drawn."""
        if token == self.rule.rows.end_id:
            self.ended = True
            return
        self.tokens.append(token)
        self._stop_at_budget()

    def sequence(self, negative: bool) -> tuple[int, ...]:
        """What a branch reads before the first draw."""
        return (self.prompt.negative if negative else self.prompt.prefix) + self.prompt.kept

    def position(self, negative: bool) -> int:
        """Where a branch's last token stands in its sequence."""
        return len(self.prompt.negative if negative else self.prompt.prefix) + len(self.tokens) - 1

    def decoded(self) -> Decoded:
        """The song as it stands."""
        return Decoded(tuple(self.tokens), self.truncated)

    def _stop_at_budget(self) -> None:
        if len(self.tokens) >= self.rule.sampling.max_tokens:
            self.ended = self.truncated = True
