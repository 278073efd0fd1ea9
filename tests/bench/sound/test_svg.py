"""Pictures that any reader of SVG shows."""

from xml.etree import ElementTree

import pytest

from bench.sound.svg import GROUND, Axes, Picture, mixed


def test_a_picture_has_its_own_ground_and_keeps_words_as_they_are() -> None:
    picture = Picture(100, 50, "A & B")
    picture.text(5, 5, "<here>")
    picture.dot(1, 2, "#000000")
    root = ElementTree.fromstring(picture.written())
    ground = root.find("{http://www.w3.org/2000/svg}rect")
    assert ground is not None
    assert (ground.get("width"), ground.get("fill")) == ("100", GROUND)
    assert [element.text for element in root if element.tag.endswith(("title", "text"))] == [
        "A & B",
        "<here>",
    ]


def test_values_have_places_within_the_frame() -> None:
    axes = Axes(Picture(200, 100, ""), (10, 20, 110, 80), (0.0, 10.0), (0.0, 1.0))
    assert axes.place(0, 0) == (10, 80)
    assert axes.place(10, 1) == (110, 20)
    assert axes.place(5, 0.5) == (60, 50)


def test_a_curve_is_broken_at_gaps() -> None:
    picture = Picture(200, 100, "")
    axes = Axes(picture, (0, 0, 100, 100), (0.0, 10.0), (0.0, 1.0))
    axes.curve([(0, 0), (1, 0), (5, 1), (5.5, 1)], "#123456", 1.5)
    assert picture.written().count("<polyline") == 2


@pytest.mark.parametrize(
    ("share", "colour"), [(0.0, "#ffffff"), (1.0, "#10366e"), (-1.0, "#ffffff"), (2.0, "#10366e")]
)
def test_shades_go_from_white_to_dark(share: float, colour: str) -> None:
    assert mixed((16, 54, 110), share) == colour


def test_shades_hardly_apart_are_the_same() -> None:
    assert mixed((16, 54, 110), 0.5) == mixed((16, 54, 110), 0.501)


def test_words_can_be_read_upwards() -> None:
    picture = Picture(100, 50, "")
    picture.upright(10, 20, "loudness")
    assert 'transform="rotate(-90 10.0 20.0)"' in picture.written()
