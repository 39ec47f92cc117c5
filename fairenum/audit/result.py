"""The result of an audit: one JSON document, and in a live run the models themselves."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from fairenum.errors import ResultError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sklearn.pipeline import Pipeline

SCHEMA_VERSION = "1.0"


class Live(Protocol):
    """What a run still holds of its rows and models, and a saved document does not."""

    def estimator(self, rank: int) -> Pipeline:
        """Build the scikit-learn pipeline of a model."""


@dataclass(frozen=True, slots=True, eq=False)
class AuditResult:
    """What an audit found.

    Parameters
    ----------
    document
        Everything, as plain values that `schema` describes.
    live
        The models themselves, where the result was computed here and not loaded.
    """

    document: dict[str, Any]
    live: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        dataset, models = self.document["dataset"]["name"], len(self.document["models"])
        return f"AuditResult({dataset!r}, models={models}, selected={self.document['selection']['rank']})"

    def _repr_html_(self) -> str:
        # how results are drawn is known above; the package finds it by name, as it finds all its public functions
        import fairenum

        render = cast("Callable[[dict[str, Any]], str]", fairenum.to_notebook)
        return render(self.document)

    @property
    def selected(self) -> dict[str, Any] | None:
        """The block of the selected model; None if every model is constant."""
        rank = self.document["selection"]["rank"]
        return None if rank is None else self.model(rank)

    @property
    def is_partial(self) -> bool:
        """Whether the enumeration was interrupted."""
        return bool(self.document["status"] == "interrupted")

    @property
    def warnings(self) -> list[dict[str, str]]:
        """What to beware of, as code and message."""
        return list(self.document["warnings"])

    def model(self, rank: int) -> dict[str, Any]:
        """Return the block of one model."""
        models: list[dict[str, Any]] = self.document["models"]
        if not 1 <= rank <= len(models):
            raise ResultError(f"the result has no model of rank {rank}; its ranks are 1 to {len(models)}")
        return models[rank - 1]

    def estimator(self, rank: int) -> Pipeline:
        """Build the fitted scikit-learn pipeline of one model: preprocessing and classifier."""
        self.model(rank)
        if self.live is None:
            raise ResultError("a saved result holds no models, only their scores; run the audit again to export one")
        pipeline: Pipeline = self.live.estimator(rank)
        return pipeline

    @property
    def selected_estimator(self) -> Pipeline:
        """The fitted scikit-learn pipeline of the selected model."""
        return self.estimator(self._chosen(None))

    def export(self, path: str | Path, rank: int | None = None) -> None:
        """Write the pipeline of a model, the selected one by default, to a skops file."""
        from skops.io import dumps

        write_atomically(path, dumps(self.estimator(self._chosen(rank))))

    def _chosen(self, rank: int | None) -> int:
        rank = self.document["selection"]["rank"] if rank is None else rank
        if rank is None:
            raise ResultError(f"no model was selected: {self.document['selection']['reason']}; name a rank")
        return rank

    def redacted(self) -> Self:
        """Leave out what the document holds of single training rows: their numbers, labels, groups and values."""
        models = [{**model, "left_out": _counted(model["left_out"])} for model in self.document["models"]]
        explanation = self.document["explanation"]
        if explanation:
            core = {**explanation["core"], "left_out": _counted(explanation["core"]["left_out"])}
            explanation = {**explanation, "clusters": [], "core": core}
        redacted = {"is_redacted": True, "models": models, "examples": [], "explanation": explanation}
        return type(self)({**self.document, **redacted}, self.live)

    def to_json(self) -> str:
        """Write the document as text: the same for the same input and seed, but for its timings."""
        return json.dumps(self.document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the document to a file, whole or not at all."""
        write_atomically(path, self.to_json().encode())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a saved document, and refuse one that is not what `schema` describes."""
        try:
            document = json.loads(Path(path).read_bytes())
        except OSError as error:
            raise ResultError(f"cannot read {str(path)!r}: {error.strerror}") from error
        except ValueError as error:
            raise ResultError(f"{str(path)!r} is no JSON: {error}") from error
        check(document, str(path))
        return cls(document)


def _counted(left_out: list[dict[str, Any]]) -> list[dict[str, int]]:
    """Keep of left-out examples how many copies there are."""
    return [{"copies": entry["copies"], "of": entry["of"]} for entry in left_out]


@cache
def schema() -> dict[str, Any]:
    """Read the JSON Schema of the document."""
    text = (files("fairenum") / "schema" / "audit-1.json").read_text(encoding="utf-8")
    described: dict[str, Any] = json.loads(text)
    return described


def check(document: object, name: str) -> None:
    """Refuse a document that this version cannot read."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    version = document.get("schema_version") if isinstance(document, dict) else None
    if version is None:
        raise ResultError(f"{name!r} is no audit: it has no schema_version; make one with: fairenum audit DATA")
    if version != SCHEMA_VERSION:
        raise ResultError(f"{name!r} has schema version {version!r}, this fairenum reads {SCHEMA_VERSION!r}")
    if error := best_match(Draft202012Validator(schema()).iter_errors(document)):
        raise ResultError(f"{name!r} is no valid audit: at {error.json_path}, {error.message:.200}")


def write_atomically(path: str | Path, content: bytes) -> None:
    """Write a file beside its place and move it there, so that an old one survives a crash."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise ResultError(f"cannot write {str(path)!r}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o666 & ~_umask())  # a temporary file is private; a result is like any other file
        os.replace(temporary, target)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise ResultError(f"cannot write {str(path)!r}: {error.strerror}") from error
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
