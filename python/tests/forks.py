"""Processes that have their imports behind them: copies of one that waits, as PyTorch takes its time.

``python forks.py SOCKET WORD…`` asks for one, gives it the words and its environment, and ends as it ends.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path


def serve(place: Path, work: Callable[..., None]) -> None:
    """For ever: a copy for each who asks, which calls ``work`` with the words."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{place}.new")
    listener.listen()
    os.rename(f"{place}.new", place)  # who finds it can connect
    while True:
        stream, _ = listener.accept()
        if os.fork():
            stream.close()
            continue
        with stream.makefile("rw") as asked:
            words, environment = json.loads(asked.readline())
            copy = os.fork()
            if copy == 0:
                os.environ.clear()
                os.environ.update(environment)
                work(*words)
                os._exit(0)
            asked.write(f"{os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])}\n")
        os._exit(0)


if __name__ == "__main__":
    with socket.socket(socket.AF_UNIX) as stream:
        stream.connect(sys.argv[1])
        with stream.makefile("rw") as server:
            server.write(json.dumps([sys.argv[2:], dict(os.environ)]) + "\n")
            server.flush()
            sys.exit(int(server.readline() or 1))
