"""Trains, so to speak, until somebody asks for an end, on top of the published SDK.

The published version knows nothing of stop requests. This adds what later ones do, over its own transport: they look
for a request with a timeout of 0.75 seconds and go on when that fails; at the end they complete the request and set
the run to failed.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import instantml

POLL_TIMEOUT_SECONDS = 0.75


class StopRequested(Exception):
    """The run should end."""


class Control:
    """Stop requests of one run."""

    def __init__(self, run: instantml.Run) -> None:
        self.run = run
        self.path = f"/api/runs/{run.run_id}"
        self.poller = instantml.Client(base_url=run.client.base_url, timeout=POLL_TIMEOUT_SECONDS)
        self.polls = 0
        self.failures: list[str] = []

    def stop_request(self) -> dict[str, Any] | None:
        self.polls += 1
        try:
            signal = self.poller._request("GET", f"{self.path}/stop-signal")
        except instantml.InstantMLError as error:
            self.failures.append(str(error))
            return None
        if signal["run_id"] != self.run.run_id:
            raise AssertionError(f"a signal for another run: {signal}")
        request = signal.get("stop_request") if signal.get("stop_requested") else None
        return request if isinstance(request, dict) and request.get("stop_request_id") else None

    def should_stop(self) -> bool:
        return self.stop_request() is not None

    def raise_if_stop_requested(self) -> None:
        if self.should_stop():
            raise StopRequested

    def acknowledge(self, request: dict[str, Any], state: str, message: str | None = None) -> dict[str, Any]:
        body = {"stop_request_id": request["stop_request_id"], "state": state, "message": message}
        return self.run.client._request("POST", f"{self.path}/stop-ack", body)

    def finish_stopped(self, request: dict[str, Any], message: str) -> dict[str, Any]:
        answer = self.acknowledge(request, "completed", message)
        self.run.finish("failed")
        return answer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--report", required=True)
    arguments = parser.parse_args()
    init = {"project": "stoppable", "config": {"lr": 0.1}, "tags": []}
    run = instantml.Client().init(**init, system_metrics=False, source_tracking=False)
    control = Control(run)
    quiet_at_first = not control.should_stop()
    steps = 0
    patience_ends = time.monotonic() + 240
    try:
        while time.monotonic() < patience_ends:
            steps += 1
            run.log({"loss": 1 / steps}, step=steps)
            control.raise_if_stop_requested()
            time.sleep(0.02)
        raise SystemExit("nobody asked for an end")
    except StopRequested:
        request = control.stop_request()
    acknowledged = control.acknowledge(request, "acknowledged")
    still_asked = control.stop_request()
    completed = control.finish_stopped(request, "saved the last weights")
    report = {
        "run_id": run.run_id,
        "init": init,
        "calls": [],
        "steps": steps,
        "polls": control.polls,
        "failures": control.failures,
        "quiet_at_first": quiet_at_first,
        "request": request,
        "acknowledged": acknowledged,
        "still_asked": still_asked,
        "completed": completed,
        "asked_after_the_end": control.should_stop(),
    }
    with open(arguments.report, "w", encoding="utf-8") as file:
        json.dump(report, file)


main()
