import type { Item, RunItem } from "@tidemark/import-formats";
import { usageFault } from "../cli-error.ts";
import { storablePoints } from "../convert/point-lines.ts";
import { documentsOf, mergeItem, runIdentity, type RunIdentity } from "../convert/run-heads.ts";
import { nameOf } from "../convert/texts.ts";
import type { ImportCommand } from "../options.ts";
import { createClient, isRefusal, refused, type Client } from "../server/client.ts";
import type { Source } from "../source/source.ts";
import type { Surroundings } from "../surroundings.ts";
import { createWarnings, type Warnings } from "../terminal/warnings.ts";
import { createOutbox, newRunState, openStates, type Outbox, type RunState, type StateFiles } from "./outbox.ts";

/** How long it waits between two passes, at least; a source that takes long to read is read less often. */
const PAUSE_MS = 2000;

/** New values after which they are sent, before a pass ends. */
const GATHERED_MAX = 10_000;

/** How long the closing of runs may take after Ctrl-C. */
const CLOSING_MS = 10_000;

type Watched = RunIdentity & {
  item: RunItem;
  /** Undefined: the server does not have it yet. "foreign": it was created another way, so its progress is unknown. */
  state: RunState | undefined | "foreign";
  outbox: Outbox | undefined;
};

type Watch = {
  readonly source: Source;
  readonly project: string | undefined;
  readonly client: Client;
  readonly states: StateFiles;
  readonly runs: Map<string, Watched>;
  readonly surroundings: Surroundings;
};

/**
 * Sends the points of a training that still writes, until all of its runs have ended (W&B says so) or Ctrl-C, which closes runs of TensorBoard. What was
 * sent is noted before it is sent, so another start doubles nothing. @throws CliError
 */
export async function watch(command: ImportCommand, source: Source, surroundings: Surroundings): Promise<number> {
  if (source.kind !== "tensorboard" && source.kind !== "wandb") throw usageFault("--watch is for TensorBoard and W&B");
  const { server, project } = command;
  const client = createClient(server, surroundings);
  const states = await openStates(surroundings, server.url);
  const watching: Watch = { source, project, client, states, runs: new Map(), surroundings };
  const { signal, now, wait, print } = surroundings;
  for (;;) {
    const start = now();
    const warnings = createWarnings();
    const isNew = await pass(watching, warnings).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return false;
    });
    if (!isNew && hasEnded(watching)) {
      for (const line of warnings.lines()) print(`warning: ${line}`);
      return 0;
    }
    if (!isNew && !signal.aborted) await wait(Math.max(PAUSE_MS, 5 * (now() - start)));
    if (!signal.aborted) continue;
    if (source.kind === "tensorboard") await closeAll(watching, server);
    print("no longer watching; the same command goes on");
    for (const line of warnings.lines()) print(`warning: ${line}`);
    return 0;
  }
}

/** Reads the source once and sends new data. Returns whether another pass should follow immediately. */
async function pass(watching: Watch, warnings: Warnings): Promise<boolean> {
  const { source, runs, surroundings } = watching;
  for (const run of runs.values()) run.outbox = undefined;
  for await (const item of source.items()) {
    surroundings.signal.throwIfAborted();
    await take(watching, item, warnings);
  }
  let again = false;
  for (const run of runs.values()) {
    if (run.state === undefined) {
      await begin(watching, run);
      again = true;
    } else if (run.state !== "foreign" && run.outbox !== undefined) {
      await flush(watching, run);
      const before = Object.keys(run.state.sent).length;
      const sent = run.outbox.end();
      if (Object.keys(sent).length < before) again = true;
      run.state = { ...run.state, sent };
      await watching.states.write(run.id, run.state);
      if (!again && isOver(run.item) && !run.state.isClosed) await close(watching.client, watching, run);
    }
  }
  return again;
}

