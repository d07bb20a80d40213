"""Several clients of a phase begin at the same moment."""

import contextlib
import socket
import threading
from types import TracebackType

from kvstudy.stores.server import HOST

# How often the end of the block is looked for while clients are still missing, in s.
LOOK_SECONDS = 0.2


class Start:
    """Where so many ``clients`` meet: each says that it is ready, and all are let go at once.

    The other end is ``TogetherWorkload`` of the bindings. ``address`` is a port of ``host``
    while the block runs; who still waits when it ends is not let go.
    """

    def __init__(self, clients: int, host: str = HOST) -> None:
        self._clients = clients
        self._over = threading.Event()
        self._listening = socket.create_server((host, 0))
        self._listening.settimeout(LOOK_SECONDS)
        self._meeting = threading.Thread(target=self._meet, daemon=True)

    @property
    def address(self) -> str:
        host, port = self._listening.getsockname()
        return f"{host}:{port}"

    def __enter__(self) -> "Start":
        self._meeting.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._over.set()
        self._meeting.join()
        self._listening.close()

    def _meet(self) -> None:
        with contextlib.ExitStack() as clients:
            ready: list[socket.socket] = []
            while len(ready) < self._clients and not self._over.is_set():
                # Who dies meanwhile is missed by those who watch the processes.
                with contextlib.suppress(OSError):
                    client, _ = self._listening.accept()
                    clients.enter_context(client)
                    if client.recv(1):
                        ready.append(client)
            for client in ready if len(ready) == self._clients else []:
                with contextlib.suppress(OSError):
                    client.sendall(b"\x01")
