"""Logs to a server with the MLflow client, and writes what it read back as JSON. Each request that may be repeated is sent twice."""

import json
import math
import pathlib
import sys
import tempfile
import time

import mlflow
import requests
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag, ViewType
from mlflow.exceptions import MlflowException

ONCE = ("/create", "/delete-tag", "/delete-experiment-tag", "experiments/delete", "experiments/restore")
send = requests.Session.send


def send_twice(session, request, **options):
    # A file is read to its end.
    if request.method not in ("GET", "PUT") and not request.path_url.endswith(ONCE):
        send(session, request, **options)
    return send(session, request, **options)


requests.Session.send = send_twice


def refusal(call, *args, **kwargs):
    """The code with which a call is refused."""
    try:
        call(*args, **kwargs)
    except MlflowException as error:
        return error.error_code
    return None


def plain(value):
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def seen(run):
    info, data = run.info, run.data
    return {
        "name": info.run_name,
        "status": info.status,
        "experiment": info.experiment_id,
        "stage": info.lifecycle_stage,
        "user": info.user_id,
        "uri": info.artifact_uri.replace(info.run_id, "RUN"),
        "ended": info.end_time is not None,
        "params": data.params,
        "tags": {k: v for k, v in data.tags.items() if not k.startswith("mlflow.source")},
        "metrics": {k: plain(v) for k, v in data.metrics.items()},
    }


out = {}
client = MlflowClient()

# A script that never chooses an experiment.
with mlflow.start_run() as run:
    mlflow.log_metric("loss", 0.5)
out["default"] = {**seen(client.get_run(run.info.run_id)), "name": "", "user": ""}
out["default_by_name"] = mlflow.get_experiment_by_name("Default").experiment_id

experiment = mlflow.set_experiment("vision")
out["again"] = mlflow.set_experiment("vision").experiment_id == experiment.experiment_id
out["experiment"] = {"id": experiment.experiment_id, "stage": experiment.lifecycle_stage, "uri": experiment.artifact_location}
out["taken"] = refusal(client.create_experiment, "vision")
out["missing"] = client.get_experiment_by_name("nothing")
client.set_experiment_tag(experiment.experiment_id, "team", "a")
client.set_experiment_tag(experiment.experiment_id, "mlflow.note.content", "for all")
out["experiment_tags"] = client.get_experiment(experiment.experiment_id).tags

with mlflow.start_run(run_name="first", tags={"stage": "test"}, description="a *note*") as run:
    mlflow.log_params({"lr": 0.001, "layers": 3, "small": "1e-05", "flag": True, "name": "net"})
    mlflow.log_param("extra", "007")
    mlflow.log_metrics({"loss": 1.0, "acc": 0.1}, step=0)
    for step in range(1, 4):
        mlflow.log_metrics({"loss": 1 / step, "acc": step / 10}, step=step)
    mlflow.log_metric("bad", float("nan"), step=5)
    mlflow.log_metric("wild", float("inf"), step=1)
    mlflow.log_metric("wild", 2.0, step=0)
    mlflow.set_tags({"k": "v", "gone": "x"})
    mlflow.set_tag("k", "w")
    mlflow.delete_tag("gone")
    with mlflow.start_run(nested=True, run_name="child") as child:
        mlflow.log_metric("loss", 3)
run_id = run.info.run_id
out["run"] = seen(client.get_run(run_id))
out["child_of"] = client.get_run(child.info.run_id).data.tags["mlflow.parentRunId"] == run_id
out["history"] = [(m.step, plain(m.value)) for m in client.get_metric_history(run_id, "loss")]
out["history_bad"] = [(m.step, plain(m.value)) for m in client.get_metric_history(run_id, "bad")]
out["history_none"] = client.get_metric_history(run_id, "none")

with tempfile.TemporaryDirectory() as folder:
    local = pathlib.Path(folder)
    (local / "in" / "deep").mkdir(parents=True)
    (local / "in" / "empty.bin").touch()
    (local / "in" / "a name é 日.txt").write_text("with spaces")
    (local / "in" / "deep" / "100% 1.csv").write_text("a,b")
    client.log_artifacts(run_id, str(local / "in"), "all")
    (local / "one.txt").write_text("first")
    client.log_artifact(run_id, str(local / "one.txt"))
    (local / "one.txt").write_text("the second")
    client.log_artifact(run_id, str(local / "one.txt"))
    client.log_text(run_id, "text", "notes/t.txt")
    client.log_dict(run_id, {"a": 1}, "notes/d.json")
    out["listed"] = [[[f.path, f.is_dir, f.file_size] for f in client.list_artifacts(run_id, path)] for path in (None, "all", "notes", "one.txt", "none")]
    got = pathlib.Path(mlflow.artifacts.download_artifacts(run_id=run_id, dst_path=str(local / "got")))
    out["downloaded"] = {str(f.relative_to(got)): f.read_text() for f in sorted(got.rglob("*")) if f.is_file()}
    one = mlflow.artifacts.download_artifacts(artifact_uri=f"runs:/{run_id}/all/deep", dst_path=str(local / "some"))
    out["folder"] = [f.name for f in pathlib.Path(one).iterdir()]
    out["loaded"] = [mlflow.artifacts.load_text(f"runs:/{run_id}/one.txt"), mlflow.artifacts.load_dict(f"runs:/{run_id}/notes/d.json")]

