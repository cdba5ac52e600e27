# SPDX-License-Identifier: MIT OR Apache-2.0
"""A Ray cluster of two nodes on this machine, for tests and for the proof.

`python ray_cluster.py POINTS` sweeps that many points on it while one worker process is killed and
then one node, and compares the run with that of one machine. Where the system allows it, the
cluster is in a namespace of its own: it reaches nothing but itself, and all its processes end with
the program that started it, whatever ends that."""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import logging
import os
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cemark
from cemark import _ray

INSIDE = "CEMARK_RAY_INSIDE"
ALONE = "unshare --user --map-root-user --net --pid --fork --kill-child --mount-proc".split()


def inside(words: list[str]) -> list[str]:
    """A command line that runs in a namespace of its own, if the system allows one."""
    tool = shutil.which("unshare")
    if tool is None or subprocess.run([*ALONE, "true"], capture_output=True).returncode != 0:
        return words
    return [*ALONE, "env", f"{INSIDE}=1", *words]


def _loopback_up() -> None:
    """What `ip link set lo up` does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        up = struct.pack("16sh", b"lo", 0x1 | 0x40)  # IFF_UP, IFF_RUNNING
        fcntl.ioctl(s, 0x8914, up)  # SIOCSIFFLAGS


class Nodes:
    """The cluster: this process is its driver."""

    def __init__(self, cluster: Any, second: Any) -> None:
        self.cluster = cluster
        self._second = second

    def workers(self) -> list[int]:
        """Processes that run a point at present, of raylets that this process has started."""
        raylets = {
            info.process.pid
            for node in self.cluster.list_all_nodes()
            for name, infos in node.all_processes.items()
            if name == "raylet"
            for info in infos
        }
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                name, _, rest = stat.read_text().rpartition(")")
                busy = (stat.parent / "cmdline").read_bytes().startswith(b"ray::point")
                if busy and int(rest.split()[1]) in raylets:
                    found.append(int(name.split()[0]))
        return found

    def kill_worker(self) -> bool:
        """Kills a process that runs a point; false if there is none at present."""
        for pid in self.workers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                return True
        return False

    def kill_head(self) -> None:
        """Kills the head with all its processes, the one that knows the cluster among them."""
        self.cluster.remove_node(self.cluster.head_node, allow_graceful=False)

    def kill_node(self) -> None:
        """Kills the second node with all its workers."""
        self.cluster.remove_node(self._second, allow_graceful=False)


@contextlib.contextmanager
def two_nodes(
    cores: int = 2, memory: int = 256 << 20, joins: bool = True
) -> Iterator[Nodes]:
    """Two nodes with this number of cores each. They are gone afterwards. A process that joins
    them ends with their head."""
    if os.environ.get(INSIDE):
        _loopback_up()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray.cluster_utils import Cluster

    # Ray's sockets are below it, and their paths have to be short.
    folder = tempfile.mkdtemp(prefix="cr-", dir="/tmp")
    # The file with the cluster's address, which `address="auto"` reads, is in a folder `ray` that
    # a cluster of this kind expects to find.
    before = os.environ.get("RAY_TMPDIR")
    os.environ["RAY_TMPDIR"] = folder
    os.mkdir(f"{folder}/ray")
    one = {"num_cpus": cores, "memory": memory, "object_store_memory": 80 << 20}
    head = {**one, "include_dashboard": False, "temp_dir": folder}
    cluster = None
    try:
        cluster = Cluster(initialize_head=True, head_node_args=head)
        second = cluster.add_node(**one)
        cluster.wait_for_nodes()
        if joins:
            ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
        yield Nodes(cluster, second)
    finally:
        ray.shutdown()
        if cluster is not None:
            cluster.shutdown()
        if before is None:
            del os.environ["RAY_TMPDIR"]
        else:
            os.environ["RAY_TMPDIR"] = before
        shutil.rmtree(folder, ignore_errors=True)


def plan(points: int, flows: int = 10) -> dict[str, Any]:
    """A scenario of this many tiny points: two schemes, five loads, seeds."""
    return {
        "title": "A star of four hosts",
        "topology": {"kind": "star", "hosts": 4, "rate": "10Gbps"},
        "workload": [{"kind": "poisson", "sizes": "web-search", "load": 0.5, "flows": flows}],
        "scheme": [
            {"marker": "threshold", "k": "100KB"},
            {"marker": "ecn_sharp", "ins_target": "60us", "pst_target": "10us"},
        ],
        "sweep": {"workload.load": [0.1, 0.3, 0.5, 0.7, 0.9]},
        "seeds": list(range(1, points // 10 + 1)),
    }


def without_cost(run: cemark.Run) -> dict[str, Any]:
    """The summary without what differs between two runs of the same."""
    summary = run.summary
    summary.pop("cost")
    for point in summary["points"]:
        point.pop("cpu_seconds", None)
    return summary


def _cpu() -> float:
    """CPU seconds of this process, which hands out points and stores them."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _timed(work: Any) -> tuple[Any, float, float]:
    """What it returns, the seconds it took and the CPU seconds of this process."""
    wall, cpu = time.monotonic(), _cpu()
    result = work()
    return result, time.monotonic() - wall, _cpu() - cpu


