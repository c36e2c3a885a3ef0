"""Two nodes of a Ray cluster on this machine, bound to loopback, with token authentication; ended by their pids.

Ray replaces 127.0.0.1 by the address of the network's interface; other addresses of loopback it takes as they are.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.program import CHECKOUT

HEAD, OTHER = "127.0.0.2", "127.0.0.3"
RAY = str(Path(sys.executable).with_name("ray"))
_SIZE = ("--num-cpus", "1", "--object-store-memory", "100000000", "--resources", '{"browser": 1}')


class RayNodes:
    """A running cluster.

    Attributes:
        address: of its head.  environment: variables that every client needs.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self.address = f"{HEAD}:{port}"
        token = folder / "token"
        token.write_text(secrets.token_hex(32))
        token.chmod(0o600)
        self.environment = {
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        self._folder, self._port = folder, port
        self.nodes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        """Start the head, then the other node."""
        place = ("--temp-dir", str(self._folder), "--include-dashboard", "false")
        self._node(HEAD, "--head", "--port", str(self._port), *place)
        self._node(OTHER, "--address", self.address)

    def _node(self, ip: str, *options: str) -> None:
        """Start a node; Ray gives up after 30 s, which a busy machine may need, so that it is tried three times."""
        for attempt in range(3):
            try:
                self._try_node(ip, *options)
                return
            except RuntimeError:
                self._end(self.nodes.pop())
                if attempt == 2:
                    raise

    def _try_node(self, ip: str, *options: str) -> None:
        # Named ports: a raylet waits no more than 15 s for its agents to tell the ones they found themselves.
        names = ("dashboard-agent-listen", "dashboard-agent-grpc", "runtime-env-agent", "metrics-export")
        ports = [f"--{name}-port={free_port(ip)}" for name in names]
        log = (self._folder / f"node-{len(self.nodes)}.log").open("wb")
        with log:
            node = subprocess.Popen(
                [RAY, "start", "--block", "--node-ip-address", ip, *_SIZE, *ports, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **self.environment},
                cwd=CHECKOUT,
                start_new_session=True,
            )
        self.nodes.append(node)
        until = time.monotonic() + 120
        while b"Ray runtime started" not in Path(log.name).read_bytes():
            if node.poll() is not None or time.monotonic() > until:
                raise RuntimeError(Path(log.name).read_text()[-2000:])
            time.sleep(0.1)

    def stop(self) -> None:
        """End both nodes and what they started."""
        for node in reversed(self.nodes):
            self._end(node)

    def _end(self, node: subprocess.Popen[bytes]) -> None:
        with suppress(ProcessLookupError):
            node.terminate()
        with suppress(subprocess.TimeoutExpired):
            node.wait(30)
        with suppress(ProcessLookupError):
            os.killpg(node.pid, signal.SIGKILL)
        node.wait()


def free_port(ip: str) -> int:
    """Return a port of this address that nobody listens on."""
    with socket.socket() as found:
        found.bind((ip, 0))
        return int(found.getsockname()[1])


@contextmanager
def ray_nodes() -> Iterator[RayNodes]:
    """A running cluster of two nodes with room for one browser each."""
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        nodes = RayNodes(Path(folder), free_port(HEAD))
        try:
            nodes.start()
            yield nodes
        finally:
            nodes.stop()
