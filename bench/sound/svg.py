"""Small pictures as SVG (w3.org/TR/SVG2), with a ground of their own so that they can be read on any page."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

GROUND, INK, FAINT = "#ffffff", "#222222", "#c8c8c8"
SERIES = ("#1f5fa8", "#c8511b", "#2c8a4b", "#8a3f9e", "#b08a00")


class Picture:
    """Owner of one picture's elements; lengths in pixels, y downwards."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height = width, height
        self._elements = [
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{height}" fill="{GROUND}"/>',
        ]

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str = INK, width: float = 1.0) -> None:
        """A straight line."""
        self._elements.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width:g}"/>'
        )

    def curve(self, points: Iterable[tuple[float, float]], colour: str, width: float = 1.5) -> None:
        """Straight lines through the points."""
        told = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._elements.append(
            f'<polyline points="{told}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>'
        )

    def box(self, x: float, y: float, width: float, height: float, colour: str, opacity: float = 1.0) -> None:
        """A filled rectangle."""
        seen = "" if opacity == 1 else f' fill-opacity="{opacity:g}"'
        self._elements.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"{seen}/>'
        )

    def dot(self, x: float, y: float, colour: str, radius: float = 3.0) -> None:
        """A filled circle."""
        self._elements.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}"/>')

    def text(
        self, x: float, y: float, words: str, anchor: str = "start", size: int = 11, colour: str = INK
    ) -> None:
        """Words whose start, middle or end is at x."""
        self._elements.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-family="sans-serif" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{colour}">{escape(words)}</text>'
        )

    def upright(self, x: float, y: float, words: str, size: int = 11) -> None:
        """Words that are read upwards, whose middle is at the place."""
        self._elements.append(
            f'<text x="{x:.1f}" y="{y:.1f}" transform="rotate(-90 {x:.1f} {y:.1f})" font-family="sans-serif" '
            f'font-size="{size}" text-anchor="middle" fill="{INK}">{escape(words)}</text>'
        )

    def written(self) -> str:
        """The file's content."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}">'
        )
        return "\n".join([head, *self._elements, "</svg>"]) + "\n"


class Axes:
    """A frame within a picture in which values have places; draws into that picture."""

    def __init__(
        self,
        picture: Picture,
        frame: tuple[float, float, float, float],
        x: tuple[float, float],
        y: tuple[float, float],
    ) -> None:
        """The frame is left, top, right, bottom; x and y are the values at its edges, from left and from below."""
        self.picture = picture
        self._left, self._top, self._right, self._bottom = frame
        self._x, self._y = x, y
        picture.line(self._left, self._bottom, self._right, self._bottom)
        picture.line(self._left, self._top, self._left, self._bottom)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a pair of values is."""
        across = (x - self._x[0]) / (self._x[1] - self._x[0])
        up = (y - self._y[0]) / (self._y[1] - self._y[0])
        return (
            self._left + across * (self._right - self._left),
            self._bottom - up * (self._bottom - self._top),
        )

    def mark_x(self, values: Iterable[tuple[float, str]], title: str) -> None:
        """Words below the frame at values, and what they are."""
        for value, words in values:
            x, _ = self.place(value, self._y[0])
            self.picture.line(x, self._bottom, x, self._bottom + 4)
            self.picture.text(x, self._bottom + 16, words, "middle")
        self.picture.text((self._left + self._right) / 2, self._bottom + 32, title, "middle")

    def mark_y(self, values: Iterable[tuple[float, str]]) -> None:
        """Words left of the frame at values, with a faint line across."""
        for value, words in values:
            _, y = self.place(self._x[0], value)
            self.picture.line(self._left, y, self._right, y, FAINT, 0.5)
            self.picture.text(self._left - 6, y + 4, words, "end")

    def curve(self, points: Sequence[tuple[float, float]], colour: str, longest_gap: float) -> None:
        """Lines through points, broken where two are further apart than the gap on the x axis."""
        run: list[tuple[float, float]] = []
        for here, following in pairwise([*points, (float("inf"), 0.0)]):
            run.append(self.place(*here))
            if following[0] - here[0] > longest_gap:
                self.picture.curve(run, colour)
                run = []


def mixed(colour: tuple[int, int, int], share: float) -> str:
    """White for 0, the colour for 1, and what lies between, in 32 steps."""
    kept = round(32 * min(max(share, 0.0), 1.0)) / 32
    red, green, blue = (round(255 + (full - 255) * kept) for full in colour)
    return f"#{red:02x}{green:02x}{blue:02x}"
