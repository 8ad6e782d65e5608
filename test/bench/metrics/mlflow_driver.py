"""Drives an MLflow tracking server through MLflow's own client.

Started with the server's URI and the path of a file with doubles (little-endian), the values that writes take. Reads one
JSON command per line and answers each with one JSON line; ends at the end of its input. Requests of a load are spread over
at most PROCESSES processes of several threads each, because one interpreter runs Python code of one thread at a time.
"""

import array
import json
import multiprocessing
import os
import sys
import threading
import time

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] = "0"

from mlflow.entities import Metric  # noqa: E402
from mlflow.tracking import MlflowClient  # noqa: E402

PROCESSES = 4


def time_of(step):
    """The client's time of a step in milliseconds: pointTimeUs of point-times.ts."""
    return (1_767_323_045_678_901 + step * 100_000 + step * 48_271 % 65_537) // 1000


def write_once(client, load, tape, index):
    """The write of this number, the same as every other store is given."""
    keys, points, runs = load["keys"], load["points"], load["runs"]
    values = points * len(keys)
    turn, run = divmod(index, len(runs))
    at = (run * 7 + turn) % load["distinct"] * values
    metrics = []
    for point in range(points):
        step = turn * points + point
        for number, key in enumerate(keys):
            metrics.append(Metric(key, tape[at + point * len(keys) + number], time_of(step), step))
    client.log_batch(runs[run], metrics=metrics)


def read_once(client, load, _tape, _index):
    got = len(client.get_metric_history(load["run"], load["key"]))
    if got != load["points"]:
        raise RuntimeError(f"{got} of {load['points']} points")


ACTIONS = {"write": write_once, "read": read_once}


def loop(uri, tape, load, number, result):
    """One thread of a closed loop: its latencies in the measured time, and how many requests it made in all."""
    client = MlflowClient(uri)
    act = ACTIONS[load["do"]]
    start = load["start"]
    measured_from = start + load["warm_up"]
    until = measured_from + load["seconds"]
    latencies, sent, errors, first_error, index = [], 0, 0, None, number
    while True:
        before = time.time()
        if before >= until and (latencies or before >= until + 60):
            break
        try:
            act(client, load, tape, index)
            sent += 1
            after = time.time()
            # As elsewhere, an answer within the measured time counts; a load of very long requests has at least one.
            if after >= measured_from and (after < until or not latencies):
                latencies.append((after - before) * 1000)
        except Exception as error:  # noqa: BLE001 - whatever the server did, the load goes on
            errors += 1
            first_error = first_error or repr(error)[:300]
            time.sleep(0.001)
        index += load["concurrency"]
    result.append((latencies, sent, errors, first_error))


def work(uri, tape, orders, answers):
    """A process of the driver."""
    for load, numbers in iter(orders.get, None):
        result = []
        threads = [threading.Thread(target=loop, args=(uri, tape, load, number, result)) for number in numbers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        answers.put(result)


class Driver:
    def __init__(self, uri, tape):
        self.uri, self.tape = uri, tape
        self.client = MlflowClient(uri)
        self.experiment = self.client.create_experiment("bench")
        context = multiprocessing.get_context("fork")
        self.answers = context.Queue()
        self.orders = [context.Queue() for _ in range(PROCESSES)]
        for orders in self.orders:
            context.Process(target=work, args=(uri, tape, orders, self.answers), daemon=True).start()

    def runs(self, command):
        return {"runs": [self.client.create_run(self.experiment).info.run_id for _ in range(command["count"])]}

    def fill(self, command):
        """Series of `values` (key after key) into new runs, 1,000 values a request, the most that it takes."""
        keys, length = command["keys"], command["length"]
        values = array.array("d")
        with open(command["values"], "rb") as file:
            values.frombytes(file.read())
        runs = self.runs(command)["runs"]
        per_request = max(1, 1000 // len(keys))
        for run in runs:
            for first in range(0, length, per_request):
                metrics = [
                    Metric(key, values[number * length + step], time_of(step), step)
                    for step in range(first, min(length, first + per_request))
                    for number, key in enumerate(keys)
                ]
                self.client.log_batch(run, metrics=metrics)
        return {"runs": runs}

    def load(self, command):
        concurrency = command["concurrency"]
        processes = min(PROCESSES, concurrency)
        command["start"] = time.time() + 0.05
        for process in range(processes):
            self.orders[process].put((command, list(range(process, concurrency, processes))))
        parts = [part for _ in range(processes) for part in self.answers.get()]
        latencies = [latency for part in parts for latency in part[0]]
        # One after another, and each may take longer than the time that was asked for.
        busy = sum(latencies) / 1000 if command["do"] == "read" else command["seconds"]
        return {
            "latencies": latencies,
            "sent": sum(part[1] for part in parts),
            "seconds": busy,
            "errors": sum(part[2] for part in parts),
            "firstError": next((part[3] for part in parts if part[3]), None),
        }


def main():
    uri, tape_path = sys.argv[1:3]
    tape = array.array("d")
    with open(tape_path, "rb") as file:
        tape.frombytes(file.read())
    driver = Driver(uri, tape)
    for line in sys.stdin:
        command = json.loads(line)
        action = {"runs": driver.runs, "fill": driver.fill}.get(command["do"], driver.load)
        try:
            answer = action(command)
        except Exception as error:  # noqa: BLE001 - told to the caller
            answer = {"failed": repr(error)[:500]}
        print(json.dumps(answer), flush=True)


main()
