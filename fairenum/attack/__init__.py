"""Simulated label flips: how fair the models of a table stay when some of its training labels are false."""

from fairenum.attack.simulation import Simulation, simulate
from fairenum.attack.strategies import list_strategies
from fairenum.document.attack_document import AttackConfig

__all__ = ["AttackConfig", "Simulation", "list_strategies", "simulate"]
