import { isExactNumber } from "@tidemark/values";
import type { Item, JsonObject, JsonValue } from "../items.ts";
import { isObject, numberOf, pointNumberOf } from "../json.ts";
import { readPointFloat } from "../text-files.ts";
import { createPointBatches } from "../point-batches.ts";
import { createWarnings, type Warnings } from "../warnings.ts";
import { MLFLOW_TEXTS_MAX, mlflowRunItem } from "./run-item.ts";

/**
 * Sends one request to `<server>/api/2.0/mlflow/<path>` and returns its answer; `parameters` are the query of GET and the body of POST. Numbers that JSON does
 * not have are texts in the answer. Errors of the caller (no connection, no permission) pass through the reader.
 */
export type FetchJson = (method: "GET" | "POST", path: string, parameters: JsonObject) => Promise<JsonValue>;

/** Rows of a page, where the caller names none. */
const PAGE_ROWS = 1000;

/** How deep folders of artifacts are looked into. */
const FOLDER_DEPTH_MAX = 16;

type Request = { readonly method: "GET" | "POST"; readonly path: string; readonly parameters: JsonObject };

/**
 * Reads the runs of an MLflow server by REST, experiment by experiment. Deleted ones are counted and left out. Files are named by their address in the store of
 * artifacts. @param pageRows rows that are requested at a time
 */
export async function* readMlflowServer(fetchJson: FetchJson, pageRows = PAGE_ROWS): AsyncGenerator<Item> {
  const warnings = createWarnings();
  const parameters = { view_type: "ALL", max_results: pageRows };
  const experiments: Request = { method: "POST", path: "experiments/search", parameters };
  for await (const experiment of pagedRows(fetchJson, experiments, "experiments", warnings)) {
    const [id, name] = [textOf(experiment["experiment_id"]), textOf(experiment["name"])];
    const isDeleted = experiment["lifecycle_stage"] === "deleted";
    const runs: Request = {
      method: "POST",
      path: "runs/search",
      parameters: { experiment_ids: [id], run_view_type: "ALL", max_results: pageRows },
    };
    for await (const run of pagedRows(fetchJson, runs, "runs", warnings)) {
      const info = isObject(run["info"]) ? run["info"] : {};
      const runId = textOf(info["run_id"] ?? info["run_uuid"]);
      if (runId === "") warnings.add("malformed_value", "a run without an id");
      else if (isDeleted || info["lifecycle_stage"] === "deleted") warnings.add("deleted_run", runId);
      else yield* readRun({ fetchJson, pageRows, runId, experiment: name, info, data: run["data"] });
    }
  }
  yield* warnings.take();
}

/** Yields the rows of all pages of a list. A server that names a page again would not end. */
async function* pagedRows(
  fetchJson: FetchJson,
  { method, path, parameters }: Request,
  member: string,
  warnings: Warnings,
): AsyncGenerator<JsonObject> {
  const seen = new Set<string>();
  for (let token = ""; ;) {
    const answer = await fetchJson(method, path, token === "" ? parameters : { ...parameters, page_token: token });
    if (!isObject(answer)) return warnings.add("malformed_value", path);
    const rows: JsonValue = answer[member] ?? [];
    if (!Array.isArray(rows)) return warnings.add("malformed_value", path);
    for (const row of rows as readonly JsonValue[]) {
      if (isObject(row)) yield row;
      else warnings.add("malformed_value", path);
    }
    token = textOf(answer["next_page_token"]);
    if (token === "") return;
    if (seen.has(token)) return warnings.add("malformed_value", `${path}: pages repeat`);
    seen.add(token);
  }
}

type ServerRun = {
  readonly fetchJson: FetchJson;
  readonly pageRows: number;
  readonly runId: string;
  readonly experiment: string;
  readonly info: JsonObject;
  readonly data: JsonValue | undefined;
};