def _kill(nodes: Nodes, folder: Path, points: int, done: threading.Event) -> list[str]:
    """Kills a worker after a quarter of the points, and a node after half of them."""
    said: list[str] = []

    def kept() -> int:
        return len(list(folder.glob("points/????????????????.parquet")))

    while not done.is_set() and kept() < points // 4:
        time.sleep(0.002)
    while not done.is_set() and not nodes.kill_worker():
        pass
    said.append(f"a worker was killed with {kept()} of {points} points finished")
    while not done.is_set() and kept() < points // 2:
        time.sleep(0.002)
    nodes.kill_node()
    said.append(f"a node was killed with {kept()} of {points} points finished")
    return said if not done.is_set() else []


def _more() -> None:
    """What else a cluster has to do as one machine does."""
    # Replications are added by the same rule.
    asked = {"set": {"workload.load": [0.3, 0.9]}, "precision": 0.2, "progress": False}
    here = cemark.sweep(plan(10), out="p1", **asked)
    there = cemark.sweep(plan(10), on="ray", out="p2", **asked)
    assert without_cost(here) == without_cost(there)
    print(f"with a stated precision: {len(there.summary['points'])} points, the same digest")

    # What a store has is not simulated again; the rest is.
    url = f"file://{os.getcwd()}/store"
    cemark.sweep(plan(20), on="ray", out=url, progress=False)
    Path("runs").rename("old")
    points = sorted(Path("store/points").iterdir())
    for point in points[:5]:
        point.unlink()
    run = cemark.sweep(plan(20), on="ray", out=url, progress=False)
    assert run.summary["cost"]["resumed"] == 15
    assert sorted(Path("store/points").iterdir()) == points
    assert run.digest == cemark.sweep(plan(20), out="two", progress=False).digest
    print("of 20 points in a store 5 were lost, and 5 simulated again")

    # The shell.
    Path("s.toml").write_text(cemark.Scenario(plan(20)).text)
    import ray

    address = ray.get_runtime_context().gcs_address
    words = [sys.executable, "-m", "cemark", "sweep", "s.toml", "--ray", "--address", address]
    words += ["--quiet", "--format", "json", "--out", f"file://{os.getcwd()}/shell"]
    said = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout)["digest"] == run.digest
    assert Path("shell/report.html").exists() and len(list(Path("shell/points").iterdir())) == 20
    print("cemark sweep --ray: the same digest")

    # A point that fits on no node is refused at once. A failure on a node says what it is.
    large = {**plan(10), "topology": {"kind": "fat-tree", "k": 36, "rate": "10Gbps"}}
    try:
        cemark.sweep(large, on="ray", seeds=1, out="large", progress=False)
    except cemark.UserError as e:
        assert "largest node" in str(e), e
        print(f"refused: {e.message}")
    else:
        raise AssertionError("it was not refused")


def _own_marker() -> None:
    """The nodes get a marker's file with the plan: the file is gone before the first point."""
    subprocess.run([sys.executable, "-m", "cemark", "init", "mine.c"], check=True)
    made = cemark.compile_marker("mine.c")
    asked: dict[str, Any] = {"set": {"scheme.mine.low": ["20pkt", "40pkt"]}, "seeds": 2}
    asked |= {"markers": {"mine": made}, "progress": False}
    star = plan(10)
    del star["sweep"]
    here = cemark.sweep(star, out="mine", **asked)
    serve = _ray.Cluster.serve

    class Once:
        """Points to hand out; the file goes when the cluster has it."""

        def __init__(self, handed: Any) -> None:
            self._handed = handed

        def spec(self) -> Any:
            sent = self._handed.spec()
            made.path.unlink(missing_ok=True)
            return sent

        def __getattr__(self, name: str) -> Any:
            return getattr(self._handed, name)

    def without_file(cluster: _ray.Cluster, handed: Any, *rest: Any) -> None:
        serve(cluster, Once(handed), *rest)  # type: ignore[arg-type]

    _ray.Cluster.serve = without_file  # type: ignore[method-assign]
    try:
        there = cemark.sweep(star, on="ray", out="mine-on-ray", **asked)
    finally:
        _ray.Cluster.serve = serve  # type: ignore[method-assign]
    assert not made.path.exists()
    assert without_cost(here) == without_cost(there)
    marked = [p["marks"] for p in there.summary["points"] if p["scheme"] == "mine"]
    assert len(marked) == 4 and sum(marked) > 0, marked

    class Mine(cemark.Marker):
        """Marks nothing."""

        def enqueue(self, at: cemark.At) -> bool:
            return False

    try:
        cemark.sweep(star, on="ray", out="class", **{**asked, "markers": {"mine": Mine}})
    except cemark.UserError as e:
        assert "in C: a file is sent" in str(e), e
    else:
        raise AssertionError("a class was sent")
    print(f"a marker of one's own: {len(marked)} points on nodes that got its file")