async function take(watching: Watch, item: Item, warnings: Warnings): Promise<void> {
  const { source, project, runs } = watching;
  if (item.kind === "warning") return warnings.add(`left out (${item.code})`, item.detail, item.count);
  const run = runs.get(item.run);
  if (item.kind === "run") {
    if (run === undefined) {
      const identity = await runIdentity(source, project, item, warnings);
      const state = await watching.states.read(identity.id);
      runs.set(item.run, { ...identity, item, state, outbox: undefined });
    } else run.item = mergeItem(run.item, item);
  } else if (item.kind !== "points") warnings.add(`left out while watching: ${item.kind}`, item.run);
  else if (run?.state === "foreign")
    warnings.add("points of runs that came in another way", item.run, item.steps.length);
  else if (run?.state !== undefined) {
    const points = storablePoints(item, warnings);
    run.outbox ??= createOutbox(run.state.sent);
    if (points !== undefined) run.outbox.add(points);
    if (run.outbox.size() >= GATHERED_MAX) await flush(watching, run);
  }
}

/** Creates the run. One that is there already, without a state, was imported or is watched by another machine. */
async function begin({ client, states, surroundings }: Watch, run: Watched): Promise<void> {
  const there = await client.call("GET", `/runs/${run.id}?metric_limit=1`);
  if (!isRefusal(there)) {
    run.state = "foreign";
    return surroundings.print(`${run.item.run} is there already; it is not watched`);
  }
  if (there.status !== 404) throw refused("the runs of the server cannot be read", there);
  await states.write(run.id, newRunState);
  await createRun(client, run, "auto");
  run.state = newRunState;
  surroundings.print(`watching ${run.item.run} as run ${run.id}`);
}

async function createRun(client: Client, { id, project, item }: Watched, mode: "auto" | "resume"): Promise<void> {
  const { config, metadata } = documentsOf(item, createWarnings());
  const json = {
    mode,
    id,
    project,
    name: nameOf(item.name ?? item.run) || id,
    tags: (item.tags ?? []).map(nameOf).filter((tag) => tag !== ""),
    config: JSON.parse(config) as unknown,
    metadata: JSON.parse(metadata) as unknown,
  };
  const answer = await client.call("POST", "/runs", { json });
  if (isRefusal(answer)) throw refused(`the run ${item.run} cannot be created`, answer);
}

/** Sends the pending batches, which may have arrived before, then the gathered ones. */
async function flush({ client, states }: Watch, run: Watched): Promise<void> {
  let state = run.state as RunState;
  const { batches, sent } = run.outbox!.take();
  if (state.pending.length + batches.length === 0) return;
  state = { ...state, sent, pending: [...state.pending, ...batches] };
  await states.write(run.id, state);
  run.state = state;
  // This includes a run that this machine only noted it would create.
  await createRun(client, run, state.isClosed ? "resume" : "auto");
  while (state.pending.length > 0) {
    const [batch, ...rest] = state.pending;
    const path = `/runs/${run.id}/metrics/batch`;
    const answer = await client.call("POST", path, {
      json: { points: batch!.rows },
      headers: { "idempotency-key": batch!.key },
    });
    if (isRefusal(answer)) throw refused(`the points of ${run.item.run} were not stored`, answer);
    state = { ...state, pending: rest, isClosed: false };
    await states.write(run.id, state);
    run.state = state;
  }
}

/** Only a run of W&B says that it has ended: by its exit code. Readers call one without it failed, as it would be after its training. */
function isOver({ source, metadata }: RunItem): boolean {
  return source === "wandb" && metadata?.["exit_code"] !== undefined;
}

function hasEnded({ runs }: Watch): boolean {
  return runs.size > 0 && [...runs.values()].every((run) => run.state === "foreign" || isOver(run.item));
}

async function close(client: Client, { states }: Watch, run: Watched): Promise<void> {
  const status = run.item.status === "failed" ? "failed" : "finished";
  const answer = await client.call("PATCH", `/runs/${run.id}`, { json: { status } });
  if (isRefusal(answer)) throw refused(`the run ${run.item.run} cannot be closed`, answer);
  run.state = { ...(run.state as RunState), isClosed: true };
  await states.write(run.id, run.state);
}

async function closeAll(watching: Watch, server: ImportCommand["server"]): Promise<void> {
  const signal = AbortSignal.timeout(CLOSING_MS);
  const client = createClient(server, { ...watching.surroundings, signal });
  for (const run of watching.runs.values()) {
    if (run.state !== undefined && run.state !== "foreign" && !run.state.isClosed) await close(client, watching, run);
  }
}
