"""Dependencies and builds: lock files, lower bounds, workflows, and reproducible distributions."""

import hashlib
import json
import os
import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BOUNDS = runpy.run_path(str(ROOT / ".ci" / "bounds.py"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
RUN = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
LOCKS = ("dev", "program")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def entries(lock: str) -> list[tuple[Requirement, list[str]]]:
    """Read a lock file: every requirement with its hashes."""
    text = (ROOT / ".ci" / "lock" / f"{lock}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    found = []
    for line in text.splitlines():
        requirement, *hashes = re.split(r"\s+(?=--)", line.strip())
        found.append((Requirement(requirement), hashes))
    return found


def asked_for(lock: str) -> list[Requirement]:
    """Return the requirements that a lock file is made for."""
    if lock == "program":
        return [Requirement(text) for text in PROJECT["project"]["dependencies"]]
    return list(BOUNDS["requirements"]())


@pytest.mark.parametrize("lock", LOCKS)
def test_every_file_is_named_by_version_and_hash_and_nothing_else(lock):
    found = entries(lock)
    assert len(found) > 30
    for requirement, hashes in found:
        (clause,) = requirement.specifier
        assert clause.operator == "==", requirement
        assert hashes, requirement
        assert all(map(HASH.fullmatch, hashes)), requirement
        assert requirement.url is None


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_file_names_a_host_or_a_folder(lock):
    text = (ROOT / ".ci" / "lock" / f"{lock}.txt").read_text(encoding="utf-8")
    assert not re.search(r"://|/|@|index-url|find-links|#", text)


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("python", ["3.11.0", "3.12.0", "3.13.0"])
def test_everything_that_is_asked_for_is_locked_once_within_its_bounds(lock, python):
    here = {**default_environment(), "python_version": python[:4], "python_full_version": python}
    locked = {}
    for requirement, _ in entries(lock):
        if requirement.marker is None or requirement.marker.evaluate(here):
            (clause,) = requirement.specifier
            assert canonicalize_name(requirement.name) not in locked
            locked[canonicalize_name(requirement.name)] = clause.version
    for requirement in asked_for(lock):
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)]), requirement


def test_both_lock_files_name_the_same_versions():
    program, dev = ({(one.name, str(one.specifier)) for one, _ in entries(lock)} for lock in reversed(LOCKS))
    assert program < dev


def test_every_dependency_has_a_lower_bound_and_none_another():
    bounds = {requirement.name: BOUNDS["lower_bound"](requirement) for requirement in BOUNDS["requirements"]()}
    assert {"numpy", "pyarrow", "pytest"} < {*bounds}
    (backend,) = map(Requirement, PROJECT["build-system"]["requires"])
    assert BOUNDS["lower_bound"](backend) == bounds[backend.name]
    with pytest.raises(ValueError, match="numpy<3 has no lower bound"):
        BOUNDS["lower_bound"](Requirement("numpy<3"))


def test_a_bound_that_the_environment_does_not_hold_is_told():
    told = subprocess.run(
        [sys.executable, ROOT / ".ci" / "bounds.py", "lowest"], capture_output=True, text=True, check=False
    )
    at_its_bound = "gets" not in told.stderr
    assert told.returncode == (0 if at_its_bound else 1)
    assert all(
        re.fullmatch(r"\S+>=\S+ gets \S+ when .*; make that the bound", line) for line in told.stderr.splitlines()
    )


def test_what_a_landing_installs_is_locked():
    installs = [line for line in (MAKEFILE + RUN).splitlines() if re.search(r"pip install|^install --", line)]
    of_files = [line for line in installs if "--requirement" in line]
    assert [re.search(r"lock/(\w+)", line)[1] for line in of_files] == list(LOCKS)
    assert all("--require-hashes --only-binary :all:" in line for line in of_files)
    assert "build --no-isolation" in RUN
    assert "install --no-deps" in RUN


