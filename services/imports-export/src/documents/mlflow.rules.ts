import { firstOf, readName, readObject, readSourceId, type Fields } from "../content/read-fields.rules.ts";
import { readArtifact, statusOf } from "../content/read-items.rules.ts";
import { readTime } from "../content/read-time.rules.ts";
import { readObjects, type ReadDocumentRun } from "./document.rules.ts";

/** The project of runs whose document names none. */
export const MLFLOW_PROJECT = "mlflow-import";

const NAME = "mlflow-run";

/** Reads a run of POST /api/imports/mlflow. @throws bad_request */
export const readMlflowRun: ReadDocumentRun = (run, index, sink) => {
  const info = readObject(run["info"], "info");
  const data = readObject(run["data"], "data");
  const [tags, params] = [readPairs(data["tags"], "tags"), readPairs(data["params"], "params")];
  const told = firstOf(info, ["run_id", "run_uuid"]);
  const name = firstOf(info, ["run_name"]) ?? firstOf(tags, ["mlflow.runName"]) ?? told ?? NAME;
  const artifactUri = firstOf(info, ["artifact_uri"]);
  const id = sink.addRun({
    id: readSourceId(told ?? `run-${index + 1}`, "run_id"),
    name: typeof name === "string" ? readName(name, "run_name") : undefined,
    status: statusOf(info["status"]),
    config: params,
    tags: ["imported", "mlflow"],
    metadata: {
      mlflow: {
        tags,
        ...withoutNulls({ run_id: told, experiment_id: info["experiment_id"], artifact_uri: artifactUri }),
      },
    },
    startedUs: readTime(info["start_time"], "start_time"),
    finishedUs: readTime(info["end_time"], "end_time"),
  });
  const logged = new Set<unknown>();
  const addPoint = ({ key, value, step, timestamp }: Fields): void => sink.addPoint(id, key, step, value, timestamp);
  readObjects(run["metric_history"], "metric_history", (point) => {
    logged.add(point["key"]);
    addPoint(point);
  });
  // The newest value of a key is the last one of its history.
  readObjects(data["metrics"], "metrics", (point) => {
    if (!logged.has(point["key"])) addPoint(point);
  });
  readObjects(run["artifacts"], "artifacts", (item) => {
    if (item["is_dir"] === true) return;
    const path = firstOf(item, ["path", "name"]);
    const isKnown = typeof artifactUri === "string" && typeof path === "string" && item["uri"] === undefined;
    const uri = isKnown ? { uri: `${artifactUri.replace(/\/$/, "")}/${path}` } : {};
    sink.builder.addArtifact(id, readArtifact({ ...item, ...uri }, "mlflow"));
  });
};

/** Reads `[{key, value}]` as an object; for an object, its members. @throws bad_request */
function readPairs(value: unknown, name: string): Fields {
  if (!Array.isArray(value)) return readObject(value, name);
  const pairs: [string, unknown][] = [];
  readObjects(value, name, (pair) => {
    pairs.push([readName(pair["key"], "key"), pair["value"] ?? null]);
  });
  return Object.fromEntries(pairs);
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}
