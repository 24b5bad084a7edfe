"""Runs a command for as long as this process is there: `python -m views.live.owner COMMAND ...`.

Who starts it keeps its standard input open. When that is closed, as it is when the starter has been killed, the command
is asked to end; and what ends this process by a signal ends the command as well.
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
