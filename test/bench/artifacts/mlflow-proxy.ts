import { rm } from "node:fs/promises";
import { join } from "node:path";
import { requirePython } from "@tidemark/testkit";
import type { BenchPostgres } from "../fresh-postgres.ts";
import { startMlflow } from "../metrics/mlflow-server.ts";
import { eachTogether, timed, type ByteStore } from "./byte-store.ts";
import type { FileSet } from "./file-sets.ts";
import { openTransfer } from "./transfer.ts";

const FOLDER = "bench";

/**
 * The artifact proxy of the real MLflow tracking server over a folder on the same disk. It takes a file with one PUT and verifies nothing. Undefined where
 * Python or its packages are not available, which is said loudly.
 */
export async function openMlflowProxy(postgres: BenchPostgres): Promise<ByteStore | undefined> {
  const python = await requirePython({
    requirements: join(import.meta.dirname, "../metrics/mlflow-requirements.txt"),
    leftOut: "the comparison with MLflow's artifact proxy",
  });
  if (python === undefined) return undefined;
  const { directory } = postgres;
  const server = await startMlflow({ ...python, databaseUrl: await postgres.database("bench_mlflow"), directory });
  const transfer = openTransfer();
  const urlOf = (path: string): string => `${server.uri}/api/2.0/mlflow-artifacts/artifacts/${FOLDER}/${path}`;
  let stored: FileSet | undefined;
  return {
    name: "MLflow's proxy",
    processes: new Map([["MLflow", server.pid]]),
    metrics: new Map(),
    async upload(set) {
      stored = set;
      const headers = { "content-type": "application/octet-stream" };
      const [, send] = await timed(() =>
        eachTogether(set.files, async ({ path, sizeBytes, pieces }) => {
          await transfer.put(urlOf(path), pieces(0, sizeBytes), headers);
        }),
      );
      return { begin: 0, send, complete: 0 };
    },
    async download(onBytes) {
      await eachTogether(stored?.files ?? [], ({ path }, file) =>
        transfer.get(urlOf(path), {}, (bytes) => onBytes(file, bytes)),
      );
    },
    remove: () => rm(join(directory, "mlflow-artifacts", FOLDER), { recursive: true, force: true }),
    async close() {
      await transfer.close();
      await server.stop();
    },
  };
}
