"""The way into the program, so light that Ctrl-C finds it ready at once."""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line; an interrupt while it is still loading, or already ending, is no traceback either."""
    try:
        from fairenum.cli import main as run

        code = run()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said and done
    except KeyboardInterrupt:
        os.write(2, b"interrupted\n")
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
