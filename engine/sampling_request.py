"""How tokens are drawn: the sampling objects of a request."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from engine.request_types import CONTEXT_TOKENS, Real, Strict, Whole, contradiction

Temperature = Annotated[
    Real, Field(ge=0, le=5, description="Softens the distribution; 0 always takes the likeliest token.")
]
TopP = Annotated[Real, Field(gt=0, le=1, description="Share of the probability that stays in play.")]
TopK = Annotated[
    Whole, Field(ge=1, le=2**31 - 1, description="Number of likeliest tokens that stay in play.")
]
Penalty = Annotated[
    Real, Field(gt=0, description="Divides the logits of tokens drawn lately; 1 is no penalty.")
]
Window = Annotated[
    Whole, Field(ge=1, le=100, description="How many of the last tokens the penalty looks at.")
]
FewestTokens = Annotated[
    Whole, Field(ge=0, le=CONTEXT_TOKENS, description="The stage does not end before so many tokens.")
]
MostTokens = Annotated[
    Whole, Field(ge=1, le=CONTEXT_TOKENS, description="The stage stops after so many tokens.")
]


class Sampling(Strict):
    """How tokens are drawn in one stage; the stages differ in their defaults."""

    temperature: Temperature
    top_p: TopP
    top_k: TopK
    repetition_penalty: Penalty
    penalty_window: Window
    min_tokens: FewestTokens
    max_tokens: MostTokens

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min_tokens > self.max_tokens:
            raise contradiction(
                "min_tokens",
                f"{{field}} must not exceed max_tokens; you sent {self.min_tokens} and a max_tokens of {self.max_tokens}.",
            )
        return self


class AbcSampling(Sampling):
    """Drawing of the score's tokens."""

    temperature: Temperature = 0.7
    top_p: TopP = 0.9
    top_k: TopK = 30
    repetition_penalty: Penalty = 1.005
    penalty_window: Window = 100
    min_tokens: FewestTokens = 32
    max_tokens: MostTokens = 4096


class SemanticSampling(Sampling):
    """Drawing of the semantic codes, 25 a second of audio."""

    temperature: Temperature = 1.0
    top_p: TopP = 0.95
    top_k: TopK = 100
    repetition_penalty: Penalty = 1.2
    penalty_window: Window = 50
    min_tokens: FewestTokens = 200
    max_tokens: MostTokens = 9000
