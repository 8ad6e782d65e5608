import { sql, type Tx } from "@tidemark/pg";
import type { PageChange } from "../domain/run-draft.ts";
import {
  boolArray,
  byteaArray,
  float8Array,
  int4Array,
  int8Array,
  textArray,
  uuidArray,
} from "../writes/binary-array.sql.ts";
import type { IdempotencyHashes } from "../writes/write-outcome.sql.ts";

/** A run that a group writes to. */
export type GroupRun = {
  readonly runId: string;
  /** The version that the rest was made for; 0: never written. */
  readonly version: number;
  readonly keyCount: number;
  readonly pointCount: number;
  /** A note that the run is unsettled is known to be recent. */
  readonly noted: boolean;
  readonly newKeys: readonly { readonly key: string; readonly keyId: number; readonly minimise: boolean }[];
  readonly changes: readonly PageChange[];
  /** At least one; they get the versions after `version`, one by one. */
  readonly writes: readonly GroupWrite[];
};

/** One accepted request of a group. */
export type GroupWrite = {
  readonly idempotency: IdempotencyHashes | null;
  /** Its landing block. */
  readonly block: Uint8Array;
  readonly firstStep: number;
  readonly lastStep: number;
  readonly valueCount: number;
  /** Seconds after which a compactor shall look at the run; null: it need not for this write. */
  readonly markerSeconds: number | null;
};

/**
 * What became of a group. `keys`: these requests, by their place among those of the group that have a key, cannot be stored: a repeat, a key
 * that was used for something else, or one that another transaction holds. `stale`: these runs have other versions by now.
 * Nothing was written in both of the last.
 */
export type GroupOutcome =
  | { readonly outcome: "applied" }
  | { readonly outcome: "keys"; readonly keys: readonly UnusableKey[] }
  | { readonly outcome: "stale"; readonly runIds: readonly string[] };

/** `inserted` is what the first request was answered. */
export type UnusableKey =
  | { readonly place: number; readonly state: "held" | "reused" }
  | { readonly place: number; readonly state: "replayed"; readonly inserted: number };

type Row = {
  outcome: "applied" | "keys" | "stale";
  places: number[] | null;
  sameBodies: (boolean | null)[] | null;
  replies: (Buffer | null)[] | null;
};

// The stretches are cut out here and not in the function, which would copy the whole array for each.
const statement = sql(
  "ingest_append_metric_group",
  `SELECT outcome, places, same_bodies AS "sameBodies", old_replies AS "replies"
   FROM ingest.append_metric_group($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
     ARRAY(SELECT ROW(s.run, s.page, s.slot, ($21::float8[])[s.after + 1 : s.after + s.length])::ingest.metric_head_stretch
           FROM unnest($22::int4[], $23::int4[], $24::int4[], $25::int4[], $26::int4[]) AS s (run, page, slot, after, length)))`,
);

const NO_MARKER = -1;

/** Stores a group of writes of one organization, wholly or not at all. The runs are in the order of their ids. */
export async function appendMetricGroup(tx: Tx, orgId: string, runs: readonly GroupRun[]): Promise<GroupOutcome> {
  const writes = runs.flatMap((run, place) => run.writes.map((write) => ({ ...write, place: place + 1 })));
  const seqs = runs.flatMap((run) => run.writes.map((_, i) => run.version + 1 + i));
  const keyed = writes.filter(({ idempotency }) => idempotency !== null);
  const newKeys = runs.flatMap((run, place) => run.newKeys.map((key) => ({ ...key, place: place + 1 })));
  const stretches = stretchesOf(runs);
  const row = await tx.one<Row>(statement, [
    orgId,
    uuidArray(runs.map(({ runId }) => runId)),
    int8Array(runs.map(({ version }) => version)),
    int8Array(runs.map(({ version, writes: own }) => version + own.length)),
    int4Array(runs.map(({ keyCount }) => keyCount)),
    int8Array(runs.map(({ pointCount }) => pointCount)),
    boolArray(runs.map(({ noted }) => noted)),
    int4Array(writes.map(({ place }) => place)),
    int8Array(seqs),
    float8Array(writes.map(({ firstStep }) => firstStep)),
    float8Array(writes.map(({ lastStep }) => lastStep)),
    byteaArray(writes.map(({ block }) => block)),
    float8Array(writes.map(({ markerSeconds }) => markerSeconds ?? NO_MARKER)),
    byteaArray(keyed.map(({ idempotency }) => idempotency!.key)),
    byteaArray(keyed.map(({ idempotency }) => idempotency!.body)),
    byteaArray(keyed.map(({ valueCount }) => replyOf(valueCount))),
    int4Array(newKeys.map(({ place }) => place)),
    textArray(newKeys.map(({ key }) => key)),
    int4Array(newKeys.map(({ keyId }) => keyId)),
    boolArray(newKeys.map(({ minimise }) => minimise)),
    float8Array(stretches.numbers),
    int4Array(stretches.runs),
    int4Array(stretches.pages),
    int4Array(stretches.slots),
    int4Array(stretches.starts),
    int4Array(stretches.lengths),
  ]);
  return outcomeOf(row!, runs);
}

function stretchesOf(runs: readonly GroupRun[]) {
  const all = runs.flatMap(({ changes }, place) => changes.map((change) => ({ ...change, place: place + 1 })));
  const lengths = all.map(({ stats }) => stats.length);
  const numbers = new Float64Array(lengths.reduce((sum, length) => sum + length, 0));
  const starts: number[] = [];
  let at = 0;
  for (const { stats } of all) {
    starts.push(at);
    numbers.set(stats, at);
    at += stats.length;
  }
  return {
    runs: all.map(({ place }) => place),
    pages: all.map(({ page }) => page),
    slots: all.map(({ slot }) => slot),
    starts,
    lengths,
    numbers,
  };
}

/** The reply that is kept for repeats: how many values were stored. */
function replyOf(valueCount: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32BE(valueCount);
  return bytes;
}

/** The number in a kept reply. */
export function insertedOf(reply: Uint8Array): number {
  return Buffer.from(reply.buffer, reply.byteOffset, reply.byteLength).readInt32BE();
}

function outcomeOf({ outcome, places, sameBodies, replies }: Row, runs: readonly GroupRun[]): GroupOutcome {
  if (outcome === "applied") return { outcome };
  if (outcome === "stale") return { outcome, runIds: places!.map((place) => runs[place - 1]!.runId) };
  const keys = places!.map((at, i): UnusableKey => {
    const place = at - 1;
    const reply = replies![i];
    if (reply === null || reply === undefined) return { place, state: "held" };
    return sameBodies![i] === true
      ? { place, state: "replayed", inserted: insertedOf(reply) }
      : { place, state: "reused" };
  });
  return { outcome, keys };
}
