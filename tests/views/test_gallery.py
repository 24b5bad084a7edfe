"""The words on a gallery card."""

from views.gallery import first_sentence


def test_a_card_tells_the_first_sentence():
    assert first_sentence("\nThree processes\nmeet. Then more.\n") == "Three processes meet."
    assert first_sentence("No stop") == "No stop"
