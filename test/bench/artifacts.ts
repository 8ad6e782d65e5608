import { openMinioAlone } from "./artifacts/minio-alone.ts";
import { openMlflowProxy } from "./artifacts/mlflow-proxy.ts";
import { openOurStore } from "./artifacts/our-store.ts";
import type { ByteStore } from "./artifacts/byte-store.ts";
import {
  memoryHead,
  memoryLines,
  ratioLine,
  speedRatio,
  transferHead,
  transferLine,
} from "./artifacts/describe-bytes.ts";
import { planSets, type PlannedSet } from "./artifacts/file-sets.ts";
import { measureInTurn, wholeSeconds, type Trial } from "./artifacts/measure-bytes.ts";
import { measureMetadata } from "./artifacts/measure-metadata.ts";
import { parseBenchArguments } from "./command-line.ts";
import { withFreshPostgres, type BenchPostgres } from "./fresh-postgres.ts";
import { readHead, readLine } from "./http-reads.ts";

// Uploads and downloads of artifacts beside those of MinIO alone and of MLflow's artifact proxy, and reads of what is known about artifacts among
// thousands of other organizations. `--only` chooses a part ("signed", "through us", "metadata") or a set of files.

/** How many times as fast as MinIO alone we have to be where bytes go to it directly, and as MLflow where they pass through us. */
const TARGETS = { send: 0.95, whole: 0.5, proxy: 3 } as const;

const options = parseBenchArguments(process.argv.slice(2));
const { only, rounds, scale, modes } = options;
const say = (text: string): void => void (options.json ? process.stderr : process.stdout).write(`${text}\n`);
const found: object[] = [];

type Results = ReadonlyMap<ByteStore, readonly Trial[]>;

const sending = ({ phases }: Trial): number => phases.send;
const uploading = ({ phases }: Trial): number => wholeSeconds(phases);
const flushed = ({ phases, flush }: Trial): number => wholeSeconds(phases) + flush;
const downloading = ({ down }: Trial): number => down;

/** Measures the stores with each set and closes them. */
async function measurePart(
  part: string,
  sets: readonly PlannedSet[],
  stores: readonly ByteStore[],
  compare: (results: Results) => string[],
): Promise<void> {
  const all = new Map<ByteStore, Trial[]>(stores.map((store) => [store, []]));
  try {
    for (const { make } of sets) {
      const set = make();
      const results = await measureInTurn(stores, set, rounds);
      say(`\n${part}, ${set.name}\n\n${transferHead}`);
      for (const [store, trials] of results) {
        say(transferLine(store, set, trials));
        all.get(store)!.push(...trials);
        found.push({ part, set: set.name, store: store.name, trials: trials.map(plain) });
      }
      say(["", ...compare(results)].join("\n"));
    }
    say(`\n${part}, memory in MiB, the worst of all rounds and sets\n\n${memoryHead}`);
    for (const [store, trials] of all) for (const line of memoryLines(store, trials)) say(line);
  } finally {
    for (const store of stores.toReversed()) await store.close();
  }
}

const plain = (trial: Trial): object =>
  Object.fromEntries(
    Object.entries(trial).map(([name, value]) => [name, value instanceof Map ? Object.fromEntries(value) : value]),
  );

async function measureSigned(postgres: BenchPostgres, sets: readonly PlannedSet[]): Promise<void> {
  const { store: ours, minio } = await openOurStore(postgres, "signed addresses");
  const byClient = await openMinioAlone(minio!, { signed: false });
  const bySender = await openMinioAlone(minio!, { signed: true });
  await measurePart("signed addresses", sets, [ours, byClient, bySender], (results) =>
    [byClient, bySender].flatMap((other) => [
      ratioLine(speedRatio(`PUT, to ${other.name}`, results.get(ours)!, results.get(other)!, sending), TARGETS.send),
      ratioLine(
        speedRatio(`upload with complete, to ${other.name}`, results.get(ours)!, results.get(other)!, uploading),
        TARGETS.whole,
      ),
    ]),
  );
}

async function measureThrough(postgres: BenchPostgres, sets: readonly PlannedSet[]): Promise<void> {
  const ours: ByteStore[] = [];
  if (modes.includes("embedded")) ours.push((await openOurStore(postgres, "gateway to folder")).store);
  if (modes.includes("split")) ours.push((await openOurStore(postgres, "gateway to S3")).store);
  const mlflow = await openMlflowProxy(postgres);
  const stores = mlflow === undefined ? ours : [...ours, mlflow];
  await measurePart("through us", sets, stores, (results) =>
    mlflow === undefined
      ? []
      : ours.flatMap((store) => {
          const line = (what: string, seconds: (trial: Trial) => number): string =>
            ratioLine(
              speedRatio(`${store.name}, ${what}, to MLflow`, results.get(store)!, results.get(mlflow)!, seconds),
              TARGETS.proxy,
            );
          return [
            line("PUT", sending),
            line("upload with complete", uploading),
            line("upload with flush of the disk", flushed),
            line("download", downloading),
          ];
        }),
  );
}

await withFreshPostgres(async (postgres) => {
  const sets = planSets(scale);
  const chosen = (part: string): PlannedSet[] => sets.filter(({ name }) => `${part}, ${name}`.includes(only));
  const signed = chosen("signed addresses");
  if (signed.length > 0 && modes.includes("split")) await measureSigned(postgres, signed);
  const through = chosen("through us");
  if (through.length > 0) await measureThrough(postgres, through);
  if ("metadata".includes(only)) {
    for (const mode of modes) {
      const rows = await measureMetadata(postgres, mode, { scale, seconds: options.seconds, say });
      say(`\nmetadata, ${mode}\n\n${readHead}`);
      for (const row of rows) say(readLine(row));
      found.push({ part: "metadata", mode, rows });
    }
  }
});
if (options.json) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
