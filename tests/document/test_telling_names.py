"""What names tell, and names that only look as if they told something."""

import pytest

from fairenum.document.telling_names import is_identifier, is_member, is_numbering, is_protected, looks_swapped

PROTECTED = (
    *(
        "age",
        "AGE",
        "Age_Above_FourtyFive",
        "customerAge",
        "age76",
        "ageGroup",
        "sex",
        "status_sex",
        "sex_code",
        "Gender",
    ),
    *("race", "ethnicity", "African_American", "black", "Hispanic", "marital_status", "MaritalStatus", "married"),
    *("religion", "nationality", "native_country", "country_of_birth", "date_of_birth", "birth date", "dob"),
    *("foreign_worker", "is_pregnant", "Disability", "personal status", "is_male", "sexual_orientation", "veteran"),
)
INNOCENT = (
    *(
        "page",
        "mileage",
        "average",
        "percentage",
        "stage",
        "wage",
        "agency",
        "engaged",
        "manager",
        "sexy",
        "essex",
        "trace",
    ),
    *(
        "account_age",
        "vehicle_age",
        "housing_median_age",
        "age_of_car",
        "white_collar",
        "black_box",
        "grace",
        "voltage",
    ),
    *("language", "country", "birth_weight", "email", "income", "remale", "raced", "terrace", "usage", "image", ""),
)


@pytest.mark.parametrize("name", PROTECTED)
def test_protected_characteristics_are_known_by_name(name):
    assert is_protected(name)


@pytest.mark.parametrize("name", INNOCENT)
def test_names_that_merely_hold_such_letters_are_not(name):
    assert not is_protected(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "id",
            "ID",
            "customer_id",
            "customerId",
            "customerid",
            "officer",
            "loan_officer",
            "Employer",
            "employer_name",
        ),
        *("patient_no", "account number", "school code", "SSN", "nr", "hospital", "case_uuid"),
    ],
)
def test_persons_and_firms_are_known_by_name(name):
    assert is_member(name)


@pytest.mark.parametrize(
    "name",
    ["paid", "valid", "company_size", "n_customers", "number_of_patients", "zip", "income", "name", "number", ""],
)
def test_sizes_and_counts_are_no_persons(name):
    assert not is_member(name)


def test_identifiers_and_numberings_are_told_apart():
    assert all(map(is_identifier, ("id", "loan_id", "userId", "personid", "ssn")))
    assert not any(map(is_identifier, ("paid", "covid", "grid", "number", "")))
    assert all(map(is_numbering, ("case_no", "number", "rownames")))
    assert not any(map(is_numbering, ("income", "")))


SWAPPED = (
    ("loan", "denied", "approved"),
    ("loan", "Not approved", "Approved"),
    ("status", "Charged Off - default", "Fully Paid"),
    ("credit", "bad", "good"),
    ("approved", "0", "1"),
    ("approved", "False", "True"),
    ("hired", "no", "yes"),
    ("outcome", "no", "yes"),
    ("default", "1", "0"),
    ("two_year_recid", "1.0", "0.0"),
    ("not_hired", "yes", "no"),
    ("decision", "rejected", "other"),
)
FITTING = (
    ("loan", "approved", "denied"),
    ("credit", "good", "bad"),
    ("Two_yr_Recidivism", "0", "1"),
    ("default", "no", "yes"),
    ("recid", "No recidivism", "recidivism"),
    ("approved", "1", "0"),
    ("target", "0", "1"),
    ("target", "1", "0"),
    ("income", ">50K", "<=50K"),
    ("Class", "M", "R"),
    ("grade", "1", "2"),
)


@pytest.mark.parametrize(("column", "favourable", "unfavourable"), SWAPPED)
def test_a_favourable_value_that_sounds_unfavourable_looks_swapped(column, favourable, unfavourable):
    assert looks_swapped(column, favourable, unfavourable)
    assert not looks_swapped(column, unfavourable, favourable)


@pytest.mark.parametrize(("column", "favourable", "unfavourable"), FITTING)
def test_other_values_do_not(column, favourable, unfavourable):
    assert not looks_swapped(column, favourable, unfavourable)
