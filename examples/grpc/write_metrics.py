"""Creates a run, writes metrics to it and reads an error, as an internal service does.

    export RUNS_ADDRESS=127.0.0.1:8082 INGEST_ADDRESS=127.0.0.1:8082 TIDEMARK_INTERNAL_TOKEN=... ORG_ID=...
    pip install -r requirements.txt
    python write_metrics.py
"""

import os
import random
import sys
import time
import uuid
from pathlib import Path

import grpc
from grpc_status import rpc_status

# protos_and_services reads .proto files below the folders of sys.path; generated code works as well.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "proto"))
common = grpc.protos("tidemark/common/v1/common.proto")
runs_messages, runs_services = grpc.protos_and_services("tidemark/runs/v1/runs.proto")
ingest_messages, ingest_services = grpc.protos_and_services("tidemark/ingest/v1/ingest.proto")

# For whom a call is made: of a user's request, what authentication of that user has found out.
identity = common.Identity(
    org_id=os.environ["ORG_ID"],
    kind=common.CALLER_KIND_API_KEY,
    scopes=["sdk:ingest", "export:read"],
    plan_tier="premium",
    billing_state="paid_active",
).SerializeToString()

REPEATABLE = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED}


def detail_of(error):
    """The ErrorDetail of a failed call; None when the call failed on its way."""
    status = rpc_status.from_call(error)
    for packed in status.details if status else []:
        detail = common.ErrorDetail()
        if packed.Unpack(detail):
            return detail
    return None


def call(method, request, seconds=10):
    """A call that may be repeated until the deadline: a read, or a write that carries an idempotency key or an id
    chosen here. The wait is the one that the server names, else it grows."""
    deadline = time.monotonic() + seconds
    wait = 0.1
    while True:
        metadata = (
            ("tidemark-internal-token", os.environ["TIDEMARK_INTERNAL_TOKEN"]),
            ("tidemark-identity-bin", identity),
        )
        try:
            return method(request, metadata=metadata, timeout=deadline - time.monotonic())
        except grpc.RpcError as error:
            detail = detail_of(error)
            again = error.code() in REPEATABLE or (detail and detail.reason == "idempotency_in_progress")
            pause = (detail.retry_after_seconds if detail else 0) or wait * random.uniform(0.5, 1.5)
            if not again or time.monotonic() + pause >= deadline:
                raise
            time.sleep(pause)
            wait *= 2


def main():
    with (
        grpc.insecure_channel(os.environ["RUNS_ADDRESS"]) as runs_channel,
        grpc.insecure_channel(os.environ["INGEST_ADDRESS"]) as ingest_channel,
    ):
        runs = runs_services.RunsServiceStub(runs_channel)
        ingest = ingest_services.IngestServiceStub(ingest_channel)

        run_id = str(uuid.uuid4())
        create = runs_messages.CreateRunRequest(id=run_id, project="grpc", config_json=b'{"lr":0.001}')
        run = call(runs.CreateRun, create).run
        print(f"run {run.name} of project {run.project} is {run.status}")

        # Two keys at three steps: values by key, then by step.
        write = ingest_messages.AppendMetricsRequest(
            run_id=run_id,
            idempotency_key=str(uuid.uuid4()),
            columns=ingest_messages.MetricColumns(
                keys=["accuracy", "loss"], steps=[0, 1, 2], values=[0.1, 0.5, 0.7, 2.3, 1.2, 0.8]
            ),
        )
        for _ in range(2):
            answer = call(ingest.AppendMetrics, write)
            print(f"inserted {answer.inserted}, replayed {str(answer.replayed).lower()}")

        write.run_id, write.idempotency_key = str(uuid.uuid4()), str(uuid.uuid4())
        try:
            call(ingest.AppendMetrics, write)
        except grpc.RpcError as error:
            print(f"{error.code().name}, reason {detail_of(error).reason}: {error.details()}")


main()