async function* readRun({ fetchJson, pageRows, runId, experiment, info, data: sent }: ServerRun): AsyncGenerator<Item> {
  const warnings = createWarnings(runId);
  const data = isObject(sent) ? sent : {};
  const artifactUri = textOf(info["artifact_uri"]);
  yield mlflowRunItem({
    id: runId,
    experiment,
    name: textOf(info["run_name"]),
    status: textOf(info["status"]),
    startedAt: integerOf(info["start_time"]),
    endedAt: integerOf(info["end_time"]),
    user: textOf(info["user_id"]),
    artifactUri,
    params: pairsOf(data["params"], warnings),
    tags: pairsOf(data["tags"], warnings),
  });
  const points = createPointBatches(runId, warnings);
  const metrics = Array.isArray(data["metrics"]) ? (data["metrics"] as readonly JsonValue[]) : [];
  for (const metric of metrics) {
    const key = isObject(metric) ? textOf(metric["key"]) : "";
    const parameters = { run_id: runId, metric_key: key, max_results: pageRows };
    const history: Request = { method: "GET", path: "metrics/get-history", parameters };
    for await (const row of pagedRows(fetchJson, history, "metrics", warnings)) {
      const [value, step] = [valueOf(row["value"], key, warnings), stepOf(row["step"] ?? 0, key, warnings)];
      if (value === undefined || step === undefined) warnings.add("malformed_value", key);
      else points.add(key, step, value, integerOf(row["timestamp"]));
      yield* points.full();
    }
  }
  yield* points.rest();
  yield* readArtifacts(fetchJson, runId, artifactUri, warnings);
  yield* warnings.take();
}

async function* readArtifacts(
  fetchJson: FetchJson,
  run: string,
  artifactUri: string,
  warnings: Warnings,
): AsyncGenerator<Item> {
  const open: string[] = [""];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const parameters = { run_id: run, ...(folder === "" ? {} : { path: folder }) };
    const files: Request = { method: "GET", path: "artifacts/list", parameters };
    for await (const file of pagedRows(fetchJson, files, "files", warnings)) {
      const path = textOf(file["path"]);
      const size = integerOf(file["file_size"]);
      const isBelow = folder === "" ? path !== "" : path.startsWith(`${folder}/`);
      if (!isBelow || path.split("/").includes("..")) warnings.add("unsafe_path", path);
      else if (file["is_dir"] !== true) {
        yield { kind: "file", run, name: path, ...(size === undefined ? {} : { size }), uri: `${artifactUri}/${path}` };
      } else if (path.split("/").length <= FOLDER_DEPTH_MAX) open.push(path);
      else warnings.add("too_large", `${path}: folders are nested too deep`);
    }
  }
}

function textOf(value: JsonValue | undefined): string {
  if (isExactNumber(value)) return value.rawJSON;
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

const integerText = /^-?\d{1,19}$/;

/** Integers of 64 bits may be texts of digits. */
function integerOf(value: JsonValue | undefined): number | undefined {
  if (typeof value === "string") return integerText.test(value) ? Number(value) : undefined;
  return typeof value === "number" || isExactNumber(value) ? numberOf(value) : undefined;
}

function stepOf(value: JsonValue, key: string, warnings: Warnings): number | undefined {
  if (typeof value === "string") return integerText.test(value) ? readPointFloat(value, key, warnings) : undefined;
  return pointNumberOf(value, key, warnings);
}

/** Values are numbers or words; the largest doubles represent infinity, which the server's store lacks. */
function valueOf(value: JsonValue | undefined, key: string, warnings: Warnings): number | undefined {
  const number = pointNumberOf(value, key, warnings);
  return number !== undefined && Math.abs(number) === Number.MAX_VALUE ? number * 2 : number;
}

function pairsOf(value: JsonValue | undefined, warnings: Warnings): Record<string, string> {
  const pairs = Array.isArray(value) ? (value as readonly JsonValue[]) : [];
  if (pairs.length > MLFLOW_TEXTS_MAX) {
    warnings.add("too_large", "parameters or tags", pairs.length - MLFLOW_TEXTS_MAX);
  }
  return Object.fromEntries(
    pairs
      .slice(0, MLFLOW_TEXTS_MAX)
      .flatMap((pair) => (isObject(pair) ? [[textOf(pair["key"]), textOf(pair["value"])]] : [])),
  );
}
