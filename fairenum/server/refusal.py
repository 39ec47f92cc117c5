"""Requests that are not done, whoever refuses them."""

from __future__ import annotations


class Refusal(Exception):
    """A request that is not done.

    Attributes
    ----------
    status
        As HTTP counts them.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    @classmethod
    def coded(cls, status: int, code: str) -> Refusal:
        """Refuse for one of the reasons that have words."""
        from fairenum.report.wording.exploration import REFUSALS  # not loaded before the page is served

        return cls(status, REFUSALS[code])
