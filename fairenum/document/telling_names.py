"""What names tell: protected characteristics, persons and firms, and which of two values sounds favourable."""

from __future__ import annotations

import re

from fairenum.document.reading import number

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PROTECTED = _set(
    "agegroup ageband agecat sex gender race races racial ethn ethnic ethnicity raceethnicity hispanic latino "
    "latina latinx caucasian nonwhite african asian female females male males woman women marital maritalstatus "
    "married marriage divorced widowed spouse religion religious nationality citizenship citizen immigrant foreigner "
    "disability disabilities disabled handicap handicapped pregnancy pregnant maternity dob birthdate birthday "
    "birthyear lgbt lgbtq transgender veteran caste nativecountry"
)
OF_PEOPLE_OR_THINGS = _set("age aged ages black white")  # protected where no other word of the name is a thing
PROTECTED_TOGETHER = tuple(
    _set(pair)
    for pair in (
        *("native country", "native american", "native language", "mother tongue", "national origin"),
        *("country birth", "country origin", "place birth", "date birth", "year birth", "foreign worker"),
        *("foreign born", "sexual orientation", "family status", "familial status", "civil status"),
        *("personal status", "skin color", "skin colour", "skin tone"),
    )
)
# Things that have an age or a colour.
THINGS = _set(
    "account accounts car vehicle auto house housing home building property loan credit debt firm company business "
    "trade trades tradeline tradelines policy device file line lines equipment machine roof card application listing "
    "product asset stock inventory phone email domain inquiry plant tree wine collar box list label blood cell cells"
)

MEMBERS = _set(
    "person customer client applicant borrower officer judge doctor physician nurse provider hospital clinic firm "
    "company employer patient student pupil school teacher employee worker household branch agent reviewer rater "
    "interviewer user member defendant inmate prisoner subject participant respondent individual lender merchant "
    "vendor seller caseworker manager supervisor precinct court store account"
)
PERSONAL_NUMBERS = _set("ssn nino")
IDENTIFIERS = _set("id ids uuid guid identifier")
NUMBERINGS = _set("no nr num number key ref code name")

GOOD = _set(
    "approved approve approval accept accepted acceptance granted grant admitted admit admission hired hire selected "
    "passed pass paid repaid repay good success successful won eligible qualified employed graduated graduate "
    "graduation completed promoted promotion invited offered funded awarded renewed favourable favorable creditworthy "
    "survived healthy released retained licensed enrolled"
)
BAD = _set(
    "denied deny denial rejected reject rejection refused refuse refusal declined decline default defaulted defaults "
    "bad failed fail failure unpaid delinquent delinquency dlq dlqin arrears chargedoff fraud fraudulent recid "
    "recidivism recidivist recidivated rearrest rearrested reoffend reoffended arrest arrested convicted guilty churn "
    "churned attrition fired dismissed dropout terminated bankrupt bankruptcy late overdue missed dead died death "
    "deceased mortality readmitted readmission unfavourable unfavorable unemployed ineligible unqualified foreclosed "
    "foreclosure detained violation unsuccessful withdrawn"
)
NEGATIONS = _set("not no non never without")
YES, NO = _set("yes true y t"), _set("no false n f")


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case: ``MaritalStatus`` and ``marital_status`` are marital and status."""
    return [word.casefold() for word in WORD.findall(name)]


def is_protected(name: str) -> bool:
    """Tell whether a column is named after a characteristic that laws protect, such as age, sex or marital status."""
    words = set(words_of(name))
    if any(pair <= words for pair in PROTECTED_TOGETHER):
        return True
    return bool(words & PROTECTED) or (bool(words & OF_PEOPLE_OR_THINGS) and not words & THINGS)


def is_identifier(name: str) -> bool:
    """Tell whether a column is named as identifiers are: ``id``, ``customerid``, ``loan_id``, ``ssn``."""
    last = (words_of(name) or [""])[-1]
    joined = last.endswith("id") and last[:-2] in MEMBERS
    return last in IDENTIFIERS | PERSONAL_NUMBERS or joined


def is_numbering(name: str) -> bool:
    """Tell whether a column is named as numberings of rows are, but also counts: ``case_number``, ``account no``."""
    return (words_of(name) or [""])[-1] in NUMBERINGS | _set("row rows rownames record seq sequence")


def is_member(name: str) -> bool:
    """Tell whether a column is named after persons, firms or officers, or as identifiers are."""
    words = words_of(name)
    while len(words) > 1 and words[-1] in NUMBERINGS:
        words.pop()
    if words in (["no"], ["nr"], ["key"]):
        return True
    return bool(words) and (words[-1] in MEMBERS or is_identifier(words[-1]))


def polarity(text: str) -> int:
    """Return 1 if the words of a text sound favourable, such as approved, -1 if unfavourable, and 0 otherwise."""
    words = words_of(text)
    total = sum((word in GOOD) - (word in BAD) for word in words)
    sign = (total > 0) - (total < 0)
    return -sign if NEGATIONS.intersection(words) else sign


def looks_swapped(column: str, favourable: str, unfavourable: str) -> bool:
    """Tell whether the favourable value of a column sounds like the unfavourable one.

    Values such as yes and no, or 1 and 0, mean what their column is named after: no is favourable in ``default`` and
    unfavourable in ``approved``. In a column of another name yes is taken to be favourable, but not 1.
    """
    tones = polarity(favourable), polarity(unfavourable)
    if any(tones):
        return tones[0] < tones[1]
    meaning = polarity(column)
    if (_answer(favourable), _answer(unfavourable)) == (-1, 1):
        return meaning > 0 or (meaning == 0 and favourable.strip().casefold() in NO)
    return meaning < 0 and (_answer(favourable), _answer(unfavourable)) == (1, -1)


def _answer(value: str) -> int:
    """Return 1 for a value that means yes, -1 for one that means no, and 0 for any other."""
    folded = value.strip().casefold()
    is_yes, is_no = folded in YES or number(folded) == 1.0, folded in NO or number(folded) == 0.0
    return is_yes - is_no
