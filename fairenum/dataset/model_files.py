"""Model files: which kinds are read, and which are not as they would run code."""

from __future__ import annotations

from pathlib import Path

from fairenum.errors import ModelFileRefused

SKOPS, ONNX = ".skops", ".onnx"
PICKLES = (".pkl", ".pickle", ".joblib", ".p", ".pck", ".dill", ".cloudpickle")
LARGEST = 2**30
DECISIONS = "give its decisions as a column of the table, with incumbent=... (--incumbent COLUMN)"


def kind_of_file(path: Path) -> str:
    """Say by its suffix what a model file is, once it is sure that it is one that may be read."""
    suffix = path.suffix.lower()
    if suffix in PICKLES:
        raise ModelFileRefused(
            f"{path.name!r} is a pickle by its name, and whoever wrote a pickle can have any code run when it is "
            f"loaded, so it was not opened; save the model with skops.io.dump or as ONNX, or {DECISIONS}"
        )
    if suffix not in (SKOPS, ONNX):
        raise ModelFileRefused(
            f"{path.name!r} has the suffix {suffix!r}, and models are read from {SKOPS} and {ONNX} files; save the "
            f"model as one of them, or {DECISIONS}"
        )
    if not path.is_file():
        raise ModelFileRefused(f"{str(path)!r} is {'a directory' if path.is_dir() else 'not there'}; name a model file")
    return suffix


def read_content(path: Path) -> bytes:
    """Read a model file once, so that what is checked is what is loaded."""
    try:
        if path.stat().st_size > LARGEST:
            raise too_large(path)
        return path.read_bytes()
    except OSError as error:
        raise ModelFileRefused(f"cannot read {str(path)!r}: {error.strerror}") from error


def too_large(path: Path) -> ModelFileRefused:
    """Say that a file is, or would unpack to, more than is read here."""
    return ModelFileRefused(f"{path.name!r} holds more than {LARGEST} bytes, the most that is read; {DECISIONS}")
