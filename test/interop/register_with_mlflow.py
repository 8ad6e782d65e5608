"""Logs inputs and models, and uses the registry of a server, with the MLflow client; writes what it read back as JSON."""

import json
import sys

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Dataset, DatasetInput, InputTag, LoggedModelInput, LoggedModelOutput, Metric
from mlflow.exceptions import MlflowException


def refusal(call, *args, **kwargs):
    """The code with which a call is refused."""
    try:
        call(*args, **kwargs)
    except MlflowException as error:
        return error.error_code
    return None


out = {}
client = MlflowClient()
experiment = mlflow.set_experiment("models")

with mlflow.start_run() as run:
    run_id = run.info.run_id
    model = client.create_logged_model(
        experiment.experiment_id, name="net", source_run_id=run_id, params={"depth": "3"}, tags={"a": "1"}, model_type="agent"
    )
    given = DatasetInput(Dataset("train", "d1", "http", "{}", "{}", None), [InputTag("mlflow.data.context", "training")])
    for _ in range(2):
        client.log_inputs(run_id, [given], [LoggedModelInput(model.model_id)])
        client.log_outputs(run_id, [LoggedModelOutput(model.model_id, 3)])
    client.log_metric(run_id, "acc", 0.5, step=1, model_id=model.model_id, dataset_name="train", dataset_digest="d1")
    client.log_batch(run_id, [Metric("acc", 0.75, 1000, 2, model.model_id, "train", "d1")])
client.set_logged_model_tags(model.model_id, {"b": "2", "a/b": "3"})
client.delete_logged_model_tag(model.model_id, "a")
client.log_model_params(model.model_id, {f"p{i}": str(i) for i in range(150)})
client.finalize_logged_model(model.model_id, "READY")
seen = client.get_logged_model(model.model_id)
out["model"] = {
    "name": seen.name,
    "type": seen.model_type,
    "status": str(seen.status),
    "of_run": seen.source_run_id == run_id,
    "uri": seen.artifact_location.replace(model.model_id, "MODEL"),
    "params": len(seen.params),
    "tags": seen.tags,
    "metrics": [[m.key, m.value, m.step, m.dataset_name] for m in seen.metrics],
}
inputs, outputs = client.get_run(run_id).inputs, client.get_run(run_id).outputs
out["inputs"] = [[i.dataset.name, i.dataset.digest, {t.key: t.value for t in i.tags}] for i in inputs.dataset_inputs]
out["input_models"] = [i.model_id == model.model_id for i in inputs.model_inputs]
out["outputs"] = [[o.model_id == model.model_id, o.step] for o in outputs.model_outputs]


def models(**kwargs):
    return [m.name for m in client.search_logged_models([experiment.experiment_id], **kwargs)]


client.create_logged_model(experiment.experiment_id, name="other")
out["found"] = [
    models(filter_string="metrics.acc > 0.6 AND params.depth = '3'", datasets=[{"dataset_name": "train"}]),
    models(order_by=[{"field_name": "metrics.acc", "ascending": True}]),
    models(max_results=1),
    refusal(models, filter_string="color = 'a'"),
]

client.create_registered_model("net", tags={"team": "a"}, description="d")
out["taken"] = refusal(client.create_registered_model, "net")
first = mlflow.register_model(f"models:/{model.model_id}", "net", tags={"x": "1"})
out["version"] = [first.version, first.status, first.run_id == run_id]
client.create_model_version("net", "s3://elsewhere/model")
client.set_registered_model_alias("net", "champion", first.version)
client.set_model_version_tag("net", "2", "y", "2")
client.transition_model_version_stage("net", "2", "Staging")
out["by_alias"] = client.get_model_version_by_alias("net", "champion").version
out["no_alias"] = refusal(client.get_model_version_by_alias, "net", "none")
out["reserved"] = refusal(client.set_registered_model_alias, "net", "v1", "1")
out["uris"] = [
    client.get_model_version_download_uri("net", "1").replace(model.model_id, "MODEL"),
    client.get_model_version_download_uri("net", "2"),
]
out["latest"] = [[v.version, v.current_stage] for v in client.get_latest_versions("net")]
out["versions"] = [[v.version, list(v.aliases), v.tags] for v in client.search_model_versions("name = 'net'", order_by=["version_number ASC"])]
out["of_run"] = [v.version for v in client.search_model_versions(f"run_id = '{run_id}'")]
client.delete_model_version("net", "2")
out["next"] = client.create_model_version("net", "s3://third").version
client.rename_registered_model("net", "renamed")
client.update_registered_model("renamed", "new")

prompt = mlflow.genai.register_prompt("greeting", "Hello {{name}}")
mlflow.genai.register_prompt("greeting", "Hi {{name}}")
mlflow.genai.set_prompt_alias("greeting", "live", 2)
out["prompt"] = [prompt.version, mlflow.genai.load_prompt("prompts:/greeting/1").template, mlflow.genai.load_prompt("prompts:/greeting@live").template]
out["prompts"] = [p.name for p in mlflow.genai.search_prompts()]
out["registered"] = [[m.name, m.description, m.tags, m.aliases] for m in client.search_registered_models()]
client.delete_registered_model("renamed")
client.delete_logged_model(model.model_id)
out["gone"] = [
    refusal(client.get_registered_model, "renamed"),
    refusal(client.get_logged_model, model.model_id),
    refusal(client.get_model_version, "greeting", "9"),
]

# The client writes other lines there.
sys.stdout.write("\n" + json.dumps(out))
