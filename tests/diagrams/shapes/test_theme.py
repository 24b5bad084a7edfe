"""One position names colours: diagrams/shapes/theme.py. Everything else names their meanings."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import ImageColor

from diagrams.browser import scripts as browser
from diagrams.panels.legend import signs
from diagrams.scene.composition import compose
from diagrams.shapes import theme
from sim.document import library
from sim.run.execution import run
from tests.cases import each
from tests.tools import ROOT

PLACES = ("diagrams/**/*.py", "views/**/*.py", "assets/**/*.js", "assets/**/*.css", "assets/**/*.html")

NAME = f"(?:{'|'.join(ImageColor.colormap)})"  # the names that CSS has for colours

# "#fff", but no id such as "#face-list" and no "&#123;"
HEX = re.compile(r"(?<![&\w])#(?:[0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})(?![\w-])", re.I)
# "rgb(1 2 3)", but not `rgba(${red}, ...)`, which paints what it is given
FUNCTION = re.compile(r"\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch)\(\s*[-+.\d]|\bcolor\(\s*[a-z]", re.I)
# color: "red", fill="red", strokeStyle = wrong ? "red" : ...
PROPERTY = "(?:colou?r|fill|stroke|background|border|outline|shadow|bg)"
QUOTED = re.compile(rf"{PROPERTY}\w*[\"']?\s*[:=](?!=)[^,;)}}\n]*?[\"'`]{NAME}[\"'`]", re.I)
# the name as a word of a declaration's value
WORD = re.compile(rf"(?<![\w.#-]){NAME}(?![\w(-])", re.I)
DECLARATION = re.compile(r"[\w-]+\s*:\s*([^;{}]+)")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def colours_in(text: str, suffix: str) -> Iterator[str]:
    """Every position in a text of a kind that names a colour."""
    for pattern in (HEX, FUNCTION, QUOTED):
        yield from (found[0] for found in pattern.finditer(text))
    sheets = [text] if suffix == ".css" else re.findall(r"style\s*[:=]\s*[\"'`]([^\"'`]*)", text)
    for sheet in sheets:
        for declaration in DECLARATION.finditer(COMMENT.sub("", sheet)):
            yield from (found[0] for found in WORD.finditer(declaration[1]))


def files() -> list[Path]:
    found = sorted(path for position in PLACES for path in ROOT.glob(position))
    assert len(found) > 250
    return [path for path in found if path != ROOT / "diagrams" / "shapes" / "theme.py"]


@pytest.mark.slow
@each("path", files)
def test_only_the_theme_names_colours(path):
    assert list(colours_in(path.read_text("utf-8"), path.suffix)) == []


@each(
    ("suffix", "text"),
    [
        (".css", ".cc { border: 1px solid #D55E00 }"),
        (".css", ".cc { background: rgba(0, 0, 0, 0.35); }"),
        (".css", ".cc { box-shadow: 0 0 2px tomato }"),
        (".css", ".cc { color: color(display-p3 1 0 0); fill: oklch(60% 0.1 20) }"),
        (".html", '<path fill="red" />'),
        (".html", '<p style="margin: 0; color: red">'),
        (".js", 'pen.fillStyle = isBad ? "crimson" : palette.ink;'),
        (".js", 'el("span", { style: `background: gold` })'),
        (".py", 'marker = {"color": "white", "size": 3}'),
        (".py", 'canvas.add(points, fillcolor="hsl(20 50% 50%)")'),
        (".py", 'LINE_COLOURS = ("navy", "teal")'),
    ],
)
def test_the_scan_finds_colours(suffix, text):
    assert list(colours_in(text, suffix))


@each(
    ("suffix", "text"),
    [
        (".css", ".cc { white-space: nowrap; width: calc(1px * tan(3)) } /* color: red */ #face-list {}"),
        (".css", ".cc { border: 1px solid transparent; fill: color-mix(in srgb, currentColor 20%, transparent) }"),
        (".js", "return `rgba(${red}, ${green}, ${blue}, ${opacity})`;"),
        (".js", 'const kinds = ["white", "red"]; // words of an algorithm, see #12'),
        (".py", 'Sign("red", "red message", "Its process had turned red: &#8594;", arrow(message_colour(0)))'),
    ],
)
def test_the_scan_leaves_words_alone(suffix, text):
    assert list(colours_in(text, suffix)) == []


def test_the_palettes_name_the_same_colours_as_plain_hex():
    assert set(theme.LIGHT) == set(theme.DARK) == set(theme.GREY)
    for palette in theme.PRINTED.values():
        assert all(re.fullmatch(r"#[0-9a-f]{6}", colour) for colour in palette.values())


def test_streamlit_has_the_colours_of_the_theme():
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8"))["theme"]
    for name, palette in theme.PALETTES.items():
        expected = {setting.title().replace("-", ""): palette[token] for setting, token in theme.STREAMLIT.items()}
        assert {key[0].upper() + key[1:]: value for key, value in settings[name].items()} == expected


def test_every_variable_that_is_used_is_declared():
    icons = "".join(sign["icon"] for sign in lecture_signs())
    explorer = browser.styles() + browser.markup() + browser.script() + icons
    for prefix, text in (("cc", explorer), ("cut", browser.page_styles())):
        used = set(re.findall(rf"var\(--{prefix}-([\w-]+)", text))
        declared = set(re.findall(rf"--{prefix}-([\w-]+):|setProperty\(\"--{prefix}-([\w-]+)\"", text))
        assert used and used <= {name for pair in declared for name in pair}


def test_no_style_sheet_declares_a_colour_of_the_theme_again():
    for path in ROOT.glob("assets/**/*.css"):
        again = re.findall(rf"--(?:cc|cut)-({'|'.join(theme.LIGHT)})\s*:", path.read_text("utf-8"))
        assert again == [], path


def lecture_signs():
    return signs(compose(run(library.load("lecture"))))


def test_every_sign_has_a_word_a_sentence_and_a_picture():
    told = lecture_signs()
    labels = (
        "event, message, marker, recording, recorded event, in channel state, cut, chosen cut, now, "
        "arrow before your changes, held message"
    )
    assert ", ".join(sign["label"] for sign in told if sign["drawn"] in ("run", "always")) == labels
    of_proof = "white action, red action, white message, red message, recorded message, turn to red, states S0 and S1"
    assert ", ".join(sign["label"] for sign in told if sign["drawn"] == "proof") == of_proof
    assert len({sign["key"] for sign in told}) == len(told)
    for sign in told:
        assert sign["title"].endswith(".") and sign["icon"].startswith("<svg ")
    assert [sign["key"] for sign in told if sign["rare"]] == ["ghost", "held"]
    assert "var(--cc-p0)" in told[2]["icon"]


def test_messages_have_a_colour_by_their_kind_markers_and_control_messages_that_of_their_sender():
    assert (theme.message_colour(2, "app"), theme.message_colour(2, "app", "full")) == ("@ink", "@stamped")
    senders = [theme.process_colour(rank) for rank in range(3)]
    assert [theme.message_colour(rank, "marker") for rank in range(3)] == senders
    assert [theme.message_colour(rank, "control") for rank in range(3)] == senders
