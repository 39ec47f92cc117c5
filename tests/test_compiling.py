"""Interrupts from the keyboard that arrive while compiled code runs."""

import os
import signal
import threading

import numpy as np
import pytest

from fairenum.compiling import entry


@entry()
def slow_vectors(rounds):
    total = np.zeros(3)
    for i in range(rounds):
        total[i % 3] += 0.5 * i
    return 1.0, total, total.copy(), total.copy()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_in_compiled_code_stays_an_interrupt():
    slow_vectors(1)  # compile
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        slow_vectors(1_000_000_000)
    timer.join()
