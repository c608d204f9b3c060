# SPDX-License-Identifier: GPL-2.0-or-later
"""Many small testers in one process, against the tester itself: python -m x25shark.load.simulation.

A cluster of Dask workers without processes of their own makes one open-loop load. What they count
together has to be what one would have counted: every call once, every message verified.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from ..number_range import NumberRange
from ..report.tell import tell
from .cluster import Cluster, told
from .engine import load_engine
from .measure import measure_control
from .options import LoadOptions


@click.command()
@click.option("--testers", type=click.IntRange(1, 1000), default=100, show_default=True)
@click.option("--rate", type=NumberRange(1), default=200.0, show_default=True)
@click.option("--calls", type=click.IntRange(1), default=1000, show_default=True)
def simulate(*, testers: int, rate: float, calls: int) -> None:
    """A load by many testers; status 1 if a call was lost or counted twice."""
    import distributed

    library: Any = distributed
    engine = load_engine()
    options = LoadOptions(
        circuits=4 * testers, calls=calls, duration=None, rate=rate, longest=512, timeout=60.0
    )
    workers = library.LocalCluster(
        n_workers=testers,
        threads_per_worker=1,
        processes=False,
        dashboard_address=None,
        silence_logs=50,
        memory_limit=0,
    )
    with workers, library.Client(workers) as client:
        cluster = Cluster(engine.module, client, "local", engine)
        done = measure_control(cluster, options)
    assert done.responder is not None
    caller, called = done.caller, done.responder
    counted = {
        "completed": caller["total"]["calls_completed"],
        "accepted": called["total"]["calls_accepted"],
        "verified": caller["total"]["messages_verified"],
        "in the histogram": sum(n for _, n in caller["call_setup"]["buckets"]),
        "the highest number": caller["last_completed"],
    }
    words = ", ".join(f"{number} {name}" for name, number in counted.items())
    tell(f"{told(cluster.testers)} Of {calls} calls: {words}.")
    sys.exit(set(counted.values()) != {calls})


if __name__ == "__main__":
    simulate()