def test_the_workflow_runs_what_there_is_with_few_rights_and_pinned_actions():
    jobs = WORKFLOW["jobs"]
    versions = jobs["versions"]["strategy"]["matrix"]["versions"]
    assert WORKFLOW["permissions"] == {"contents": "read"}
    steps = [step for job in jobs.values() for step in job["steps"]]
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"]) for step in steps if "uses" in step)
    scripts = {step["run"] for step in steps if "run" in step}
    assert scripts == {".ci/run", 'make "test-$VERSIONS"', "make advisories"}
    for target in ("advisories", *(f"test-{name}" for name in versions)):
        assert re.search(rf"^(test-\w+ )*{target}( test-\w+)*:", MAKEFILE, re.MULTILINE)
    assert "test-lowest: RESOLUTION = lowest-direct" in MAKEFILE


SOUND = {"name": "numpy", "version": "2.4.6", "vulns": []}
FAULTY = {"name": "skops", "version": "0.13.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["0.14.0"]}]}
PASSED_OVER = {"name": "rich", "skip_reason": "Dependency not found"}


@pytest.mark.parametrize(
    ("packages", "code", "line"),
    [
        ([SOUND], 0, "1 packages looked up, 0 known faults"),
        ([SOUND, FAULTY], 1, "skops 0.13.0: PYSEC-1, mended in 0.14.0"),
        ([FAULTY, PASSED_OVER], 1, "not looked up: rich"),
        ([SOUND, PASSED_OVER], 2, "not looked up: rich"),
        (
            [PASSED_OVER, PASSED_OVER],
            2,
            "none of 2 packages was looked up: the service was not reached, so that nothing",
        ),
        (None, 2, "pip-audit gave no answer: its service was not reached, so that nothing is known"),
    ],
    ids=range(6),
)
def test_advisories_are_told_and_silence_is_no_all_clear(packages, code, line):
    told = runpy.run_path(str(ROOT / ".ci" / "advisories.py"))["told"]
    found, lines = told("" if packages is None else json.dumps({"dependencies": packages}))
    assert (found, any(text.startswith(line) for text in lines)) == (code, True)


def built(place: Path, folder: Path) -> dict[str, str]:
    """Build both distributions of a folder; return their digests."""
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        "sdist",
        "--target",
        "wheel",
        "--directory",
        place,
    ]
    subprocess.run(
        command, cwd=folder, env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}, check=True, capture_output=True
    )
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in place.iterdir()}


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    place = tmp_path_factory.mktemp("built")
    return place, built(place, ROOT)


def test_two_builds_are_the_same_bytes(distributions, tmp_path):
    """The second is built from the source distribution of the first: elsewhere, with other times and permissions."""
    place, first = distributions
    assert len(first) == 2
    with tarfile.open(next(place.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    for path in folder.rglob("*"):
        path.chmod(path.stat().st_mode & 0o700)
        os.utime(path, (1.8e9, 1.8e9))
    (folder / "PKG-INFO").unlink()
    assert built(tmp_path / "again", folder) == first


def test_the_source_distribution_holds_the_repository(distributions):
    """With it, anyone can run the tests and build the wheel."""
    place, _ = distributions
    with tarfile.open(next(place.glob("*.tar.gz"))) as archive:
        inside = {name.split("/", 1)[1] for name in archive.getnames()} - {"PKG-INFO"}
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone, so that nothing says what belongs to it")
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    assert inside == {name for name in listed if name and (ROOT / name).exists()}
    assert next(place.glob("*.tar.gz")).stat().st_size < 5 * 2**20


def test_a_wheel_holds_the_program_and_nothing_beside_it(distributions):
    place, _ = distributions
    top = {name.split("/")[0] for name in zipfile.ZipFile(next(place.glob("*.whl"))).namelist()}
    plugins = {path.name for path in (ROOT / "plugins").glob("*.py")}
    assert top == {"fairenum", f"fairenum-{PROJECT['project']['version']}.dist-info", *plugins}
