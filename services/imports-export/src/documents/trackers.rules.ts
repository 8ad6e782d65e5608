import { badRequest } from "@tidemark/errors";
import { nonFiniteOf, present } from "@tidemark/values";
import {
  firstOf,
  numberOf,
  readName,
  readObject,
  readSourceId,
  readTags,
  type Fields,
} from "../content/read-fields.rules.ts";
import { readArtifact, readAttribute, statusOf } from "../content/read-items.rules.ts";
import { readTime } from "../content/read-values.rules.ts";
import { readObjects, type ReadDocumentRun } from "./document.rules.ts";

/** The project of runs whose document names none. */
const MLFLOW_PROJECT = "mlflow-import";

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
        ...present({ run_id: told, experiment_id: info["experiment_id"], artifact_uri: artifactUri }),
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

const STATUSES = ["running", "finished", "failed"] as const;

/** Reads a run of POST /api/imports/neptune. @throws bad_request */
export const readNeptuneRun: ReadDocumentRun = (run, _index, sink) => {
  const metadata = readObject(run["metadata"], "metadata");
  const told = firstOf(run, ["id", "neptune_id"]) ?? firstOf(metadata, ["neptune_id"]) ?? firstOf(run, ["name"]);
  if (told === undefined) throw badRequest("id or name is required", "id");
  const name = firstOf(run, ["name"]);
  const tags = readTags(run["tags"], "tags");
  const id = sink.addRun({
    id: readSourceId(told, "id"),
    name: name === undefined ? undefined : readName(name, "name"),
    status: STATUSES.find((status) => status === run["status"]) ?? "finished",
    config: readObject(run["config"], "config"),
    tags: tags.length === 0 ? ["imported", "neptune"] : tags,
    metadata: { neptune: metadata },
    startedUs: readTime(run["started_at"], "started_at"),
    finishedUs: readTime(run["finished_at"], "finished_at"),
  });
  readObjects(run["metrics"], "metrics", ({ key, step, value, timestamp }) =>
    sink.addPoint(id, key, step, value, timestamp),
  );
  readObjects(run["attributes"], "attributes", (item) => sink.builder.addAttribute(id, readAttribute(item)));
  readObjects(run["artifacts"], "artifacts", (item) => sink.builder.addArtifact(id, readArtifact(item, "neptune")));
};

/** Reads a run of POST /api/imports/wandb. @throws bad_request */
export const readWandbRun: ReadDocumentRun = (run, index, sink) => {
  const name = firstOf(run, ["name", "id"]);
  const summary = readObject(run["summary"], "summary");
  const id = sink.addRun({
    id: readSourceId(firstOf(run, ["id", "run_id", "name"]) ?? `run-${index + 1}`, "id"),
    name: typeof name === "string" ? readName(name, "name") : undefined,
    status: statusOf(firstOf(run, ["state", "status"])),
    config: readObject(run["config"], "config"),
    tags: readTags(run["tags"], "tags"),
    metadata: { ...readObject(run["metadata"], "metadata"), wandb: { summary } },
    startedUs: readTime(firstOf(run, ["started_at", "created_at"]), "started_at"),
    finishedUs: readTime(firstOf(run, ["finished_at"]), "finished_at"),
  });
  let row = 0;
  readObjects(run["history"], "history", (point) => {
    const step = point["_step"] ?? row;
    row += 1;
    if ((numberOf(step) ?? -1) < 0) throw badRequest("_step must be a finite number from 0", "_step");
    for (const [key, value] of Object.entries(point)) {
      if (key.startsWith("_") || (numberOf(value) ?? nonFiniteOf(value)) === undefined) continue;
      sink.addPoint(id, key, step, value, point["_timestamp"]);
    }
  });
  readObjects(run["artifacts"], "artifacts", (item) => sink.builder.addArtifact(id, readArtifact(item, "wandb")));
};

/** How documents of other trackers are read, by tracker, and the project of a document that names none. */
export const DOCUMENT_READERS: Readonly<
  Record<string, { readonly readRun: ReadDocumentRun; readonly project?: string }>
> = {
  wandb: { readRun: readWandbRun },
  neptune: { readRun: readNeptuneRun },
  mlflow: { readRun: readMlflowRun, project: MLFLOW_PROJECT },
};
