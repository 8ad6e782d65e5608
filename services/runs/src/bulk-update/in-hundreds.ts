import { isAnswered, withIdempotency, type IdempotentRequest, type Tx } from "@tidemark/pg";
import { callerOf, type Caller } from "@tidemark/requests";
import type { Call } from "@tidemark/rpc";
import type { RunsDeps } from "../deps.ts";
import { hundredsOf, readIds, writeIds } from "./bulk-updates.rules.ts";
import { selectedRuns, visibleRuns, type RunSelection } from "./update-hundred.ts";

/** A request to change many runs. */
type HundredsRequest = RunSelection & { readonly dryRun: boolean; readonly idempotencyKey: string };

/** How each hundred changes. */
export type HundredChange = {
  /** Of the REST route: a key of one cannot be used on another. */
  readonly route: string;
  /** Called with all runs before any changes, but not again by a call that continues. */
  readonly admit?: (runIds: readonly string[]) => Promise<void>;
  /**
   * Changes all of these runs and returns for each an id, that of its project or, if `makesRuns`, of the run that was made of it; undefined, and
   * nothing is changed, when one of them cannot be changed.
   */
  readonly change: (tx: Tx, runIds: string[]) => Promise<ReadonlyMap<string, string> | undefined>;
  /** The ids are kept with the results, and repeated calls get them whatever became of the runs. */
  readonly makesRuns?: boolean;
  /** Gets what `change` returned once that is committed. */
  readonly onChanged: (changed: ReadonlyMap<string, string>) => void;
};

/** The result of a batch of a hundred runs. */
type Result = {
  readonly runIds: string[];
  readonly ok: boolean;
  readonly error: string;
  /** The runs that were made of them, in their order. */
  readonly madeIds?: readonly string[];
  readonly replayed?: boolean;
};

/** What became of the runs. */
type HundredsAnswer = {
  readonly matched: number;
  readonly updated: number;
  readonly failed: number;
  readonly results: {
    readonly runIds: string[];
    readonly ok: boolean;
    readonly error: string;
    /** The runs that were made of them, in their order. */
    readonly madeIds: readonly string[];
  }[];
  readonly replayed: boolean;
};

const nothing = () => Promise.resolve();

/** No hundred is started in the last milliseconds of a request, so that its answer arrives. */
const RESERVE_MS = 1500;

/**
 * Changes the runs that a request names or finds, a hundred in each transaction. With a key, the first call stores the runs it found, and each hundred
 * stores its result; a repeated call continues with the hundreds that were not reached, and changes none twice. A dry run changes nothing.
 * @throws bad_request, run_search_invalid, run_search_too_broad, idempotency_key_reused, idempotency_in_progress, and what `change` throws
 */
export async function inHundreds(
  deps: RunsDeps,
  call: Call,
  request: HundredsRequest,
  change: HundredChange,
): Promise<HundredsAnswer> {
  const caller = callerOf(call);
  if (request.dryRun) return answerOf(await tryHundreds(deps, caller, await selectedRuns(deps, call, request)));
  const keyed = keyedOf(request, change.route, caller);
  const ids = await keptSelection(deps, call, request, { keyed, change });
  const results: Result[] = [];
  for (const [index, runIds] of hundredsOf(ids).entries()) {
    const isReached = Date.now() < call.deadlineMs - RESERVE_MS;
    results.push(
      isReached
        ? await changeHundred(deps, caller, change, { runIds, keyed: partOf(keyed, index) })
        : { runIds, ok: false, error: "not_reached" },
    );
  }
  const answer = answerOf(results);
  return { ...answer, updated: answer.matched - answer.failed };
}

/** A key used within another project belongs to another request, which may see other runs. */
function keyedOf(request: HundredsRequest, route: string, caller: Caller): IdempotentRequest | undefined {
  const {
    $typeName: _type,
    $unknown: _unknown,
    idempotencyKey: key,
    ...body
  } = request as HundredsRequest & { readonly $typeName?: unknown; readonly $unknown?: unknown };
  if (key === "") return undefined;
  const json = JSON.stringify(body, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  return { key, route, parts: [caller.projectId ?? "", json] };
}

/** The key of a hundred. No client can send it, because keys contain no blanks. */
function partOf(keyed: IdempotentRequest | undefined, index: number): IdempotentRequest | undefined {
  return keyed === undefined ? undefined : { ...keyed, key: `${keyed.key} ${index}` };
}

/** Returns the runs that the request selects; with a key, the runs that its first call selected, because a change may take runs out of a filter. */
async function keptSelection(
  deps: RunsDeps,
  call: Call,
  request: HundredsRequest,
  { keyed, change }: { readonly keyed: IdempotentRequest | undefined; readonly change: HundredChange },
): Promise<readonly string[]> {
  const select = async (): Promise<readonly string[]> => {
    const selected = await selectedRuns(deps, call, request);
    await change.admit?.(selected);
    return selected;
  };
  if (keyed === undefined) return select();
  const { orgId } = callerOf(call);
  // Chosen before the key is taken: the holder of the key must not wait for connections held by requests that wait for the key.
  const isKept = await isAnswered(deps.db, orgId, keyed.key);
  const found = isKept ? [] : await select();
  const { reply } = await withIdempotency(deps.db, orgId, keyed, nothing, () => Promise.resolve(writeIds(found)));
  return readIds(reply);
}

/** Changes a hundred, or finds its stored result. A run that the caller can no longer see fails the hundred in both cases. */
async function changeHundred(
  { db }: RunsDeps,
  caller: Caller,
  { change, makesRuns = false, onChanged }: HundredChange,
  { runIds, keyed }: { readonly runIds: string[]; readonly keyed: IdempotentRequest | undefined },
): Promise<Result> {
  let isVisible = true;
  let changed: ReadonlyMap<string, string> | undefined;
  const { reply, replayed } = await withIdempotency(
    db,
    caller.orgId,
    keyed,
    async (tx) => {
      if (keyed !== undefined && !makesRuns) {
        isVisible = (await visibleRuns(tx, caller, runIds)).size === runIds.length;
      }
    },
    async (tx) => {
      changed = await change(tx, runIds);
      const made = changed !== undefined && makesRuns ? runIds.map((id) => changed!.get(id)!) : [];
      return Buffer.concat([Uint8Array.of(Number(changed !== undefined)), writeIds(made)]);
    },
  );
  if (changed !== undefined) onChanged(changed);
  return { ...resultOf(runIds, isVisible && reply[0] === 1, replayed), madeIds: readIds(reply.subarray(1)) };
}

/** Returns which hundreds would change. */
async function tryHundreds({ db }: RunsDeps, caller: Caller, ids: readonly string[]): Promise<Result[]> {
  const visible = await db.readTenant(caller.orgId, (tx) => visibleRuns(tx, caller, ids));
  return hundredsOf(ids).map((runIds) =>
    resultOf(
      runIds,
      runIds.every((id) => visible.has(id)),
    ),
  );
}

function resultOf(runIds: string[], ok: boolean, replayed = false): Result {
  return { runIds, ok, error: ok ? "" : "not_found_or_unauthorized", replayed };
}

function answerOf(results: readonly Result[]): HundredsAnswer {
  const runsOf = (some: readonly Result[]): number => some.reduce((sum, { runIds }) => sum + runIds.length, 0);
  return {
    matched: runsOf(results),
    updated: 0,
    failed: runsOf(results.filter(({ ok }) => !ok)),
    results: results.map(({ runIds, ok, error, madeIds = [] }) => ({ runIds, ok, error, madeIds })),
    replayed: results.length > 0 && results.every(({ replayed }) => replayed === true),
  };
}
