"""What to do about a machine that decides nothing."""

from __future__ import annotations

from collections.abc import Iterator

from fairenum.document.audit import AuditDocument


def remedies(document: AuditDocument) -> Iterator[str]:
    """Say in one sentence what to try if model 1 decides all rows alike."""
    if not document.first.is_constant:
        return
    machine, asked = document.config.machine, document.requested
    untried = {
        "class_weight='balanced' (--class-weight balanced)": machine.class_weight == "none",
        "C='auto' (--C auto)": asked.C != "auto",
        "kernel='rbf' (--kernel rbf)": machine.kernel == "linear",
        "decide='base-rate' (--decide base-rate)": asked.decide == "sign",
    }
    options = [name for name, is_untried in untried.items() if is_untried]
    yield (
        "Model 1 decides all rows of the selection split alike: try "
        f"{', '.join([*options, 'more rows'])}, or columns that tell the two labels apart."
    )