now = int(time.time() * 1000)
out["same_param"] = refusal(client.log_param, run_id, "lr", 0.001)
out["other_param"] = refusal(
    client.log_batch, run_id, [Metric("never", 1, now, 0)], [Param("lr", "0.002"), Param("new", "1")], [RunTag("new", "1")]
)
after = client.get_run(run_id).data
out["nothing_stored"] = "never" not in after.metrics and "new" not in after.params and "new" not in after.tags
client.log_batch(run_id, [Metric("m", i, now + i, i) for i in range(900)], [Param(f"p{i}", "x" * 6000) for i in range(50)], [])
out["many"] = [len(client.get_metric_history(run_id, "m")), len(client.get_run(run_id).data.params)]
client.log_batch(run_id, [Metric("same", 5, now + 9, 0), Metric("same", 6, now, 0)])
out["latest_of_a_step"] = client.get_run(run_id).data.metrics["same"]

client.update_run(run_id, status="KILLED", name="renamed")
out["killed"] = [client.get_run(run_id).info.status, client.get_run(run_id).data.tags["mlflow.runName"]]
with mlflow.start_run(run_id=run_id):
    out["resumed"] = client.get_run(run_id).info.status
client.set_tag(run_id, "mlflow.note.content", "n" * 600)
out["long_note"] = len(client.get_run(run_id).data.tags["mlflow.note.content"])

client.delete_run(run_id)
out["deleted"] = client.get_run(run_id).info.lifecycle_stage
out["write_to_deleted"] = refusal(client.log_metric, run_id, "late", 1)
client.restore_run(run_id)
client.log_metric(run_id, "late", 1)
out["restored"] = [client.get_run(run_id).info.lifecycle_stage, client.get_run(run_id).data.metrics["late"]]

client.rename_experiment(experiment.experiment_id, "vision 2")
client.delete_experiment(experiment.experiment_id)
out["experiment_deleted"] = [
    client.get_experiment(experiment.experiment_id).lifecycle_stage,
    client.get_run(run_id).info.lifecycle_stage,
    client.get_experiment_by_name("vision 2"),
    refusal(client.create_run, experiment.experiment_id),
    refusal(client.delete_experiment, experiment.experiment_id),
]
client.restore_experiment(experiment.experiment_id)
out["experiment_restored"] = [client.get_experiment(experiment.experiment_id).name, client.get_run(run_id).info.lifecycle_stage]
here = [experiment.experiment_id]


def found(filter_string="", **options):
    return [run.info.run_name for run in client.search_runs(here, filter_string, **options)]


out["found"] = {
    "all": found(),
    "metric": found("metrics.late = 1 and metrics.loss < 1"),
    "not_a_number": found("metrics.bad != 3"),
    "param": found("params.lr = '0.001' AND params.flag LIKE 'T%'"),
    "tag": found("tags.k = 'w'"),
    "child": found(f"tags.mlflow.parentRunId = '{run_id}'"),
    "attribute": found(f"attributes.status = 'FINISHED' and attributes.run_id IN ('{run_id}') and run_name ILIKE 'REN%'"),
    "by_metric": found(order_by=["metrics.loss ASC"]),
    "by_param": found(order_by=["params.lr DESC", "attributes.start_time DESC"]),
    "whole": seen(client.search_runs(here, "params.lr = '0.001'")[0]) == seen(client.get_run(run_id)),
    "refused": refusal(found, "metrics.loss < 1 OR metrics.loss > 2"),
}
page = client.search_runs(here, max_results=1)
rest = client.search_runs(here, max_results=1, page_token=page.token)
out["pages"] = [len(page), len(rest), page[0].info.run_id != rest[0].info.run_id, rest.token]
out["found_runs"] = [run.info.run_name for run in mlflow.search_runs(here, "metrics.loss < 5", output_format="list")]
out["every_experiment"] = len(mlflow.search_runs(search_all_experiments=True, max_results=2, output_format="list"))
out["experiments"] = [
    [e.name for e in client.search_experiments(order_by=["name ASC"])],
    [e.name for e in mlflow.search_experiments(filter_string="tags.team = 'a' AND name LIKE 'vis%'")],
    [e.name for e in client.search_experiments(view_type=ViewType.DELETED_ONLY)],
]
out["unknown_run"] = refusal(client.get_run, "0" * 32)

# The client writes other lines there.
sys.stdout.write("\n" + json.dumps(out))
