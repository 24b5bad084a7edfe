"""A network between two programs: what comes to a port of this process goes on to another, unless a gate hinders it."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

from tests.cluster.matrix.gates import REFUSE, Gates


class Proxy:
    """Listens on `port`, and goes on as the gate `name` says: at once, slowly, later, or not at all."""

    def __init__(self, gates: Gates, name: str, to: tuple[str, int]) -> None:
        self._gates, self._name, self._to = gates, name, to
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._door.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._door.accept()
                threading.Thread(target=self._connect, args=(near,), daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        if self._gates.passes(self._name) == REFUSE:
            near.close()
            return
        try:
            far = socket.create_connection(self._to)
        except OSError:
            near.close()
            return
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while (data := one.recv(2**16)) and self._gates.passes(self._name) != REFUSE:
                other.sendall(data)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
