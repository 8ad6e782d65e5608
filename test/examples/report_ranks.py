"""Four processes of one training report what each of them sees, through the published SDK."""

from __future__ import annotations

import argparse
import json
import multiprocessing

import instantml

WORLD_SIZE = 4
STEPS = 3


def loss_of(step: int, rank: int) -> float:
    return 1 / (1 + step) + rank / 7


def train(run_id: str, rank: int) -> None:
    run = instantml.attach_run(run_id, system_metrics=False)
    for step in range(STEPS):
        metrics = {"loss": loss_of(step, rank), "throughput": 100 + rank}
        run.log_rank_metrics(metrics, step=step, rank=rank, world_size=WORLD_SIZE, local_rank=rank % 2, weight=1 + rank)
    run.flush()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--report", required=True)
    arguments = parser.parse_args()
    init = {"project": "ranks", "config": {}, "tags": []}
    run = instantml.Client().init(**init, system_metrics=False, source_tracking=False)
    start = multiprocessing.get_context("spawn").Process
    processes = [start(target=train, args=(run.run_id, rank)) for rank in range(WORLD_SIZE)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    run.log({"loss": 0.5}, step=0)
    # The only call of the SDK that does not check values.
    run.log_snapshot({"metrics": {"loss": float("nan"), "grad": float("-inf")}}, step=1)
    run.finish()
    report = {
        "run_id": run.run_id,
        "init": init,
        "calls": [],
        "exit_codes": [process.exitcode for process in processes],
        "losses": [[loss_of(step, rank) for rank in range(WORLD_SIZE)] for step in range(STEPS)],
    }
    with open(arguments.report, "w", encoding="utf-8") as file:
        json.dump(report, file)


if __name__ == "__main__":
    main()
