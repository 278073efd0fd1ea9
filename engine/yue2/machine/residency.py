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
    """Owner of the loaded parts: decoder, acoustic half and VAE; each is loaded when it is first asked for.

    Whoever asks for a part `alone` has the others released before it is loaded, so that at no time two of them take
    memory; a part that a caller still holds lives on, so callers let go of one before they ask for another. What a
    loader raises leaves the part unloaded. Used by the working thread only, but for `is_loaded`.
    """

    def __init__(
        self,
        decoder: Load[D],
        acoustic: Load[A],
        vae: Load[V],
        *,
        settle: Callable[[], None],
        give_back: Callable[[], None],
    ) -> None:
        """`settle` waits until nothing uses the parts, `give_back` returns to the system what an allocator keeps."""
        self._decoder = Part(decoder)
        self._acoustic = Part(acoustic)
        self._vae = Part(vae)
        self._settle = settle
        self._give_back = give_back

    @property
    def is_loaded(self) -> tuple[bool, bool, bool]:
        """Whether decoder, acoustic half and VAE are loaded; from any thread, and soon out of date there."""
        return self._decoder.is_loaded, self._acoustic.is_loaded, self._vae.is_loaded

    def decoder(self, control: Control, *, alone: bool) -> D:
        """The decoder, loaded if it is not yet."""
        if alone:
            self._release(self._acoustic, self._vae)
        return self._decoder.get(control)

    def acoustic(self, control: Control, *, alone: bool) -> A:
        """The acoustic half, loaded if it is not yet."""
        if alone:
            self._release(self._decoder, self._vae)
        return self._acoustic.get(control)

    def vae(self, control: Control, *, alone: bool) -> V:
        """The VAE, loaded if it is not yet."""
        if alone:
            self._release(self._decoder, self._acoustic)
        return self._vae.get(control)

    def release(self) -> None:
        """Give all memory back; the next that asks loads again."""
        self._release(self._decoder, self._acoustic, self._vae)

    def _release(self, *parts: "Part[D] | Part[A] | Part[V]") -> None:
        loaded = [part for part in parts if part.is_loaded]
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
