"""Stores and reads files of a run in every way that the published SDK has."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from pathlib import Path

import instantml
from instantml import client as sdk

MIB = 1024 * 1024


def sha256(path: str | Path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def written(name: str, size: int) -> str:
    Path(name).write_bytes(os.urandom(size))
    return name


def error_of(work) -> str:
    try:
        work()
    except Exception as error:
        return str(error)
    return "no error"


def plain(run, api) -> dict:
    reference = run.log_artifact("weights", "s3://bucket/weights.pt", artifact_type="file", size_bytes=10)
    empty = run.upload_file(written("empty.bin", 0))
    uploaded = run.upload_file(written("middle.bin", 3 * MIB), metadata={"seed": 12345678901234567890})
    checkpoint = run.log_checkpoint_file(written("policy.pt", 1000), step=7)
    read = api.download_artifact(uploaded["id"], "read.bin")
    child = api.fork_run(run.run_id, checkpoint_artifact_id=checkpoint["id"])
    return {
        "rows": [reference, empty, uploaded, checkpoint],
        "same": sha256(read) == sha256("middle.bin"),
        "fork": child,
    }


def versions(run, api) -> dict:
    files = {"small.txt": written("a", 10), "dir/middle.bin": written("b", MIB), "large.bin": written("c", 33 * MIB)}
    artifact = instantml.VersionedArtifact("policy", type="model", files=files, aliases=["best"])
    first = run.log_versioned_artifact(artifact)
    again = run.log_versioned_artifact(artifact)
    used = run.use_artifact("policy:best", type="model", project="artifacts")
    downloaded = used.download("out")
    promoted = list(first.promote("prod").artifact_version["aliases"])
    refused = error_of(first.delete)
    deleted = first.delete(delete_aliases=True)
    return {
        "id": first.id,
        "version": first.artifact_version["version"],
        "again": again.id,
        "downloaded": {str(Path(path).relative_to(Path("out").resolve())): sha256(path) for path in downloaded},
        "sent": {name: sha256(path) for name, path in files.items()},
        "aliases": promoted,
        "refused": refused,
        "state": deleted["artifact_version"]["state"],
        "gone": error_of(lambda: api.artifact("policy:v0", project="artifacts")),
    }


def shrinking(run) -> str:
    """A file that loses its end while it is being sent."""
    path = written("shrinks.bin", 40 * MIB)
    artifact = instantml.VersionedArtifact("shrinks", type="file", files={"shrinks.bin": path})
    upload = sdk._upload_versioned_artifact_file

    def upload_and_cut(source, *rest):
        os.truncate(path, 20 * MIB)
        return upload(source, *rest)

    sdk._upload_versioned_artifact_file = upload_and_cut
    try:
        return error_of(lambda: run.log_versioned_artifact(artifact))
    finally:
        sdk._upload_versioned_artifact_file = upload


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--report", required=True)
    arguments = parser.parse_args()
    init = {"project": "artifacts", "config": {}, "tags": []}
    run = instantml.Client(timeout=30).init(**init, system_metrics=False, source_tracking=False, upload_mode="sync")
    api = instantml.Api(timeout=30)
    report = {"run_id": run.run_id, "init": init, "calls": [], "plain": plain(run, api)}
    report["versions"] = versions(run, api)
    report["shrinking"] = shrinking(run)
    run.finish()
    with open(arguments.report, "w", encoding="utf-8") as file:
        json.dump(report, file)


if __name__ == "__main__":
    main()
