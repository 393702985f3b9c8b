"""Sentences to begin with. All are our own, except the two marked as the paper's."""

from __future__ import annotations

from typing import NamedTuple


class Starter(NamedTuple):
    """Attributes:
    topic: one of ``TOPICS``, or ``paper``.
    text: the sentence.
    source: where it comes from; empty for our own.
    """

    topic: str
    text: str
    source: str = ""


TOPICS = ("health", "sport", "food", "science", "politics", "music", "places", "everyday")
_PAPER = "a trap reported in arXiv 2605.16378"

STARTERS = (
    Starter("health", "the doctor told the patient to drink more water and rest for a week ."),
    Starter("health", "regular walks in the park helped her sleep better at night ."),
    Starter("health", "the nurse checked his blood pressure before the operation began ."),
    Starter("sport", "the goalkeeper saved two penalties in the last minute of the match ."),
    Starter("sport", "she ran the first half of the race faster than anyone else ."),
    Starter("sport", "the young team won its third game in a row on sunday ."),
    Starter("food", "he baked fresh bread every morning and sold it at the market ."),
    Starter("food", "the soup needs a little salt and some lemon before we serve it ."),
    Starter("food", "their kitchen smelled of onions , garlic and warm butter ."),
    Starter("science", "the telescope showed four small moons around the distant planet ."),
    Starter("science", "most plants turn sunlight , water and air into sugar ."),
    Starter("science", "the students measured how quickly the metal bar cooled down ."),
    Starter("politics", "the senator promised to vote against the new tax law in march ."),
    Starter("politics", "voters in the small state elected a new governor last year ."),
    Starter("politics", "the minister answered questions about the budget in parliament ."),
    Starter("music", "the band played its oldest songs at the end of the concert ."),
    Starter("music", "her first album was recorded in a small studio near the river ."),
    Starter("music", "he learned to play the violin when he was seven years old ."),
    Starter("places", "the old town lies on a hill above a wide green valley ."),
    Starter("places", "a narrow road leads from the village to the northern coast ."),
    Starter("places", "the largest island of the group has two lakes and no rivers ."),
    Starter("everyday", "my brother forgot his keys and waited outside in the rain ."),
    Starter("everyday", "we painted the kitchen yellow and put the table by the window ."),
    Starter("everyday", "the last bus was late again , so they walked home together ."),
    Starter("paper", "it has been used as the theme song for jesus christ superstar", _PAPER),
    Starter("paper", "the population density was 25 people per square mile .", f"after {_PAPER}"),
)


def by_topic(topic: str) -> list[Starter]:
    """The starters of one topic, in order; an empty list for an unknown one."""
    return [s for s in STARTERS if s.topic == topic]
