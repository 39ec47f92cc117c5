"""Entry point of ``python -m fairenum``; it imports little, so that Ctrl-C is handled from the start."""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line, and exit with its code; Ctrl-C shows no traceback, even during imports or at exit."""
    try:
        from fairenum.cli import main as run

        code = run()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all output is written
    except KeyboardInterrupt:
        os.write(2, b"interrupted\n")
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
