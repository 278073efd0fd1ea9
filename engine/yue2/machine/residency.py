"""Which parts of the model are loaded."""

from collections.abc import Callable
from typing import Generic, TypeVar

from engine.control import Control

D = TypeVar("D")
A = TypeVar("A")
V = TypeVar("V")
T = TypeVar("T")

Load = Callable[[Control], T]


class Residency(Generic[D, A, V]):
    """Owner of the loaded parts: decoder, acoustic half and the VAE's two; each is loaded when it is first asked for.

    Whoever asks for a part `alone` has the others released before it is loaded, so that at no time two of them take
    memory; a part that a caller still holds lives on, so callers let go of one before they ask for another. What a
    loader raises leaves the part unloaded. Used by the working thread only, but for `is_loaded`.
    """

    def __init__(
        self,
        decoder: Load[D],
        acoustic: Load[A],
        vae: Load[V],
        encoder: Load[V],
        *,
        settle: Callable[[], None],
        give_back: Callable[[], None],
    ) -> None:
        """`settle` waits until nothing uses the parts, `give_back` returns to the system what an allocator keeps."""
        self._decoder = Part(decoder)
        self._acoustic = Part(acoustic)
        self._vae = Part(vae)
        self._encoder = Part(encoder)
        self._settle = settle
        self._give_back = give_back

    @property
    def is_loaded(self) -> tuple[bool, bool, bool, bool]:
        """Whether decoder, acoustic half, VAE and its encoder are loaded; from any thread, and soon out of date there."""
        return (
            self._decoder.is_loaded,
            self._acoustic.is_loaded,
            self._vae.is_loaded,
            self._encoder.is_loaded,
        )

    def decoder(self, control: Control, *, alone: bool) -> D:
        """The decoder, loaded if it is not yet."""
        return self._get(self._decoder, control, alone)

    def acoustic(self, control: Control, *, alone: bool) -> A:
        """The acoustic half, loaded if it is not yet."""
        return self._get(self._acoustic, control, alone)

    def vae(self, control: Control, *, alone: bool) -> V:
        """The VAE with its decoder, loaded if it is not yet."""
        return self._get(self._vae, control, alone)

    def encoder(self, control: Control, *, alone: bool) -> V:
        """The VAE with its encoder, loaded if it is not yet."""
        return self._get(self._encoder, control, alone)

    def release(self) -> None:
        """Give all memory back; the next that asks loads again."""
        self._release_all_but(None)

    def _get(self, part: "Part[T]", control: Control, alone: bool) -> T:
        if alone:
            self._release_all_but(part)
        return part.get(control)

    def _release_all_but(self, kept: object) -> None:
        parts = (self._decoder, self._acoustic, self._vae, self._encoder)
        loaded = [part for part in parts if part is not kept and part.is_loaded]
        if not loaded:
            return
        self._settle()
        for part in loaded:
            part.release()
        self._give_back()


class Part(Generic[T]):
    """Owner of one part, loaded or not."""

    def __init__(self, load: Load[T]) -> None:
        self._load = load
        self._loaded: T | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether it takes memory."""
        return self._loaded is not None

    def get(self, control: Control) -> T:
        """The part; what the loader raises is passed on."""
        if self._loaded is None:
            self._loaded = self._load(control)
        return self._loaded

    def release(self) -> None:
        """Forget it."""
        self._loaded = None
