# SPDX-License-Identifier: MIT OR Apache-2.0
"""One TCP flow: `flow.py receive`, and `flow.py send ADDRESS SECONDS`, which prints what `ss` says
of the flow at its end. Every byte is checked by the receiver."""
import socket
import subprocess
import sys
import time

PORT = 5001
PIECE = bytes(range(256)) * 256


def receive():
    with socket.create_server(("0.0.0.0", PORT)) as server:
        flow, _ = server.accept()
        place = 0
        with flow:
            while got := flow.recv(1 << 16):
                at = place % len(PIECE)
                if (PIECE + PIECE)[at : at + len(got)] != got:
                    sys.exit(f"other bytes than were sent, after {place}")
                place += len(got)
    print(place, "bytes")


def send(address, seconds):
    for _ in range(50):
        try:
            flow = socket.socket()
            # One that halves its window for ECN, whatever this machine's default is.
            flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
            flow.connect((address, PORT))
            break
        except OSError:
            flow.close()
            time.sleep(0.1)
    else:
        sys.exit("no connection")
    end = time.monotonic() + seconds
    sent = 0
    while time.monotonic() < end:
        flow.sendall(PIECE)
        sent += len(PIECE)
    said = subprocess.run(["ss", "-tinH", "dport", "=", f":{PORT}"], capture_output=True, text=True)
    words = said.stdout.split()
    flow.shutdown(socket.SHUT_WR)
    flow.recv(1)
    keep = ("cubic", "ecn", "ecnseen", "rtt", "cwnd", "ssthresh", "retrans", "delivered_ce")
    print(sent, "bytes; ss:", " ".join(w for w in words if w.split(":")[0] in keep))


if sys.argv[1:2] == ["receive"]:
    receive()
else:
    send(sys.argv[2], float(sys.argv[3]))
