"""The frames of an animation: one for each step, in the colours of its picture."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from diagrams.export import gif
from diagrams.scene.view import View
from diagrams.still.slides import HEIGHT, WIDTH
from tests.diagrams.tools import exported, is_blank, scene
from tests.tools import thinned


@pytest.mark.slow
def test_gif_has_a_frame_for_each_step_and_loops():
    animation = Image.open(BytesIO(exported("lecture", "gif", steps=(3, 9))))
    assert (animation.format, animation.n_frames, animation.size) == ("GIF", 7, (WIDTH, HEIGHT))
    assert animation.info["loop"] == 0
    frames = []
    for number in range(animation.n_frames):
        animation.seek(number)
        frames.append((animation.info["duration"], animation.convert("RGB").tobytes()))
    assert [duration for duration, _ in frames] == [1000] * 6 + [4000]
    assert len({pixels for _, pixels in frames}) == 7 and not is_blank(animation)


OF_ANIMATIONS = [
    ("lecture", {"steps": (12, 13)}), ("overlapping", {"steps": (24, 25), "theme": "dark"}),
    ("star", {"steps": (34, 35)}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("name", "view"), thinned(OF_ANIMATIONS, 1, "the colours of animations"))
def test_every_frame_of_a_gif_has_the_colours_of_its_png(name, view):
    """What covers an area, a line or a letter has its very colour; at edges a dot in five hundred may be off."""
    own = View.of(scene(name), **view)
    animation = Image.open(BytesIO(exported(name, "gif", **view)))
    for number, png in enumerate(gif.images(scene(name), own)):
        animation.seek(number)
        wanted, found = (np.asarray(image, np.int16) for image in (png, animation.convert("RGB")))
        apart = np.abs(wanted - found).max(axis=2)
        assert apart.mean() < 0.3 and (apart > 24).mean() < 1 / 500
        frequent = [colour for _, colour in sorted(png.getcolors(WIDTH * HEIGHT), reverse=True)[:64]]
        assert apart[np.isin(packed(wanted), packed(np.array(frequent)))].max() == 0


def packed(colours: np.ndarray) -> np.ndarray:
    """Colours as one number each."""
    return colours.astype(int) @ [1 << 16, 1 << 8, 1]


# ---------------------------------------------------------------------- as native slides
