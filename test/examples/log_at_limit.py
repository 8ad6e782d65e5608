"""Two runs of one organization log faster than its plan allows, through the published SDK: with a queue, and request by request."""

from __future__ import annotations

import argparse
import json

import instantml

STEPS = 16


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--report", required=True)
    arguments = parser.parse_args()
    run_ids = {}
    for mode in ("async", "sync"):
        run = instantml.Client().init(
            project="limits", config={"mode": mode}, upload_mode=mode, system_metrics=False, source_tracking=False
        )
        for step in range(STEPS):
            run.log({"loss": 1 / (1 + step)}, step=step)
        run.finish(timeout=60)
        run_ids[mode] = run.run_id
    with open(arguments.report, "w", encoding="utf-8") as file:
        json.dump({"run_id": run_ids["sync"], "init": {}, "calls": [], "steps": STEPS, "run_ids": run_ids}, file)


if __name__ == "__main__":
    main()
