"""Colours can be told apart by everybody, and seen on any page."""

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from lance_explorer.figures import palette

# What a linear RGB colour becomes, after Machado, Oliveira and Fernandes (2009), severity 1.
VISION = {
    "usual": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])
PALETTES = (
    "KIND_COLORS",
    "ENCODING_COLORS",
    "PART_COLORS",
    "CHANGE_COLORS",
    "DISK_COLORS",
    "STATUS_COLORS",
    "COVERAGE_COLORS",
)
SAME = {
    "PART_COLORS": {"indices": "index", "schema": "schema", "rest": "other"},
    "CHANGE_COLORS": {"added": "append", "dropped": "delete"},
    "DISK_COLORS": {"deletion": "delete", "index": "index", "other": "other"},
    "STATUS_COLORS": {},
    "COVERAGE_COLORS": {"unknown": "other"},
}
"""What a colour is about as commits of that kind are."""


def colors_of(name: str) -> dict[str, str]:
    """Return the colours of a palette but for that of what is not known, which is a faint grey."""
    return {key: color for key, color in getattr(palette, name).items() if color != palette.FAINT}


def linear(color: str) -> NDArray[np.float64]:
    values = np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    x, y, z = np.cbrt(np.maximum(TO_XYZ @ np.clip(rgb, 0, 1) / WHITE, 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(color: str, page: str) -> float:
    bright, dark = sorted([(TO_XYZ @ linear(c))[1] + 0.05 for c in (color, page)], reverse=True)
    return float(bright / dark)


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("name", PALETTES)
def test_colours_of_a_palette_are_told_apart(name, vision):
    colors = colors_of(name)
    seen = {key: lab(np.array(VISION[vision]) @ linear(color)) for key, color in colors.items()}
    alike = [
        (one, other)
        for one, other in combinations(seen, 2)
        if np.linalg.norm(seen[one] - seen[other]) < 12
    ]
    assert alike == []


@pytest.mark.parametrize("vision", VISION)
def test_encodings_are_told_apart_at_a_glance_and_from_every_kind_of_commit(vision):
    def seen(colors: list[str]) -> list[NDArray[np.float64]]:
        return [lab(np.array(VISION[vision]) @ linear(color)) for color in colors]

    encodings = [*palette.ENCODING_COLORS.values(), palette.MUTED]  # grey: spilled
    apart = [np.linalg.norm(one - other) for one, other in combinations(seen(encodings), 2)]
    assert min(apart) > 20
    kinds = seen([*palette.KIND_COLORS.values()])
    row_ids = seen([*palette.ENCODING_COLORS.values(), palette.PART_COLORS["row IDs"]])
    assert min(np.linalg.norm(one - other) for one in row_ids for other in kinds) > 10


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("name", SAME)
def test_a_colour_of_a_commit_means_that_commit_everywhere(name, vision):
    def seen(color: str) -> NDArray[np.float64]:
        return lab(np.array(VISION[vision]) @ linear(color))

    colors, same = colors_of(name), SAME[name]
    assert {key: palette.KIND_COLORS[kind] for key, kind in same.items()} == {
        key: colors[key] for key in same
    }
    own = [color for key, color in colors.items() if key not in same and color != palette.MUTED]
    kinds = palette.KIND_COLORS.values()
    assert min(np.linalg.norm(seen(one) - seen(other)) for one in own for other in kinds) > 10


@pytest.mark.parametrize("page", ["#FFFFFF", "#111111"])
@pytest.mark.parametrize("name", PALETTES)
def test_colours_are_seen_on_light_and_dark_pages(name, page):
    pale = [key for key, c in colors_of(name).items() if contrast(c, page) < 2]
    assert pale == []


def test_text_is_readable_on_light_and_dark_pages():
    assert min(contrast(palette.MUTED, page) for page in ("#FFFFFF", "#111111")) > 3.9
