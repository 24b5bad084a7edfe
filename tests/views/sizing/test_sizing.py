"""The page Sizing without a browser: its form, its address, its tables and sentences."""

from __future__ import annotations

import re
from itertools import product

import pytest
from streamlit.testing.v1 import AppTest

from pipeline.ensembles.cost_check import scaled
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.theory.sizing import sizes
from sim.theory.sizing_inputs import CHOICES, INPUTS, System
from tests.cases import check_each
from views.server.plain_words import sentence
from views.sizing import words
from views.sizing.form_state import query_of, read
from views.sizing.page import VIEWS, in_a_sentence, scaled_in_words


def page_of_sizing() -> None:
    from views.sizing import page as sizing

    sizing.page()


def opened(**query: str) -> AppTest:
    page = AppTest.from_function(page_of_sizing, default_timeout=60)
    for key, text in query.items():
        page.query_params[key] = text
    return page.run()


def told(page: AppTest) -> str:
    """The texts of the page in HTML, without its marks."""
    assert not page.exception
    return re.sub(r"<[^>]+>", " ", " ".join(own.proto.body for own in page.get("html")))


def address(page: AppTest) -> dict[str, str]:
    return {key: value[0] if isinstance(value, list) else value for key, value in page.query_params.items()}


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"nodes": "7", "topology": "ring", "algorithm": "lai_yang"},
        {
            name: own.first + own.least / 2 + (0 if own.is_whole or own.most <= 1 else 0.125)
            for name, own in INPUTS.items()
        },
    ],
)
def test_an_address_asks_for_the_same_again(wanted) -> None:
    system = System.read({name: int(own) if name == "nodes" else own for name, own in wanted.items()})
    assert read(query_of(system)) == system
    assert wanted or query_of(system) == {}


@pytest.mark.slow
def test_the_page_begins_with_the_example() -> None:
    page = opened()
    text = told(page)
    assert (
        "The usual estimate gives 1.98 GB for every node. The algorithm&#x27;s rules give 1.99 GB for the initiator"
        in text
    )
    for own in ("9,900", "100,000 messages", "20 MB", "198 GB", "4.95 million messages/s", "500,000 events/second"):
        assert own in text
    assert address(page) == {}


@pytest.mark.slow
def test_what_is_changed_counts_at_once_and_is_in_the_address() -> None:
    page = opened()
    page.number_input(key="sizing-nodes").set_value(10).run()
    assert "The usual estimate gives 180 MB for every node" in told(page)
    page.selectbox(key="sizing-topology").set_value("ring").run()
    assert address(page) == {"nodes": "10", "topology": "ring"}
    assert "refuted" not in told(page)
    page.button(key="sizing-example").click().run()
    assert address(page) == {} and "1.98 GB" in told(page)


@pytest.mark.slow
def test_a_link_fills_the_form() -> None:
    page = opened(nodes="20", algorithm="aligned_barriers", topology="dag", capacity="1000")
    assert page.number_input(key="sizing-nodes").value == 20
    assert page.selectbox(key="sizing-algorithm").value == "aligned_barriers"
    text = told(page)
    assert "no message is recorded" in text and "Longest stop of a sender" in text


BAD = [
    ({"nodes": "0"}, "nodes: expected a whole number from 1 to 100,000, not '0'."),
    ({"rate": "nan"}, "rate: expected a number from 0 to 1e+12"),
    ({"message_delay": "-1"}, "Message delay: expected a number"),
    ({"topology": "<b>"}, "topology: expected one of complete, ring, line, star, dag"),
    (
        {"algorithm": "aligned_barriers"},
        "topology: Aligned barriers start at sources, and a complete graph has none",
    ),
]


def test_a_bad_link_is_refused_in_its_words() -> None:
    def check(query: dict[str, str], words: str) -> None:
        with pytest.raises(InputError) as problem:
            in_a_sentence(read(query))
        assert words in sentence(str(problem.value))

    check_each(BAD, check)


@pytest.mark.slow
def test_a_bad_link_is_one_sentence_until_the_form_is_changed() -> None:
    page = opened(nodes="0")
    text = told(page)
    assert BAD[0][1].replace("'", "&#x27;") in text and "--" not in text and "Bytes, a node" not in text
    page.selectbox(key="sizing-topology").set_value("dag").run()
    assert "Bytes, a node" in told(page) and "expected" not in told(page)


SOON = [*zip(VIEWS, CHOICES["algorithm"], strict=False)]  # each view once
LATER = pytest.mark.long("every view of the page Sizing, of every algorithm")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("view", "algorithm"),
    [own if own in SOON else pytest.param(*own, marks=LATER) for own in product(VIEWS, CHOICES["algorithm"])],
)
def test_every_view_of_every_algorithm(view: str, algorithm: str) -> None:
    page = opened(algorithm=algorithm, topology="dag", nodes="6")
    page.session_state["sizing-view"] = view
    page.run()
    text = told(page)
    expected = {
        "Figures": "Bytes, a channel", "Chart": "Held in channels", "Simulated check": "We ran 160 small systems",
        "Formulas": "N × (N − 1)", "Usual claims": "a peak workload of 500,000 events/second",
    }  # fmt: skip
    assert expected[view] in text
    assert "problem" not in text.lower()


@pytest.mark.slow
def test_a_run_of_ones_own_system_is_compared_with_the_cost_model() -> None:
    page = opened(nodes="4", topology="ring", rate="1", delay="5", message_delay="4")
    page.session_state["sizing-view"] = "Simulated check"
    page.run()
    assert "A channel carries 5 messages during one marker delay, and 4 during one message delay." in told(page)
    page.button(key="sizing-run").click().run()
    found = sizes(System.read({"nodes": 4, "topology": "ring", "rate": 1, "delay": 5, "message_delay": 4}))
    assert found is not None
    text = told(page)
    assert f"{found.recorded:.0f}" in text and "Measured" in text
    page.number_input(key="sizing-nodes").set_value(5).run()
    assert "Measured" not in told(page)


def test_what_is_scaled_down_says_so() -> None:
    system = System()
    assert "We changed the ratio of the two delays." in scaled_in_words(system, scaled(system))


def test_every_algorithm_has_its_sentence() -> None:
    for name in ALGORITHMS:
        system = System.read({"algorithm": name, "topology": "dag", "nodes": 5})
        assert in_a_sentence(system).endswith(".")
    assert "no cost model for" in in_a_sentence(System.read({"algorithm": "uncoordinated"}))
    with pytest.raises(InputError):
        in_a_sentence(System.read({"algorithm": "aligned_barriers"}))


def test_every_topology_has_its_words() -> None:
    assert list(words.TOPOLOGIES) == list(CHOICES["topology"])
