import { createConsoleText } from "../console-text.ts";
import type { Item, JsonObject, JsonValue, RunItem } from "../items.ts";
import { numberOf, pointNumberOf, loggedParts } from "../json.ts";
import { createPointBatches } from "../point-batches.ts";
import { safePath } from "../file-tree.ts";
import { applyItems, TREE_KEYS_MAX, treeObject, type KeyedTree } from "./keyed-tree.ts";
import { readMedia, type MediaReader } from "./media.ts";
import type { ArtifactRecord, RunRecord, WandbRecord } from "./records.ts";

/** Makes items of the records of one run. */
export type WandbRunReader = {
  read(record: WandbRecord): AsyncGenerator<Item>;
  end(): Generator<Item>;
};

/**
 * Creates what reads a run. Its id is the one that `media.run` names. A run without an exit record was killed, and counts as failed; one with another exit code than
 * 0 failed. Points of the system have seconds since the start as their step.
 */
export function createWandbRunReader(media: MediaReader): WandbRunReader {
  const { run, warnings } = media;
  const points = createPointBatches(run, warnings);
  const consoles = {
    stdout: createConsoleText(run, "stdout", warnings),
    stderr: createConsoleText(run, "stderr", warnings),
  };
  const config: KeyedTree = new Map();
  const summary: KeyedTree = new Map();
  const logged = new Set<string>();
  let metadata: JsonObject = {};
  let [begun, exitCode, startedAt, lastAt] = [false, Number.NaN, Number.NaN, Number.NaN];

  const item = (fields: Partial<RunItem>): RunItem => ({ kind: "run", run, source: "wandb", ...fields });
  const configObject = (): JsonObject => {
    const { _wandb: _noise, ...kept } = treeObject(config);
    return kept;
  };
  const seen = (time: number): void => {
    if (Number.isFinite(time) && !(time <= lastAt)) lastAt = time;
  };

  function* begin(record?: RunRecord): Generator<Item> {
    if (begun && record === undefined) return;
    const status = begun ? {} : { status: "running" as const };
    begun = true;
    if (record === undefined) {
      yield item(status);
      return;
    }
    const { project, name, notes, tags, branch } = record;
    applyItems(config, record.config, warnings);
    metadata = { ...metadata, ...record.metadata };
    if (Number.isFinite(record.startedAt)) startedAt = Number.isFinite(startedAt) ? startedAt : record.startedAt;
    seen(record.startedAt);
    const texts = Object.entries({ project, name, notes }).filter(([, text]) => text !== "");
    const isFork = branch !== undefined && branch.run !== "" && Number.isFinite(branch.value);
    yield item({
      ...status,
      ...Object.fromEntries(texts),
      ...(tags.length === 0 ? {} : { tags }),
      ...(Number.isFinite(startedAt) ? { startedAt } : {}),
      config: configObject(),
      metadata,
      ...(isFork ? { fork: { parent: branch.run, step: branch.value } } : {}),
    });
  }

  async function* readValue(key: string, value: JsonValue, step: number, time: number): AsyncGenerator<Item> {
    const at = { step, ...(Number.isFinite(time) ? { time } : {}) };
    for (const part of loggedParts(key, value, warnings)) {
      if ("number" in part) points.add(part.key, step, part.number, time);
      else if ("text" in part)
        yield { kind: "attribute", run, path: part.key, type: "string_series", ...at, value: part.text };
      else yield* readMedia(media, { key: part.key, ...at }, part.value);
    }
  }

  async function* readHistory({ items, step: sent }: Extract<WandbRecord, { type: "history" }>): AsyncGenerator<Item> {
    const tree: KeyedTree = new Map();
    applyItems(tree, items, warnings);
    const values = treeObject(tree);
    const step = pointNumberOf(values["_step"], "_step", warnings) ?? sent;
    const time = (numberOf(values["_timestamp"]) ?? Number.NaN) * 1000;
    seen(time);
    for (const [key, value] of Object.entries(values)) {
      if (key.startsWith("_")) continue;
      if (logged.size < TREE_KEYS_MAX) logged.add(key);
      if (Number.isFinite(step)) yield* readValue(key, value, step, time);
      else warnings.add("malformed_value", `${key}: it has no step`);
    }
    yield* points.full();
  }

  function* readArtifact({ name, type, aliases, files }: ArtifactRecord): Generator<Item> {
    for (const { path: sentPath, digest, ref, size } of files) {
      const path = safePath(sentPath);
      if (path === undefined) {
        warnings.add("unsafe_path", name);
        continue;
      }
      // The bytes are in a cache of the machine that wrote the run, if anywhere.
      if (ref === "") warnings.add("missing", `${name}: ${path}`);
      const md5 = /^[A-Za-z0-9+/]{22}==$/.test(digest) ? Buffer.from(digest, "base64").toString("hex") : "";
      yield {
        kind: "file",
        run,
        name: path,
        ...(type === "" ? {} : { type }),
        size,
        ...(md5 === "" ? {} : { digest: `md5:${md5}` }),
        artifact: { name, aliases },
        ...(ref === "" ? {} : { uri: ref }),
      };
    }
  }

  return {
    async *read(record) {
      if (record.type === "other") return;
      yield* begin(record.type === "run" ? record.run : undefined);
      if (record.type === "history") yield* readHistory(record);
      else if (record.type === "summary") applyItems(summary, record.items, warnings);
      else if (record.type === "config") applyItems(config, record.items, warnings);
      else if (record.type === "environment") metadata = { ...record.metadata, ...metadata };
      else if (record.type === "exit") ({ exitCode } = record);
      else if (record.type === "artifact") yield* readArtifact(record.artifact);
      else if (record.type === "output") {
        seen(record.time);
        consoles[record.stream].write(record.text, record.time);
        yield* consoles[record.stream].full();
      } else if (record.type === "stats") {
        const step = Math.max(0, (record.time - startedAt) / 1000);
        for (const { path, value } of record.items) {
          const key = path.join(".");
          const number = pointNumberOf(value, key, warnings);
          if (number === undefined) warnings.add("malformed_value", key);
          else points.add(`system/${key}`, step, number, record.time);
        }
      }
    },
    *end() {
      if (!begun) return;
      yield* points.rest();
      yield* consoles.stdout.rest();
      yield* consoles.stderr.rest();
      const own = Object.entries(treeObject(summary)).filter(([key]) => !key.startsWith("_") && !logged.has(key));
      yield item({
        status: exitCode === 0 ? "finished" : "failed",
        config: configObject(),
        ...(Number.isFinite(lastAt) ? { finishedAt: lastAt } : {}),
        metadata: {
          ...metadata,
          ...(own.length === 0 ? {} : { summary: Object.fromEntries(own) }),
          ...(Number.isNaN(exitCode) ? {} : { exit_code: exitCode }),
        },
      });
    },
  };
}
