"""The options of a saved run, so that they ask for the same audit of its table again."""

from __future__ import annotations

from fairenum.auditing.dividing import divided
from fairenum.auditing.training import Training
from fairenum.auditing.weighting import train_machine
from fairenum.dataset import Dataset
from fairenum.document.audit import AuditDocument
from fairenum.document.audit_config import AuditConfig
from fairenum.errors import ResultError
from fairenum.experiment import Division
from fairenum.progress import silent
from fairenum.threads import one_thread


@one_thread()
def retrained(saved: AuditDocument, dataset: Dataset) -> tuple[Division, Training]:
    """Divide the table of a saved run as it was divided, and train its machine again; nothing else is asked for."""
    config = saved.config.but(guards=("none",))
    division = divided(dataset, config)
    return division, train_machine(division, config, silent)[0]


def config_of(saved: AuditDocument) -> AuditConfig:
    """Return the options that a saved run was made with; refuse one whose model in use is not at hand."""
    # a run that names no guardrail was made before there were any
    config = saved.config.but(guards=saved.config.guards or ("none",))
    if saved.incumbent is None:  # the card of a bundled table may have come to name one since
        return config.but(reading=config.reading.without_incumbent())
    if saved.incumbent.source == "model" and config.reading.incumbent_model is None:
        raise ResultError(
            "the model in use was given to this run in Python, and a saved run does not hold it; make a new run with "
            "export() there"
        )
    return config
