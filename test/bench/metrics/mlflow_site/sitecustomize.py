"""Loaded by Python itself at the start of each process of MLflow's server.

The server's sockets come to asyncio without a protocol number, so asyncio does not turn their delay off, and a client that
asks one thing after another waits 40 ms for each answer. That is a matter of the machine and not of its store, so it is
turned off here.
"""

import asyncio.base_events
import asyncio.selector_events
import socket


def _set_nodelay(sock):
    if sock.family in (socket.AF_INET, socket.AF_INET6) and sock.type == socket.SOCK_STREAM:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


asyncio.base_events._set_nodelay = _set_nodelay
