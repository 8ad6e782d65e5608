import { badRequest } from "@tidemark/errors";
import { IMPORT_LIMITS } from "@tidemark/limits";
import {
  createContentBuilder,
  type ContentBuilder,
  createSkipped,
  type Content,
  type Skipped,
} from "../content/content.rules.ts";
import { metricValueOf, readTime } from "../content/read-values.rules.ts";
import {
  isObject,
  readItem,
  readList,
  readName,
  readStep,
  writeStored,
  type Fields,
} from "../content/read-fields.rules.ts";
import { cutName, type ReadRun } from "../content/read-items.rules.ts";

/** Collects the data that a reader of documents finds in a run. */
export type RunSink = {
  readonly builder: ContentBuilder;
  readonly skipped: Skipped;
  /** Adds the run itself, and returns the id under which points, attributes and artifacts are to be added. */
  addRun(run: ReadRun): string;
  /** Adds a value, or counts it when it is not known. @throws bad_request */
  addPoint(id: string, key: unknown, step: unknown, value: unknown, timestamp: unknown): void;
};

/** Reads one run of a document of another tracker. @throws bad_request */
export type ReadDocumentRun = (run: Fields, index: number, sink: RunSink) => void;

/** The content of a document. */
export type ReadDocument = { readonly content: Content; readonly skipped: Skipped };

/** Reads `runs` of a redacted document. @throws bad_request */
export function readDocumentRuns(body: Fields, source: string, readRun: ReadDocumentRun): ReadDocument {
  if (!Array.isArray(body["runs"])) throw badRequest("runs must be a list", "runs");
  const runs = readList(body["runs"], "runs", IMPORT_LIMITS.runsOfJobMax);
  const builder = createContentBuilder();
  const skipped = createSkipped();
  const ids = new Set<string>();
  const sink: RunSink = {
    builder,
    skipped,
    addRun(run) {
      // Each run of a document becomes a run, even when two have the same id.
      let id = run.id;
      for (let count = 2; ids.has(id); count++) id = `${run.id}#${count}`;
      ids.add(id);
      builder.addRun({
        ...run,
        id,
        name: run.name ?? cutName(run.id),
        config: writeStored(run.config, "config"),
        metadata: writeStored({ ...run.metadata, source }, "metadata"),
      });
      return id;
    },
    addPoint(id, key, step, value, timestamp) {
      const read = metricValueOf(value);
      const [name, at] = [readName(key, "key"), readStep(step, "step") ?? 0];
      const timeUs = readTime(timestamp, "timestamp");
      if (read === undefined) skipped.add("non_finite_value");
      else builder.addPoint(id, name, at, read, timeUs);
    },
  };
  runs.forEach((run, i) =>
    readItem("runs", i, () => {
      if (!isObject(run)) throw badRequest("must be an object");
      readRun(run, i, sink);
    }),
  );
  const content = builder.build();
  requireSize(content);
  return { content, skipped };
}

/** A document has the limits of a chunk. @throws bad_request */
function requireSize({ points, attributes, artifacts }: Content): void {
  const sizes = [
    ["metric points", points.steps.length, IMPORT_LIMITS.pointsOfChunkMax],
    ["attributes", attributes.length, IMPORT_LIMITS.attributesOfChunkMax],
    ["artifacts", artifacts.length, IMPORT_LIMITS.artifactsOfChunkMax],
  ] as const;
  for (const [what, size, max] of sizes) {
    if (size > max) throw badRequest(`a document must have at most ${max} ${what}`, "runs");
  }
}

/** Reads a list of objects of a run. @throws bad_request */
export function readObjects(value: unknown, name: string, read: (item: Fields) => void): void {
  readList(value, name, Infinity).forEach((item, i) =>
    readItem(name, i, () => {
      if (!isObject(item)) throw badRequest("must be an object");
      read(item);
    }),
  );
}
