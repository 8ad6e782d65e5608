"""Uploads a file as an artifact version in a process that is killed between two parts, and again in a second process."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import instantml
from instantml import client as sdk

FILE = "large.bin"


def sha256(path: str | Path) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def upload(run_id: str, parts_until_killed: int) -> None:
    client = instantml.Client(timeout=30)
    run = sdk.Run(client, run_id)
    put = sdk._put_presigned_url_with_headers
    sent = []

    def put_or_die(url, *rest):
        if len(sent) == parts_until_killed:
            os.kill(os.getpid(), signal.SIGKILL)
        sent.append(url)
        return put(url, *rest)

    sdk._put_presigned_url_with_headers = put_or_die
    logged = run.log_versioned_artifact(instantml.VersionedArtifact("resumed", type="model", files={FILE: FILE}))
    print(json.dumps({"id": logged.id, "sent": len(sent)}))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--report")
    parser.add_argument("--upload", nargs=2)
    arguments = parser.parse_args()
    if arguments.upload:
        run_id, parts = arguments.upload
        upload(run_id, int(parts))
        return
    Path(FILE).write_bytes(os.urandom(33 * 1024 * 1024))
    init = {"project": "artifacts", "config": {}, "tags": []}
    run = instantml.Client(timeout=30).init(**init, system_metrics=False, source_tracking=False, upload_mode="sync")
    child = lambda parts: subprocess.run(
        [sys.executable, __file__, "--upload", run.run_id, str(parts)], capture_output=True, text=True
    )
    killed, second = child(1), child(-1)
    if second.returncode != 0:
        raise SystemExit(second.stderr)
    done = json.loads(second.stdout.splitlines()[-1])
    (read,) = instantml.Api(timeout=30).artifact("resumed", type="model", project="artifacts").download("out")
    report = {"run_id": run.run_id, "init": init, "calls": [], "killed": killed.returncode, **done}
    report["same"] = sha256(read) == sha256(FILE)
    run.finish()
    Path(arguments.report).write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
