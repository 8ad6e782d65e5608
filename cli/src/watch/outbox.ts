import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { METRIC_KEYS_MAX } from "@tidemark/limits";
import { instantOf } from "../convert/texts.ts";
import type { StorablePoints } from "../convert/point-lines.ts";
import type { Surroundings } from "../surroundings.ts";

/** Points of one step, as the service takes them. */
export type Row = {
  readonly step: number;
  readonly timestamp?: string;
  readonly metrics: Readonly<Record<string, Value>>;
};

/** A value as JSON has it: a number, or the text of one that is not finite. */
type Value = number | string;

const jsonValue = (value: number): Value => (Number.isFinite(value) ? value : String(value));

/** Rows that are sent together, under their key. */
type Batch = { readonly key: string; readonly rows: readonly Row[] };

/** How many points of a metric are sent, and the last of them, by which it shows that a restart took back some. */
type Sent = { readonly count: number; readonly step: number; readonly value: Value };

/** How far a run is. */
export type RunState = {
  readonly sent: Readonly<Record<string, Sent>>;
  /** Batches that may have arrived; they go again under their keys before anything else. */
  readonly pending: readonly Batch[];
  /** Whether the run is closed on the server. */
  readonly isClosed: boolean;
};

/** A run that nothing was sent of. */
export const newRunState: RunState = { sent: {}, pending: [], isClosed: false };

/** Finds the points of a run that are new, in one pass over all of them. */
export type Outbox = {
  /** Takes the next points of a key in the order of the source. */
  readonly add: (points: StorablePoints) => void;
  /** How many new values are gathered. */
  readonly size: () => number;
  /** Returns the gathered batches, and what counts as sent after them. */
  readonly take: () => { readonly batches: Batch[]; readonly sent: Record<string, Sent> };
  /** Returns what was sent after the whole pass: keys whose points the source has taken back start over. */
  readonly end: () => Record<string, Sent>;
};

/** Most rows of a batch (API specification, Limits). */
const ROWS_MAX = 500;

/** Values after which a batch ends. */
const VALUES_MAX = 20_000;

type OpenRow = Row & { readonly metrics: Record<string, Value> };

type Layer = Map<string, OpenRow>;

/** Without a prototype, so that a key like __proto__ is one as any other. */
const noMetrics = (): Record<string, Value> => Object.create(null) as Record<string, Value>;

/** Begins a pass over the points of a run; `sent` says what was sent before. */
export function createOutbox(sent: Readonly<Record<string, Sent>>): Outbox {
  const known = new Map(Object.entries(sent));
  const seen = new Map<string, number>();
  const takenBack = new Set<string>();
  let rows: Layer[] = [new Map()];
  let gathered = 0;

  const put = (key: string, step: number, value: number, time: number): void => {
    const place = `${step} ${time}`;
    // A second value for the same key and step is a separate point and is sent later.
    let layer = rows.find((candidate) => {
      const row = candidate.get(place);
      return (
        row === undefined || (!Object.hasOwn(row.metrics, key) && Object.keys(row.metrics).length < METRIC_KEYS_MAX)
      );
    });
    if (layer === undefined) rows.push((layer = new Map<string, OpenRow>()));
    const row = layer.get(place);
    if (row !== undefined) row.metrics[key] = jsonValue(value);
    else {
      const metrics = noMetrics();
      metrics[key] = jsonValue(value);
      layer.set(place, { step, ...(Number.isNaN(time) ? {} : { timestamp: instantOf(time) }), metrics });
    }
    gathered += 1;
  };

  return {
    add({ key, steps, values, times }) {
      const start = seen.get(key) ?? 0;
      seen.set(key, start + steps.length);
      const last = known.get(key);
      const lastAt = (last?.count ?? 0) - 1 - start;
      if (
        lastAt >= 0 &&
        lastAt < steps.length &&
        (steps[lastAt] !== last!.step || jsonValue(values[lastAt]!) !== last!.value)
      ) {
        takenBack.add(key);
      }
      if (takenBack.has(key)) return;
      for (let i = Math.max(0, lastAt + 1); i < steps.length; i++) put(key, steps[i]!, values[i]!, times[i]!);
      const end = steps.length - 1;
      if (lastAt < end) known.set(key, { count: start + end + 1, step: steps[end]!, value: jsonValue(values[end]!) });
    },
    size: () => gathered,
    take() {
      const batches = cutRows(rows.flatMap((layer) => [...layer.values()]));
      rows = [new Map<string, OpenRow>()];
      gathered = 0;
      return { batches, sent: Object.fromEntries(known) };
    },
    end() {
      for (const [key, { count }] of known) if ((seen.get(key) ?? 0) < count) takenBack.add(key);
      return Object.fromEntries([...known].filter(([key]) => !takenBack.has(key)));
    },
  };
}

function cutRows(rows: readonly Row[]): Batch[] {
  const batches: { key: string; rows: Row[] }[] = [];
  let values = VALUES_MAX;
  for (const row of rows) {
    const open = batches.at(-1);
    if (open === undefined || open.rows.length === ROWS_MAX || values >= VALUES_MAX) {
      batches.push({ key: randomUUID(), rows: [row] });
      values = 0;
    } else open.rows.push(row);
    values += Object.keys(row.metrics).length;
  }
  return batches;
}

/** The states of the runs of a server. */
export type StateFiles = {
  /** Undefined where this machine has not begun to watch the run. */
  readonly read: (runId: string) => Promise<RunState | undefined>;
  /** Keeps a state; it is there as a whole or not at all. */
  readonly write: (runId: string, state: RunState) => Promise<void>;
};

/** Opens the states of the runs of a server. */
export async function openStates({ stateFolder }: Pick<Surroundings, "stateFolder">, url: string): Promise<StateFiles> {
  const folder = join(stateFolder, "watch", createHash("sha256").update(url).digest("hex").slice(0, 16));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const pathOf = (runId: string): string => join(folder, `${runId}.json`);
  return {
    async read(runId) {
      const text = await readFile(pathOf(runId), "utf8").catch(() => undefined);
      return text === undefined ? undefined : (JSON.parse(text) as RunState);
    },
    async write(runId, state) {
      const path = pathOf(runId);
      await writeFile(`${path}.tmp`, JSON.stringify(state), { mode: 0o600 });
      await rename(`${path}.tmp`, path);
    },
  };
}