def _lose_head(points: int) -> None:
    """A sweep whose cluster loses its head ends with an error and keeps the finished points; the
    same command on another cluster simulates the others."""
    Path("h.toml").write_text(cemark.Scenario(plan(points, flows=500)).text)
    kept = Path("head/points")
    words = [sys.executable, "-m", "cemark", "sweep", "h.toml", "--ray", "--out", "head"]
    words += ["--quiet", "--format", "json", "--address"]

    def finished() -> int:
        return len(list(kept.glob("????????????????.parquet")))

    with two_nodes(joins=False) as nodes:
        with subprocess.Popen(
            [*words, nodes.cluster.address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as sweep:
            began = time.monotonic()
            while finished() < points // 4 and sweep.poll() is None:
                assert time.monotonic() - began < 300, "no point was finished in five minutes"
                time.sleep(0.01)
            nodes.kill_head()
            lost = time.monotonic()
            try:
                _, said = sweep.communicate(timeout=240)
            except subprocess.TimeoutExpired:
                sweep.kill()
                raise AssertionError("the sweep waits for a cluster that is gone") from None
    assert sweep.returncode not in (0, 2), (sweep.returncode, said)
    before = finished()
    assert points // 4 <= before < points, before
    ended = time.monotonic() - lost
    print(f"the head was killed: exit code {sweep.returncode} after {ended:.0f} s")
    with two_nodes(joins=False) as nodes:
        again = subprocess.run(
            [*words, nodes.cluster.address], capture_output=True, text=True, timeout=240
        )
        assert again.returncode == 0, again.stderr
        answer = json.loads(again.stdout)
    assert answer["cost"]["resumed"] == before, (answer["cost"], before)
    one = cemark.sweep(plan(points, flows=500), out="headless", progress=False)
    assert answer["digest"] == one.digest
    print(f"on another cluster {before} of {points} points were there: the digest of one machine")


def main() -> None:
    """The test itself; prints what it finds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("points", type=int)
    parser.add_argument("--more", action="store_true", help="precision, stores, refusals as well")
    parser.add_argument("--head", action="store_true", help="lose the head instead of a node")
    parser.add_argument("--alone", action="store_true", help="in a namespace, where possible")
    asked = parser.parse_args()
    if asked.alone and not os.environ.get(INSIDE):
        sys.exit(subprocess.run(inside([sys.executable, *sys.argv]), check=False).returncode)
    points: int = asked.points
    folder = tempfile.TemporaryDirectory(prefix="cemark-ray-")
    os.chdir(folder.name)
    if asked.head:
        _lose_head(points)
        folder.cleanup()
        return
    with two_nodes() as nodes:
        if asked.more:
            _more()
            _own_marker()
        one, alone, _ = _timed(lambda: cemark.sweep(plan(points), out="one", progress=False))
        assert len(one.summary["points"]) == points

        # Workers start, import the package and expand the plan before anything is measured.
        cemark.sweep(plan(points), on="ray", seeds=2, out="warm", progress=False)
        again, wall, cpu = _timed(
            lambda: cemark.sweep(plan(points), on="ray", out="whole", progress=False)
        )
        assert again.digest == one.digest
        simulated = sum(p["cpu_seconds"] for p in again.summary["points"])
        print(
            f"{points} points on 2 nodes with 2 cores each, on this machine's {os.cpu_count()}: "
            f"{wall:.2f} s, of which {simulated:.2f} CPU seconds simulate\n"
            f"on threads of one process: {alone:.2f} s\n"
            f"a point: {1e3 * wall / points:.2f} ms of time with everything in it, "
            f"{1e3 * (wall - alone) / points:.2f} ms more than on threads\n"
            f"the process that hands out and stores: {1e3 * cpu / points:.2f} CPU ms a point\n"
            f"an estimate from that: it keeps 1,000 cores busy if a point takes "
            f"{1000 * cpu / points:.1f} CPU seconds or more"
        )
        # Times are asserted in the proof only, and only processor time: this machine may be busy.
        assert asked.more or cpu / points < 0.010, "handing out and storing a point takes 10 ms"

        done, said = threading.Event(), []
        killer = threading.Thread(
            target=lambda: said.extend(_kill(nodes, Path("killed"), points, done))
        )
        killer.start()
        try:
            run = cemark.sweep(plan(points), on="ray", out="killed", progress=False)
        finally:
            done.set()
            killer.join()
        assert len(said) == 2, "the points were finished before something could be killed"
        print("\n".join(said))
        assert run.digest == one.digest, (run.digest, one.digest)
        assert without_cost(run) == without_cost(one)
        files = sorted(p.name for p in Path("killed/points").iterdir())
        assert files == sorted(p.name for p in Path("one/points").iterdir())
        assert len(files) == len(run.summary["points"]) == points
        print(f"{len(files)} points, each once; digest {run.digest}, that of one machine")
    folder.cleanup()


if __name__ == "__main__":
    main()
