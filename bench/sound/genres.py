"""How far genres are apart, and whether a song is nearest to others of its own."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Portraits = NDArray[np.float64]  # (songs, features)


def standardised(portraits: Portraits) -> Portraits:
    """Each feature with mean 0 and spread 1."""
    return np.asarray((portraits - portraits.mean(axis=0)) / (portraits.std(axis=0) + 1e-9))


def told_apart(portraits: Portraits, genres: Sequence[str]) -> dict[str, float]:
    """For each genre the share of its songs that are nearest to the middle of their own genre's other songs."""
    places = standardised(portraits)
    names = list(dict.fromkeys(genres))
    labels = np.array([names.index(genre) for genre in genres])
    right = np.array([_nearest(places, labels, song) == labels[song] for song in range(len(places))])
    return {name: float(right[labels == place].mean()) for place, name in enumerate(names)}


def _nearest(places: Portraits, labels: NDArray[np.int64], song: int) -> int:
    """The genre whose middle, without this song, is nearest to it."""
    others = np.arange(len(places)) != song
    middles = [places[others & (labels == label)].mean(axis=0) for label in range(labels.max() + 1)]
    return int(np.argmin([np.linalg.norm(places[song] - middle) for middle in middles]))


def separation(portraits: Portraits, genres: Sequence[str]) -> float:
    """The mean distance between genres' middles, as a multiple of that between songs and their genre's middle."""
    places = standardised(portraits)
    labels = np.array(genres)
    middles = {genre: places[labels == genre].mean(axis=0) for genre in dict.fromkeys(genres)}
    within = np.mean(
        [np.linalg.norm(place - middles[genre]) for place, genre in zip(places, genres, strict=True)]
    )
    points = np.array(list(middles.values()))
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    return float(apart.sum() / (len(points) * (len(points) - 1)) / max(1e-9, float(within)))


def on_a_map(portraits: Portraits) -> Portraits:
    """Two coordinates of each song (songs, 2): the directions in which songs differ most (Pearson, 1901).

    Either sign of a direction is as right; the first song is on its left or lower side.
    """
    places = standardised(portraits)
    _, _, axes = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)
    found = places @ axes[:2].T
    return np.asarray(np.where(found[0] > 0, -found, found))
