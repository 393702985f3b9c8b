"""The rectangle test: do a model's conditionals contradict each other? (arXiv 2605.16378, section 3; MATH section 2)

from glauber_core import load
from glauber_core.rectangle import Rule, rectangle, survey

model = load("glauber-mini")
words = model.vocabulary
x = words.encode("the doctor told the patient to drink more water .").ids
print(rectangle(model, x, 2, 6, words.word_id("asked", False), words.word_id("eat", False)).delta)
print(survey(model, [x], Rule(alternatives=4)).delta.mean())
"""

from glauber_core.rectangle.compare import Row, Subject, bigram_control, compare, line_up, physics_controls, subject
from glauber_core.rectangle.floor import Floor, noise_floor
from glauber_core.rectangle.probe import Probe, check, probe, rectangle
from glauber_core.rectangle.results import EDGES, Measured, Rectangles, corners, join
from glauber_core.rectangle.schemes import Rule
from glauber_core.rectangle.statistics import Summary, by_distance, pair_medians, summarize, worst
from glauber_core.rectangle.survey import Part, measure_again, survey, survey_parts

__all__ = [
    "EDGES",
    "Floor",
    "Measured",
    "Part",
    "Probe",
    "Rectangles",
    "Row",
    "Rule",
    "Subject",
    "Summary",
    "bigram_control",
    "by_distance",
    "check",
    "compare",
    "corners",
    "join",
    "line_up",
    "measure_again",
    "noise_floor",
    "pair_medians",
    "physics_controls",
    "probe",
    "rectangle",
    "subject",
    "summarize",
    "survey",
    "survey_parts",
    "worst",
]
