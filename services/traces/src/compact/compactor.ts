import { startRounds, createPauses, nextTurn } from "@tidemark/work";
import type { Db, Tx } from "@tidemark/pg";
import type { Log, Metrics } from "@tidemark/telemetry";
import {
  claimTraces,
  postpone,
  eachPayloads,
  findRest,
  finishWork,
  replaceSegments,
  weighSegments,
} from "./compaction-work.sql.ts";
import { createByteReader, skipPayload, unpack } from "@tidemark/codecs/spans";
import type { SpanTable } from "../fold/span-table.rules.ts";
import { catchUp } from "../state/segments.sql.ts";
import { newTraceState, type TraceKey } from "../state/trace-state.rules.ts";
import { isWorthRewriting, rewriteSegments } from "../state/segments.rules.ts";

/** A compactor that runs. */
export type Compactor = {
  /** Does all due work, and resolves when none is left. */
  round(): Promise<void>;
  /** Ends after the current trace. */
  stop(): Promise<void>;
};

/** How long a claim lasts: several times as long as the largest trace takes. The claims of a killed process are due again after that. */
const LEASE_SECONDS = 60;
const CLAIMED_MAX = 8;
const TICK_MS = 1000;

/** Compacts the traces of all organizations, while other processes do the same. */
export function startCompactor(options: {
  readonly db: Db;
  /** As the worker's role, which sees due work of all organizations. */
  readonly workerDb: Db;
  readonly quietSeconds: number;
  readonly metrics: Pick<Metrics, "compactionVisit">;
  readonly log: Pick<Log, "warn">;
  readonly tickMs?: number;
}): Compactor {
  const { db, workerDb, quietSeconds, metrics, log } = options;

  const round = async (isStopped: () => boolean): Promise<void> => {
    while (!isStopped()) {
      const claimed = await claimTraces(workerDb, CLAIMED_MAX, LEASE_SECONDS);
      for (const key of claimed) {
        if (isStopped()) return;
        const started = performance.now();
        const seconds = (): number => (performance.now() - started) / 1000;
        try {
          const done = await compactTrace(db, key, quietSeconds);
          if (done.kind === "later") await postpone(workerDb, key, done.seconds);
          const { rows, blocks } = done.kind === "rewritten" ? done : { rows: 0, blocks: 0 };
          metrics.compactionVisit({ kind: "traces", ok: true, rows, blocks, seconds: seconds() });
        } catch (error) {
          log.warn("compaction failed; it is tried again", {
            kind: "traces",
            org_id: key.orgId,
            run_id: key.runId,
            error,
          });
          metrics.compactionVisit({ kind: "traces", ok: false, rows: 0, blocks: 0, seconds: seconds() });
        }
      }
      if (claimed.length < CLAIMED_MAX) return;
    }
  };
  const rounds = startRounds({
    everyMs: options.tickMs ?? TICK_MS,
    isFirstNow: false,
    round,
    onError: (error) => log.warn("the round of compaction failed; the next one tries again", { error }),
  });
  return { round: rounds.begin, stop: rounds.stop };
}

/**
 * The result for a trace: it was rewritten, it stays unchanged, or it has to be checked again. `rows` are segments that were read, `blocks` those that
 * were written in their place.
 */
type Compacted =
  | { readonly kind: "rewritten"; readonly rows: number; readonly blocks: number }
  | { readonly kind: "kept" }
  | { readonly kind: "later"; readonly seconds: number };

/** This many segments that are not compacted are rewritten even while events arrive. */
const SEGMENTS_SOON = 256;
/** The payloads of a trace are in memory while it is rewritten; larger ones stay as they arrived. */
const PAYLOAD_BYTES_MAX = 64 * 1024 * 1024;

/** Rewrites a trace that has been quiet, if it is worth it, in one transaction that fails when events were added meanwhile. */
async function compactTrace(db: Db, key: TraceKey, quietSeconds: number): Promise<Compacted> {
  const { orgId } = key;
  const rest = await db.withTenant(orgId, async (tx) => {
    const found = await findRest(tx, key);
    return found === undefined ? undefined : { ...found, bytes: await weighSegments(tx, key) };
  });
  if (rest === undefined) return { kind: "kept" };
  if (rest.quietSeconds < quietSeconds && rest.segments - rest.compacted < SEGMENTS_SOON) {
    return { kind: "later", seconds: quietSeconds - rest.quietSeconds };
  }
  const keep = async (): Promise<Compacted> => {
    await db.withTenant(orgId, (tx) => finishWork(tx, key, rest.version));
    return { kind: "kept" };
  };
  if (!isWorthRewriting(rest.bytes, rest.compacted)) return keep();
  const read = await db.readTenant(orgId, async (tx) => {
    const state = newTraceState();
    await catchUp(tx, key, state);
    const { table } = state.fold;
    if (payloadBytesOf(table) > PAYLOAD_BYTES_MAX) return undefined;
    return { version: state.version, table, payloads: await readLastPayloads(tx, key, table) };
  });
  if (read === undefined) return keep();
  const { version, table, payloads } = read;
  const segments = await rewriteSegments(table, (span) => payloads[span]!, nextTurn);
  const isReplaced = await db.withTenant(orgId, (tx) => replaceSegments(tx, key, version, segments));
  if (!isReplaced) return { kind: "later", seconds: quietSeconds };
  return { kind: "rewritten", rows: rest.segments, blocks: segments.length };
}

function payloadBytesOf({ ids, columns }: SpanTable): number {
  let bytes = 0;
  for (let span = 0; span < ids.count; span++) bytes += columns.payloadBytes[span]!;
  return bytes;
}

/** Spans that are looked at between two looks at the clock. */
const SPANS_TOGETHER = 1024;

/** Returns the bytes of the payload of each span: those of the event that counts. */
async function readLastPayloads(tx: Tx, key: TraceKey, { ids, columns }: SpanTable): Promise<Uint8Array[]> {
  const bySegment = new Map<number, Map<number, number>>();
  const pauseIfLong = createPauses();
  for (let span = 0; span < ids.count; span++) {
    const pause = span % SPANS_TOGETHER === 0 ? pauseIfLong() : undefined;
    if (pause !== undefined) await pause;
    const segment = columns.segment[span]!;
    if (!bySegment.has(segment)) bySegment.set(segment, new Map());
    bySegment.get(segment)!.set(columns.place[span]!, span);
  }
  const payloads: Uint8Array[] = [];
  await eachPayloads(tx, key, ({ id, payloads: packed }) => {
    const spans = bySegment.get(id);
    if (spans === undefined) return;
    const bytes = unpack(packed);
    const from = createByteReader(bytes);
    for (let place = 0; from.left() > 0; place++) {
      const start = bytes.length - from.left();
      skipPayload(from);
      const span = spans.get(place);
      // A copy, because the memory is used again.
      if (span !== undefined) payloads[span] = Uint8Array.from(bytes.subarray(start, bytes.length - from.left()));
    }
  });
  return payloads;
}
