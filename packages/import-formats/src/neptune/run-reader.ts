import { isExactNumber } from "@tidemark/values";
import { safePath } from "../file-tree.ts";
import { createConsoleText } from "../console-text.ts";
import { histogramOf } from "../histogram.ts";
import type { Item, JsonObject, JsonValue, RunItem } from "../items.ts";
import { jsonObject, numberOf } from "../json.ts";
import { createPointBatches } from "../point-batches.ts";
import type { Warnings } from "../warnings.ts";
import type { AttributeRow } from "./attribute-row.ts";

/** Makes items of the rows of one run. */
export type NeptuneRunReader = {
  begin(project: string): RunItem;
  read(row: AttributeRow): Generator<Item>;
  end(): Generator<Item>;
};

/** Most values without a step that are read. */
const VALUES_MAX = 100_000;

/** Series that hold a console: in Neptune 2 below `monitoring/`, in Neptune 3 below `runtime/`. */
const consolePath = /^(?:monitoring|runtime)\/(?:.*\/)?(stdout|stderr)$/;

const imageName = /\.(?:png|jpe?g|gif|webp)$/i;

/** Creates what reads a run. Values below `sys/` say what a run is; the others are its config, by their paths. */
export function createNeptuneRunReader(run: string, warnings: Warnings): NeptuneRunReader {
  const points = createPointBatches(run, warnings);
  const consoles = {
    stdout: createConsoleText(run, "stdout", warnings),
    stderr: createConsoleText(run, "stderr", warnings),
  };
  const values = new Map<string, JsonValue>();

  function* readFile({ path, type, step, time, filePath }: AttributeRow): Generator<Item> {
    if (filePath === undefined) return warnings.add("missing", path);
    const safe = safePath(filePath);
    if (safe === undefined) return warnings.add("unsafe_path", path);
    const at = { ...(step === undefined ? {} : { step }), ...(Number.isFinite(time) ? { time } : {}) };
    if (type === "file_series" && imageName.test(safe)) {
      yield { kind: "object", run, object: "image", key: path, ...at, file: { path: safe } };
    } else yield { kind: "file", run, name: step === undefined ? path : `${path}/${step}`, type, path: safe };
  }

  return {
    begin: (project) => ({ kind: "run", run, source: "neptune", project, status: "running" }),
    *read(row) {
      const { path, type, step, time, value, number } = row;
      const at = { ...(step === undefined ? {} : { step }), ...(Number.isFinite(time) ? { time } : {}) };
      const stream = type === "string_series" ? consolePath.exec(path)?.[1] : undefined;
      if (type === "float_series") {
        if (step === undefined || number === undefined) warnings.add("malformed_value", path);
        else points.add(path, step, number, time);
        yield* points.full();
      } else if (stream === "stdout" || stream === "stderr") {
        const text = typeof value === "string" ? value : "";
        consoles[stream].write(text.endsWith("\n") ? text : `${text}\n`, time);
        yield* consoles[stream].full();
      } else if (type === "string_series") {
        if (typeof value !== "string") warnings.add("malformed_value", path);
        else yield { kind: "attribute", run, path, type: "string_series", ...at, value };
      } else if (type === "histogram_series") {
        const histogram = row.histogram && histogramOf(row.histogram.edges, row.histogram.values);
        if (histogram === undefined) warnings.add("malformed_value", path);
        else yield { kind: "object", run, object: "histogram", key: path, ...at, value: histogram };
      } else if (["file", "file_series", "file_set", "artifact"].includes(type)) yield* readFile(row);
      // Neptune 3 has rows of parameters without any value.
      else if (value === undefined) return;
      else if (values.size < VALUES_MAX) values.set(path, value);
      else warnings.add("too_large", path);
    },
    *end() {
      yield* points.rest();
      yield* consoles.stdout.rest();
      yield* consoles.stderr.rest();
      yield { kind: "run", run, source: "neptune", ...describe(values) };
    },
  };
}

/** Returns what the values of a run say about it. A run that failed says so; one that is active runs. */
function describe(values: ReadonlyMap<string, JsonValue>): Partial<RunItem> {
  const text = (path: string): string | undefined => {
    const value = values.get(path);
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const list = (path: string): readonly string[] => {
    const value = values.get(path);
    return Array.isArray(value) ? (value as readonly string[]) : [];
  };
  const time = (path: string): number | undefined => {
    const value = text(path);
    return value === undefined || Number.isNaN(Date.parse(value)) ? undefined : Date.parse(value);
  };
  const [name, notes, parent] = [text("sys/name"), text("sys/description"), text("sys/forking/parent")];
  const [startedAt, finishedAt] = [time("sys/creation_time"), time("sys/modification_time")];
  const sentStep = values.get("sys/forking/step");
  const forkStep = typeof sentStep === "number" || isExactNumber(sentStep) ? numberOf(sentStep)! : 0;
  const tags = [...new Set([...list("sys/tags"), ...list("sys/group_tags")])];
  const isActive = text("sys/state")?.toLowerCase() === "active";
  const entries = [...values];
  const config = jsonObject(entries.filter(([path]) => !path.startsWith("sys/")));
  const neptune: JsonObject = jsonObject(
    entries.flatMap(([path, value]) => (path.startsWith("sys/") ? [[path.slice("sys/".length), value] as const] : [])),
  );
  return {
    status: values.get("sys/failed") === true ? "failed" : isActive ? "running" : "finished",
    ...(name === undefined ? {} : { name }),
    ...(notes === undefined ? {} : { notes }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(finishedAt === undefined || isActive ? {} : { finishedAt }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(parent === undefined ? {} : { fork: { parent, step: forkStep } }),
    config,
    metadata: { neptune },
  };
}
