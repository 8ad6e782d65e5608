import { badRequest } from "@tidemark/errors";
import { IMPORT_LIMITS } from "@tidemark/limits";
import {
  createContentBuilder,
  createSkipped,
  type Content,
  type ImportWarning,
  type Skipped,
} from "../content/content.rules.ts";
import { metricValueOf, readTime } from "../content/read-values.rules.ts";
import {
  firstOf,
  isObject,
  numberOf,
  readItem,
  readList,
  readName,
  readSourceId,
  readStep,
  type Fields,
} from "../content/read-fields.rules.ts";
import {
  noteOrigin,
  readArtifact,
  readAttribute,
  readRun,
  RUN_ID_NAMES,
  type Origin,
} from "../content/read-items.rules.ts";

/** The facts that a chunk must state about its job. */
export type ChunkJob = Origin & { readonly targetProject: string };

/** A chunk that was read. */
export type ReadChunk = {
  readonly chunkId: string;
  readonly sequence: number;
  readonly isFinal: boolean;
  /** In lower case; undefined: the client sent none. */
  readonly contentHash: string | undefined;
  readonly content: Content;
  /** The warnings of the client, then those for omitted items. */
  readonly warnings: readonly ImportWarning[];
  /** How many there are. */
  readonly warningCount: number;
};

/** The number of the form of chunks. */
export const SCHEMA_VERSION = 2;

const limits = IMPORT_LIMITS;

/** Reads a redacted body as a chunk of a job, whose texts are redacted too. @throws bad_request */
export function readChunk(body: Fields, job: ChunkJob): ReadChunk {
  requireSame(body, "schema_version", SCHEMA_VERSION);
  requireSame(body, "job_id", job.jobId);
  requireSame(body, "source_type", job.sourceType);
  if ((body["source_project"] ?? "") !== (job.sourceProject ?? "")) {
    throw badRequest("source_project must be that of the job", "source_project");
  }
  requireSame(body, "target_project", job.targetProject);
  const chunkId = readName(body["chunk_id"], "chunk_id");
  const sequence = numberOf(body["sequence"]);
  if (sequence === undefined || !Number.isSafeInteger(sequence) || sequence < 0) {
    throw badRequest("sequence must be a whole number from 0", "sequence");
  }
  const isFinal = body["final"] ?? false;
  if (typeof isFinal !== "boolean") throw badRequest("final must be true or false", "final");
  const { content, skipped } = readContent(body, job);
  const told = readWarnings(body["warnings"]);
  return {
    chunkId,
    sequence,
    isFinal,
    contentHash: readHash(body["content_hash"]),
    content,
    warnings: [...told, ...skipped.warnings()],
    warningCount: told.length + skipped.count(),
  };
}

function requireSame(body: Fields, name: string, wanted: string | number): void {
  if (body[name] !== wanted) throw badRequest(`${name} must be ${JSON.stringify(wanted)}`, name);
}

function readHash(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string" && value.trim() === "") return undefined;
  if (typeof value === "string" && /^[0-9A-Fa-f]{64}$/.test(value)) return value.toLowerCase();
  throw badRequest("content_hash must be a SHA-256 in hexadecimal digits", "content_hash");
}

function readWarnings(value: unknown): ImportWarning[] {
  return readList(value, "warnings", limits.warningsOfChunkMax).map((item) => {
    if (typeof item === "string") return { code: "warning", message: stored(item) };
    const { code, message } = isObject(item) ? item : {};
    return {
      code: typeof code === "string" && code !== "" ? stored(code) : "warning",
      message: typeof message === "string" ? stored(message) : "",
    };
  });
}

function stored(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}

function readContent(body: Fields, job: ChunkJob) {
  const builder = createContentBuilder();
  const skipped = createSkipped();
  const runs = readList(body["runs"], "runs", limits.runsOfJobMax);
  runs.forEach((item, i) =>
    readItem("runs", i, () => {
      builder.addRun(noteOrigin(readRun(item), job));
    }),
  );
  readPoints(readList(body["metric_points"], "metric_points", limits.pointsOfChunkMax), builder, skipped);
  readList(body["attributes"], "attributes", limits.attributesOfChunkMax).forEach((item, i) =>
    readItem("attributes", i, () => {
      const fields = requireObject(item);
      builder.addAttribute(runOf(fields), readAttribute(fields));
    }),
  );
  const refs = readList(body["artifact_refs"], "artifact_refs", limits.artifactsOfChunkMax);
  const ownerOf = createOwners(runs);
  refs.forEach((item, i) =>
    readItem("artifact_refs", i, () => {
      const fields = requireObject(item);
      const artifact = readArtifact(fields, job.sourceType);
      const named = firstOf(fields, RUN_ID_NAMES);
      const owner = named === undefined ? ownerOf(artifact.name) : readSourceId(named, "source_run_id");
      if (owner === undefined) skipped.add("artifact_without_run");
      else builder.addArtifact(owner, artifact);
    }),
  );
  return { content: builder.build(), skipped };
}

function readPoints(
  items: readonly unknown[],
  builder: ReturnType<typeof createContentBuilder>,
  skipped: Skipped,
): void {
  const names = new Map<string, string>();
  const keyOf = (value: unknown): string => {
    if (typeof value !== "string") return readName(value, "key");
    let key = names.get(value);
    if (key === undefined) names.set(value, (key = readName(value, "key")));
    return key;
  };
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    try {
      const fields = requireObject(item);
      const value = metricValueOf(fields["value"]);
      const id = fields["source_run_id"];
      const run = typeof id === "string" && id !== "" && id === id.trim() ? id : runOf(fields);
      const key = keyOf(fields["key"]);
      const step = readStep(fields["step"], "step") ?? 0;
      const timeUs = readTime(fields["timestamp"], "timestamp");
      if (value === undefined) skipped.add("non_finite_value");
      else builder.addPoint(run, key, step, value, timeUs);
    } catch (error) {
      readItem("metric_points", i, () => {
        throw error;
      });
    }
  }
}

function runOf(fields: Fields): string {
  return readSourceId(firstOf(fields, RUN_ID_NAMES), "source_run_id");
}

function requireObject(item: unknown): Fields {
  if (isObject(item)) return item;
  throw badRequest("must be an object");
}

/**
 * Returns a finder of runs for references that name none, in their order: the only run whose own `artifacts` has the name; of several the nth for the nth
 * reference of the name; else the only run of the chunk.
 */
function createOwners(runs: readonly unknown[]): (name: string) => string | undefined {
  let owners: Map<string, string[]> | undefined;
  const asked = new Map<string, number>();
  const collect = (): Map<string, string[]> => {
    const found = new Map<string, string[]>();
    for (const run of runs as readonly Fields[]) {
      const id = runOf(run);
      const artifacts: unknown = run["artifacts"];
      if (!Array.isArray(artifacts)) continue;
      for (const artifact of artifacts as unknown[]) {
        const name = isObject(artifact) ? firstOf(artifact, ["name", "path"]) : artifact;
        if (typeof name !== "string") continue;
        const ids = found.get(name.trim());
        if (ids === undefined) found.set(name.trim(), [id]);
        else ids.push(id);
      }
    }
    return found;
  };
  return (name) => {
    owners ??= collect();
    const ids = owners.get(name);
    if (ids === undefined) return runs.length === 1 ? runOf(runs[0] as Fields) : undefined;
    const nth = asked.get(name) ?? 0;
    asked.set(name, nth + 1);
    return new Set(ids).size === 1 ? ids[0] : ids[nth];
  };
}
