import type { FileSet } from "./file-sets.ts";

/** Seconds of the phases of an upload; a store without a phase has 0. */
export type UploadPhases = {
  /** Until it is known where bytes go. */
  readonly begin: number;
  /** While bytes are sent. */
  readonly send: number;
  /** Until the store says that it has all files; ours verifies them then. */
  readonly complete: number;
};

/** Requests that are on the way at a time, to each store alike. */
export const CONNECTIONS = 4;

/** A store of files that is measured. It holds one set at a time. */
export type ByteStore = {
  readonly name: string;
  /** Its processes by name; descendants count with them. */
  readonly processes: ReadonlyMap<string, number>;
  /** Addresses of Prometheus metrics of those that have them. */
  readonly metrics: ReadonlyMap<string, string>;
  upload(set: FileSet): Promise<UploadPhases>;
  /** Reads all files of the set whole and passes their bytes by. */
  download(onBytes: (file: number, bytes: Uint8Array) => void): Promise<void>;
  /** Deletes the set; its bytes are gone when it resolves. */
  remove(): Promise<void>;
  close(): Promise<void>;
};

/** Does `work` with each item, `CONNECTIONS` of them at a time. */
export async function eachTogether<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>) {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) await work(items[index]!, index);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}

/** Returns what `work` returns, and the seconds that it took. */
export async function timed<T>(work: () => Promise<T>): Promise<readonly [T, number]> {
  const started = performance.now();
  const result = await work();
  return [result, (performance.now() - started) / 1000];
}
