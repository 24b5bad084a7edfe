"""Run a command for as long as this process lives: `python -m views.live.owner COMMAND ...`.

The starter keeps the standard input open. It closes when the starter is killed; then the command is asked to end. A
signal that ends this process ends the command as well.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading


def main() -> int:
    """Run the command of the command line. Returns its exit status."""
    command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: command.terminate())

    def wait_for_the_end() -> None:
        sys.stdin.buffer.read()
        command.terminate()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    return command.wait()


if __name__ == "__main__":
    sys.exit(main())
