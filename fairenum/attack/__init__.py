"""Simulation of attacks that flip training labels, and measurement of how much less fair the models become."""

from fairenum.attack.simulation import Simulation, simulate
from fairenum.attack.strategies import list_strategies
from fairenum.document.attack_document import AttackConfig

__all__ = ["AttackConfig", "Simulation", "list_strategies", "simulate"]
