"""Trains a neural network on scikit-learn's handwritten digits and records the run in Tidemark.

    pip install -r requirements.txt
    export INSTANTML_API_BASE_URL=http://127.0.0.1:8080 INSTANTML_API_KEY=tm_...
    python train_digits.py

The SDK works in its default, asynchronous mode: metrics and console lines go into a queue on disk, and a process beside
this one sends them, so that training never waits for the network.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import instantml
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import classification_report
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

LINES_PER_CALL = 50  # log_stdout and log_stderr take no more in one call.


def train(run: instantml.Run, config: dict[str, Any]) -> None:
    # The first use of run_id waits until the server has made the run; from here on what is printed is captured too.
    print(f"run {run.run_id}")
    rng = np.random.default_rng(config["seed"])

    digits = load_digits()
    train_images, test_images, train_labels, test_labels = train_test_split(
        digits.data / 16.0,
        digits.target,
        test_size=config["data"]["test_fraction"],
        stratify=digits.target,
        random_state=int(rng.integers(2**32)),
    )
    # What was not known when the run began; becomes config/data/classes and so on.
    sizes = {"train_images": len(train_images), "test_images": len(test_images)}
    run.log_config({"data": {"classes": digits.target_names.tolist(), **sizes}})
    run.add_tags(["neural-network", "scikit-learn"])
    run.add_tags(["digit-readers"], group_tags=True)

    model = MLPClassifier(
        hidden_layer_sizes=config["model"]["hidden_layers"],
        alpha=config["model"]["l2"],
        solver=config["optimizer"]["name"],
        learning_rate_init=config["optimizer"]["learning_rate"],
        random_state=int(rng.integers(2**32)),
    )
    step = 0
    for epoch in range(1, config["epochs"] + 1):
        order = rng.permutation(len(train_images))
        for start in range(0, len(order), config["batch_size"]):
            batch = order[start : start + config["batch_size"]]
            model.partial_fit(train_images[batch], train_labels[batch], classes=digits.target_names)
            step += 1
            run.log({"train/loss": float(model.loss_)}, step=step)
        train_accuracy = float(model.score(train_images, train_labels))
        test_accuracy = float(model.score(test_images, test_labels))
        run.log({"epoch": epoch, "train/accuracy": train_accuracy, "test/accuracy": test_accuracy}, step=step)
        print(f"epoch {epoch:2d}  loss {model.loss_:.4f}  test accuracy {test_accuracy:.4f}")

    parameters = sum(weights.size for weights in model.coefs_ + model.intercepts_)
    run.log_config({"model": {"parameters": parameters, "initial_weights": None}})
    predicted = model.predict(test_images)
    run.log_stdout(classification_report(test_labels, predicted, digits=4).splitlines())
    misread = np.flatnonzero(predicted != test_labels)
    lines = [f"test image {image}: a {test_labels[image]} was read as {predicted[image]}" for image in misread]
    for start in range(0, len(lines), LINES_PER_CALL):
        run.log_stderr(lines[start : start + LINES_PER_CALL])
    print(f"{len(misread)} of {len(test_labels)} test images were misread", file=sys.stderr)

    # finish() waits for the queue for 10 s; a slow network may need longer.
    if not run.wait_for_processing(timeout=120):
        raise RuntimeError(f"not everything has arrived: {run.upload_status()}")


class NotedRun:
    """A run that also remembers what its methods were called with, for --report."""

    def __init__(self, run: instantml.Run) -> None:
        self._run = run
        self.calls: list[dict[str, Any]] = []

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._run, name)
        if not callable(attribute):
            return attribute

        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls.append({"method": name, "args": args, "kwargs": kwargs})
            return attribute(*args, **kwargs)

        return call


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--project", default="digits")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=20_260_131_857_142_857_143, help="any size: no digit is lost")
    parser.add_argument("--report", metavar="FILE", help="write one line of JSON with the run's id and all that was logged")
    arguments = parser.parse_args()

    settings = {
        "project": arguments.project,
        "config": {
            "data": {"name": "digits", "test_fraction": 0.2},
            "model": {"kind": "mlp", "hidden_layers": [64], "l2": 1e-4},
            "optimizer": {"name": "adam", "learning_rate": arguments.learning_rate},
            "epochs": arguments.epochs,
            "batch_size": arguments.batch_size,
            "seed": arguments.seed,
        },
        "tags": ["example", "python"],
        "notes": "Reads handwritten digits.",
    }
    # The default of 15 s between two samples of CPU and memory suits runs that last longer than this one. Leaving the
    # block finishes the run: as finished, or as failed after an exception.
    with instantml.init(**settings, capture_console=True, system_metrics_interval=0.5) as run:
        noted = NotedRun(run)
        train(noted, settings["config"])

    if arguments.report:
        with open(arguments.report, "w", encoding="utf-8") as file:
            print(json.dumps({"run_id": run.run_id, "init": settings, "calls": noted.calls}), file=file)


if __name__ == "__main__":
    main()
