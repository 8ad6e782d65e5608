import { execFile } from "node:child_process";
import { createHash, type Hash } from "node:crypto";
import { promisify } from "node:util";
import { cpuOfTree } from "../cpu.ts";
import { timed, type ByteStore, type UploadPhases } from "./byte-store.ts";
import type { FileSet } from "./file-sets.ts";
import { watchMemory, type MemoryPeak } from "./watch-memory.ts";

/** CPU seconds by process. */
export type CpuByProcess = ReadonlyMap<string, number>;

/** One upload and one download of a set. */
export type Trial = {
  readonly phases: UploadPhases;
  /** Seconds after the upload until the system had written what the store left in memory. */
  readonly flush: number;
  readonly down: number;
  readonly cpuUp: CpuByProcess;
  readonly cpuDown: CpuByProcess;
  readonly memoryUp: ReadonlyMap<string, MemoryPeak>;
  readonly memoryDown: ReadonlyMap<string, MemoryPeak>;
};

/** Seconds of an upload as its client sees it. */
export const wholeSeconds = ({ begin, send, complete }: UploadPhases): number => begin + send + complete;

/** Measures each store in turn, several times. The first download is compared with what was sent. */
export async function measureInTurn(
  stores: readonly ByteStore[],
  set: FileSet,
  rounds: number,
): Promise<ReadonlyMap<ByteStore, readonly Trial[]>> {
  const trials = new Map<ByteStore, Trial[]>(stores.map((store) => [store, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const store of stores) trials.get(store)!.push(await measureOnce(store, set, round === 0));
  }
  return trials;
}

async function measureOnce(store: ByteStore, set: FileSet, check: boolean): Promise<Trial> {
  const up = await watched(store, () => store.upload(set));
  const [, flush] = await timed(flushDisk);
  let bytes = 0;
  const down = await watched(store, async () => {
    const [, seconds] = await timed(() => store.download((_file, piece) => void (bytes += piece.length)));
    return seconds;
  });
  if (bytes !== set.bytes) throw new Error(`${store.name} sent ${bytes} bytes of ${set.bytes}`);
  if (check) await requireSame(store, set);
  await store.remove();
  await flushDisk();
  return {
    phases: up.result,
    flush,
    down: down.result,
    cpuUp: up.cpu,
    cpuDown: down.cpu,
    memoryUp: up.memory,
    memoryDown: down.memory,
  };
}

async function watched<T>(store: ByteStore, work: () => Promise<T>) {
  const memoryWatch = await watchMemory(store);
  const before = await readCpuOf(store);
  const result = await work();
  const after = await readCpuOf(store);
  const memory = await memoryWatch.stop();
  const cpu: CpuByProcess = new Map([...after].map(([name, seconds]) => [name, seconds - before.get(name)!]));
  return { result, cpu, memory };
}

async function readCpuOf({ processes }: ByteStore): Promise<Map<string, number>> {
  const readings = [...processes].map(async ([name, pid]) => [name, (await cpuOfTree(pid)) ?? Number.NaN] as const);
  return new Map(await Promise.all(readings));
}

/** @throws Error when a file that is downloaded is not the one that was sent */
async function requireSame(store: ByteStore, { files }: FileSet): Promise<void> {
  const hashes = new Map<number, Hash>();
  await store.download((file, piece) => {
    const hash = hashes.get(file) ?? createHash("sha256");
    hashes.set(file, hash.update(piece));
  });
  for (const [index, { path, sha256 }] of files.entries()) {
    if (hashes.get(index)?.digest("hex") !== sha256) throw new Error(`${store.name} has changed ${path}`);
  }
}

const run = promisify(execFile);

/** Writes what the system keeps in memory for the disk, so that no store pays for the one before. */
async function flushDisk(): Promise<void> {
  await run("sync");
}
