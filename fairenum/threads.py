"""Linear algebra in one thread: several add up in another order, and on small matrices they wait for each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Loaded:
    """The linear algebra that is loaded by now, to be kept to one thread many times without looking for it again."""

    def __init__(self) -> None:
        import scipy.linalg  # noqa: F401 - as below
        from threadpoolctl import ThreadpoolController

        self._controller = ThreadpoolController()

    @contextmanager
    def one_thread(self) -> Iterator[None]:
        """Keep BLAS to one thread."""
        with self._controller.limit(limits=1):
            yield


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep BLAS to one thread, so that numbers are the same however many processors there are; also a decorator."""
    import scipy.linalg  # noqa: F401 - brings a BLAS of its own, and only one that is loaded can be told
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        yield
