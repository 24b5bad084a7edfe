"""The words on a gallery card."""

from views.widgets.gallery import TEASER, teaser


def test_a_card_tells_two_sentences():
    assert teaser("\nThree processes\nmeet. They part. Then more.\n") == "Three processes meet. They part."
    assert teaser("One sentence. ") == "One sentence."
    assert teaser("No stop") == "No stop"


def test_a_card_cuts_long_sentences_between_words():
    told = teaser("Three processes meet. " + "word, " * 50)
    assert len(told) <= TEASER + 2
    assert told.startswith("Three processes meet. word, word") and told.endswith("word …")
