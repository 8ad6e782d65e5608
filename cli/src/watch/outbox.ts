import { randomUUID } from "node:crypto";
import { METRIC_KEYS_MAX } from "@tidemark/limits";
import { instantOf } from "../convert/texts.ts";
import type { StorablePoints } from "../convert/point-lines.ts";
import type { Batch, Row, Sent } from "./watch-state.ts";

/** Most rows of a batch (API specification, Limits). */
const ROWS_MAX = 500;

/** Values after which a batch ends. */
const VALUES_MAX = 20_000;

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

type OpenRow = Row & { readonly metrics: Record<string, number> };
type Layer = Map<string, OpenRow>;

/** Without a prototype, so that a key like __proto__ is one as any other. */
const noMetrics = (): Record<string, number> => Object.create(null) as Record<string, number>;

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
    if (row !== undefined) row.metrics[key] = value;
    else {
      const metrics = noMetrics();
      metrics[key] = value;
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
      if (lastAt >= 0 && lastAt < steps.length && (steps[lastAt] !== last!.step || values[lastAt] !== last!.value)) {
        takenBack.add(key);
      }
      if (takenBack.has(key)) return;
      for (let i = Math.max(0, lastAt + 1); i < steps.length; i++) put(key, steps[i]!, values[i]!, times[i]!);
      const end = steps.length - 1;
      if (lastAt < end) known.set(key, { count: start + end + 1, step: steps[end]!, value: values[end]! });
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
