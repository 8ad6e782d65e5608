import { promisify } from "node:util";
import { constants, zstdCompressSync, zstdDecompress } from "node:zlib";
import { parseOwnJsonInTurns } from "@tidemark/documents";

/** A run of another tracker. Documents are compact JSON texts; times are microseconds since the epoch, null for none. */
export type SourceRun = {
  /** Its id at the source. */
  readonly id: string;
  readonly name: string;
  readonly status: "running" | "finished" | "failed";
  readonly config: string;
  readonly tags: readonly string[];
  readonly metadata: string;
  readonly startedUs: number | null;
  readonly finishedUs: number | null;
};

/** An attribute. `source` is an index of the content's `sources`. */
export type SourceAttribute = {
  readonly source: number;
  readonly path: string;
  readonly type: string;
  readonly step: number | null;
  readonly timeUs: number | null;
  readonly value: string;
  readonly summary: string;
};

/** A reference to a file that stays where it is. */
export type SourceArtifact = {
  readonly source: number;
  readonly name: string;
  readonly type: "checkpoint" | "rollout" | "file";
  readonly uri: string;
  readonly step: number | null;
  readonly sizeBytes: number | null;
  readonly mimeType: string;
  readonly metadata: string;
};

/** Values as columns of one length, in the order in which they were sent. */
type SourcePoints = {
  /** Indexes of the content's `sources` and `keys`. */
  readonly sources: Uint32Array;
  readonly keys: Uint32Array;
  readonly steps: Float64Array;
  readonly values: Float64Array;
  /** Microseconds since the epoch, NaN for none. */
  readonly timesUs: Float64Array;
};

/** A part of an import: the content of a chunk or of a document. */
export type Content = {
  readonly runs: readonly SourceRun[];
  /** Ids at the source of the runs that points, attributes and artifacts belong to; each one once. */
  readonly sources: readonly string[];
  /** Metric keys; each one once. */
  readonly keys: readonly string[];
  readonly points: SourcePoints;
  readonly attributes: readonly SourceAttribute[];
  readonly artifacts: readonly SourceArtifact[];
};

/** An omission, or a note that the client wants to be shown. */
export type ImportWarning = { readonly code: string; readonly message: string };

/** Counts omitted items. */
export type Skipped = {
  /** Counts one more for this reason. */
  add(code: string): void;
  /** Returns how many items were omitted. */
  count(): number;
  /** Returns one warning for each reason. */
  warnings(): ImportWarning[];
};

/** Begins to count. */
export function createSkipped(): Skipped {
  const counts = new Map<string, number>();
  return {
    add: (code) => void counts.set(code, (counts.get(code) ?? 0) + 1),
    count: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    warnings: () => [...counts].map(([code, count]) => ({ code, message: `${count} skipped` })),
  };
}

/** Collects a content item by item. */
export type ContentBuilder = {
  addRun(run: SourceRun): void;
  addPoint(sourceId: string, key: string, step: number, value: number, timeUs: number | null): void;
  addAttribute(sourceId: string, attribute: Omit<SourceAttribute, "source">): void;
  addArtifact(sourceId: string, artifact: Omit<SourceArtifact, "source">): void;
  build(): Content;
};

/** Begins an empty content. */
export function createContentBuilder(): ContentBuilder {
  const runs: SourceRun[] = [];
  const attributes: SourceAttribute[] = [];
  const artifacts: SourceArtifact[] = [];
  const [sources, keys] = [createNumbering(), createNumbering()];
  const [pointSources, pointKeys]: [number[], number[]] = [[], []];
  const [steps, values, timesUs]: [number[], number[], number[]] = [[], [], []];
  return {
    addRun: (run) => void runs.push(run),
    addPoint(sourceId, key, step, value, timeUs) {
      pointSources.push(sources.of(sourceId));
      pointKeys.push(keys.of(key));
      steps.push(step);
      values.push(value);
      timesUs.push(timeUs ?? Number.NaN);
    },
    addAttribute: (sourceId, attribute) => void attributes.push({ source: sources.of(sourceId), ...attribute }),
    addArtifact: (sourceId, artifact) => void artifacts.push({ source: sources.of(sourceId), ...artifact }),
    build: () => ({
      runs,
      sources: sources.names,
      keys: keys.names,
      points: {
        sources: Uint32Array.from(pointSources),
        keys: Uint32Array.from(pointKeys),
        steps: Float64Array.from(steps),
        values: Float64Array.from(values),
        timesUs: Float64Array.from(timesUs),
      },
      attributes,
      artifacts,
    }),
  };
}

function createNumbering() {
  const names: string[] = [];
  const indexes = new Map<string, number>();
  // Neighbors are almost always equal.
  let last = "";
  let lastIndex = -1;
  return {
    names,
    of(name: string): number {
      if (name === last && lastIndex >= 0) return lastIndex;
      let index = indexes.get(name);
      if (index === undefined) {
        index = names.push(name) - 1;
        indexes.set(name, index);
      }
      last = name;
      lastIndex = index;
      return index;
    },
  };
}

/** Version of the form, its first byte. */
const FORM = 1;
/** The length of the texts and the number of points precede them. */
const HEAD_BYTES = 16;
/** Bytes of a point: three doubles and two indexes. */
const POINT_BYTES = 32;
/** A content is never larger: its body has at most 16 MiB, and an item of a few bytes there takes more here. */
const UNPACKED_BYTES_MAX = 512 * 1024 * 1024;

/** Packs a content for the database: texts as JSON, points as columns, all compressed. */
export function packContent(content: Content): Uint8Array {
  const { runs, sources, keys, attributes, artifacts, points } = content;
  const texts = JSON.stringify({ runs, sources, keys, attributes, artifacts });
  const count = points.steps.length;
  const textsEnd = HEAD_BYTES + Buffer.byteLength(texts);
  const bytes = Buffer.alloc(textsEnd + count * POINT_BYTES);
  bytes.writeUInt8(FORM, 0);
  bytes.writeUInt32LE(textsEnd - HEAD_BYTES, 4);
  bytes.writeUInt32LE(count, 8);
  // Not as separate bytes first, because they may be most of a body of 16 MiB.
  bytes.write(texts, HEAD_BYTES);
  let at = textsEnd;
  for (const column of [points.steps, points.values, points.timesUs, points.sources, points.keys]) {
    bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), at);
    at += column.byteLength;
  }
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

const decompress = promisify(zstdDecompress);

/** Returns the packed content, in turns with other work of the process. @throws Error for bytes that `packContent` did not make */
export async function unpackContent(packed: Uint8Array): Promise<Content> {
  const bytes = await decompress(packed, { maxOutputLength: UNPACKED_BYTES_MAX });
  if (bytes.readUInt8(0) !== FORM) throw new Error("a staged content has an unknown form");
  const textsEnd = HEAD_BYTES + bytes.readUInt32LE(4);
  const count = bytes.readUInt32LE(8);
  const texts = (await parseOwnJsonInTurns(bytes.subarray(HEAD_BYTES, textsEnd))) as Omit<Content, "points">;
  let at = textsEnd;
  const take = (size: number): ArrayBuffer => {
    // A copy, because columns must begin at multiples of their size.
    const column = new Uint8Array(bytes.subarray(at, at + count * size)).buffer;
    at += count * size;
    return column;
  };
  const steps = new Float64Array(take(8));
  const values = new Float64Array(take(8));
  const timesUs = new Float64Array(take(8));
  const sources = new Uint32Array(take(4));
  const keys = new Uint32Array(take(4));
  return { ...texts, points: { steps, values, timesUs, sources, keys } };
}
