# SPDX-License-Identifier: GPL-2.0-or-later
"""load.json as it is documented in load/README.md: every field, and no other."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Share = float
Milliseconds = dict[str, float]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=False)


class Verdict(Strict):
    ok: bool
    reasons: list[str]
    remarks: list[str]
    tester_was_limit: bool
    share_of_control: float | None
    limit: str = ""


class Testers(Strict):
    __test__ = False

    asked: int
    answering: int
    where: str
    runs: int
    skew_ms: float
    clock_uncertainty_ms: float
    lost: list[str]
    shared: list[str]


class Head(Strict):
    format: Literal["x25shark-load"]
    version: Literal[1]
    started: str
    engine: str
    machine: dict[str, Any]
    router: dict[str, Any]
    testers: Testers | None
    options: dict[str, Any]
    exit_status: int
    verdict: Verdict


class Lost(Strict):
    late: int
    missing: int
    corrupt: int
    duplicated: int
    wrong_circuit: int


class Trial(Strict):
    rate: float | None
    seconds: float
    offered: int = Field(ge=0)
    delivered: int = Field(ge=0)
    carried: float
    lost: Lost
    held_back: int
    behind: float
    loss_ratio: float = Field(ge=0, le=1)
    delay_ms: Milliseconds | None
    connected: int
    failures: dict[str, int]
    findings: list[dict[str, Any]]
    packets_sent: int
    packets_received: int | None
    router_cpu: Share | None
    router_octets: float | None
    tester_cpu: Share
    other_work: Share


class Throughput(Strict):
    rate: float
    said: bool
    lower: float | None
    upper: float | None
    half_percent_lower: float | None
    half_percent_upper: float | None
    complete: bool
    short: bool
    seconds: float
    clean_messages: int
    loss: str
    problem: str


class Delay(Strict):
    load: Literal["light", "half", "full"]
    rate: float
    router: Milliseconds | None
    control: Milliseconds | None
    clean: bool


class Burst(Strict):
    messages: int
    lost_at: int | None
    most: int
    control: bool | None


class Filters(Strict):
    one: float | None = Field(alias="1")
    ten: float | None = Field(alias="10")
    why: dict[Literal["1", "10"], Literal["", "no hook", "failed", "no time", "loss"]]
    short: list[Literal["1", "10"]]


class Row(Strict):
    size: int
    packet_size: int
    packets: int
    theoretical: float | None
    hammer: Trial
    throughput: Throughput
    trials: list[Trial]
    maximum: Trial | None = None
    control: Trial | None = None
    share_of_control: float | None = None
    tester_was_limit: bool = False
    plus_25: Trial | None = None
    flood: Trial | None = None
    share_of_maximum: dict[Literal["plus_25", "flood"], float] = {}
    less: list[str] = []
    delays: list[Delay] = []
    burst: Burst | None = None
    left_out: list[str] = []
    filters: Filters | None = None
    interrupted: str = ""


class Idle(Strict):
    seconds: float
    per_minute: dict[str, float]
    problem: str


class Reading(Strict):
    counter: str
    name: Literal["data_in", "data_out"]
    interface: Literal["a", "b"]
    load: str
    size: int
    shown: int
    moved: int
    right: bool


class Answers(Strict):
    asked: int
    answered: int
    slowest_ms: float | None
    state: Literal["", "ok", "slow", "dead"]


class ErrorRow(Strict):
    error: str
    verdicts: dict[str, str]
    counter: str
    moved: int | None
    result: str
    problem: str


class Bench(Head):
    command: Literal["bench"]
    rows: list[Row]
    idle: dict[Literal["without", "with"], Idle]
    counters: list[Reading]
    errors: list[ErrorRow]
    phases: dict[str, Answers]


class Step(Strict):
    rate: float
    seconds: float
    offered: int
    completed: int
    completed_per_second: float
    connected: int
    failed: int
    failures: dict[str, int]
    unplaced: int
    share: float
    carried: bool
    setup_ms: Milliseconds | None
    router_cpu: Share | None
    router_octets: float | None
    other_work: Share | None
    tester_cpu: Share


class Knee(Strict):
    rate: float
    upper: float | None


class MetFigures(Strict):
    calls: int
    failed: int
    p50_ms: float | None
    p99_ms: float | None
    max_ms: float | None


class Recovery(Strict):
    seconds: float | None
    limit_ms: float
    bound: float | None = None
    after_restart: float | None = None
    restart_failed: str | None = None


class FloodResult(Strict):
    kind: Literal["beyond", "connections", "calls", "clears", "half-closed"]
    words: str
    before: MetFigures
    flood: dict[str, Any] | None = None
    flood_seconds: float | None = None
    during: MetFigures | None = None
    recovery: Recovery | None = None
    timeline: list[tuple[float, float | None]] = []


class Overload(Head):
    command: Literal["overload"]
    control: Step | None
    control_at_knee: Step | None = None
    ramp: list[Step]
    refined: list[Step]
    knee: Knee | None
    floods: list[FloodResult]
    left_out: list[str] = []


class Way(Strict):
    mss: list[int]
    advertised: int
    largest_segment: int
    segments: int
    retransmitted: int


class Leg(Strict):
    connections: int
    tester: Way
    router: Way
    packet_sizes: list[int]
    windows: list[int]


class Retransmitted(Strict):
    tshark: int | None
    kernel: int


class PairResult(Strict):
    pair: str
    speed: float
    parts: list[float]
    connected: int
    failures: dict[str, int]
    retransmitted: Retransmitted
    segment: int | None
    legs: dict[Literal["a", "b"], Leg]


class Capture(Strict):
    packets: int
    seconds: float
    dropped: int
    problem: str


class Cell(Strict):
    test: int
    tcp_window: int
    mss: int
    parallel: int
    packet_size: int
    window: int
    seconds: float
    interrupted: bool
    pairs: list[PairResult]
    speed: float
    capture: Capture
    no_effect: list[str]
    reasons: list[str]
    user_data_share: Share
    router_cpu: Share | None
    router_octets: float | None
    tester_cpu: Share
    ceiling: float | None
    share_of_ceiling: Share | None
    control: float | None = None
    share_of_control: Share | None = None
    tester_was_limit: bool = False


class Matrix(Head):
    command: Literal["matrix"]
    cells: list[Cell]
