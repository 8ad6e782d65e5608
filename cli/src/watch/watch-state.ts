import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Surroundings } from "../surroundings.ts";

/** Points of one step, as the service takes them. */
export type Row = {
  readonly step: number;
  readonly timestamp?: string;
  readonly metrics: Readonly<Record<string, number>>;
};

/** Rows that are sent together, under their key. */
export type Batch = { readonly key: string; readonly rows: readonly Row[] };

/** How many points of a metric are sent, and the last of them, by which it shows that a restart took back some. */
export type Sent = { readonly count: number; readonly step: number; readonly value: number };

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
