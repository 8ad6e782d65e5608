"""A run whose console is captured and that gets tags while it trains, through the published SDK: with a queue, and request by request."""

from __future__ import annotations

import argparse
import json
import sys

import instantml

LINES = 120


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--report", required=True)
    arguments = parser.parse_args()
    run_ids = {}
    for mode in ("async", "sync"):
        run = instantml.Client().init(
            project="captured",
            tags=["own"],
            upload_mode=mode,
            capture_console=True,
            system_metrics=False,
            source_tracking=False,
        )
        # The console is captured once the run is there.
        assert run.run_id
        for step in range(LINES):
            print(f"{mode} line {step} é")
        print("a warning", file=sys.stderr)
        run.add_tags(["Added-Later", "two"])
        run.add_tags(["sweep-9"], group_tags=True)
        run.finish(timeout=60)
        run_ids[mode] = run.run_id
    with open(arguments.report, "w", encoding="utf-8") as file:
        json.dump({"run_id": run_ids["sync"], "init": {}, "calls": [], "lines": LINES, "run_ids": run_ids}, file)


if __name__ == "__main__":
    main()
