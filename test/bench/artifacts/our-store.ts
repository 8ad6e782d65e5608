import { setTimeout as pause } from "node:timers/promises";
import type { Answer } from "../../stack/client.ts";
import { openBenchStack } from "../bench-stack.ts";
import type { Minio } from "@tidemark/local";
import type { BenchPostgres } from "../fresh-postgres.ts";
import { eachTogether, timed, type ByteStore } from "./byte-store.ts";
import type { FileSet } from "./file-sets.ts";
import { openTransfer } from "./transfer.ts";

/** How bytes go: to signed addresses of the S3 server, through the gateway to it, or through the gateway into a folder. */
export type Route = "signed addresses" | "gateway to S3" | "gateway to folder";

type Part = { part_number: number; url: string; required_headers: Record<string, string> };
type PlannedFile = { entry_id: string; path: string; part_size_bytes: number; part_count: number; parts: Part[] };
type Job = { readonly at: number; readonly part: Part; readonly planned: PlannedFile };

function fine(what: string, answer: Answer): Answer {
  if (answer.status !== 200) throw new Error(`${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
  return answer;
}

/** Deleted bytes go at once, so that the disk holds one set at a time. */
const SETTINGS = { TIDEMARK_ARTIFACT_GRACE_DAYS: "0", TIDEMARK_ARTIFACT_SWEEP_SECONDS: "1" };
const REMOVE_MS = 60_000;

/** Starts the product on a new database, with bytes on this route, and returns it as a store, with the MinIO server that it has; this counts as one of its processes. */
export async function openOurStore(
  postgres: BenchPostgres,
  route: Route,
): Promise<{ readonly store: ByteStore; readonly minio: Minio | undefined }> {
  const bench = await openBenchStack(
    postgres,
    route === "gateway to folder" ? "embedded" : "split",
    `bench_${route.replaceAll(" ", "_").toLowerCase()}`,
    { ...SETTINGS, ...(route === "gateway to S3" ? { TIDEMARK_S3_PUBLIC_ENDPOINT: "" } : {}) },
  );
  const { stack, owner } = bench;
  const { children, baseUrl } = stack;
  const minio = stack.minio?.first;
  const scopes = ["sdk:ingest", "export:read", "artifacts:write", "artifacts:manage"];
  const { orgId, key, api } = await stack.organization({ scopes });
  const made = fine("no run", await api.post("/runs", { project: "bench" }));
  const runId = made.json.run.id as string;
  const transfer = openTransfer();
  const authorization = { authorization: `Bearer ${key}` };
  const names =
    stack.mode === "embedded"
      ? [["all", "gateway"] as const]
      : [...children.keys()].map((name) => [name, name] as const);
  let versionId = "";

  const begin = async ({ files }: FileSet) => {
    const entries = files.map(({ path, sizeBytes, sha256 }) => ({ path, size_bytes: sizeBytes, sha256 }));
    const wish = { collection: { name: "bench", type: "model" }, manifest: { entries } };
    return fine("no upload", await api.post(`/api/runs/${runId}/artifact-uploads`, wish)).json as {
      upload_session: { id: string };
      files: PlannedFile[];
    };
  };
  const complete = async (sessionId: string, body: object): Promise<string> => {
    for (;;) {
      const answer = await api.post(`/api/artifact-uploads/${sessionId}/complete`, body);
      // It is being verified; the same request waits on.
      if (answer.status !== 503) return fine("not complete", answer).json.artifact_version.id as string;
      await pause(20);
    }
  };

  const store: ByteStore = {
    name: route,
    processes: new Map([
      ...names.map(([name, module]) => [name, children.get(module)!.pid] as const),
      ...(minio === undefined ? [] : [["MinIO", minio.pid] as const]),
    ]),
    metrics: new Map(
      names.map(([name, module]) => [name, `http://127.0.0.1:${stack.metricsPorts.get(module)}/metrics`] as const),
    ),
    async upload(set) {
      const [plan, beginSeconds] = await timed(() => begin(set));
      const jobs = plan.files.flatMap((planned): Job[] => {
        if (planned.parts.length !== planned.part_count)
          throw new Error(`${planned.path} has more parts than were named`);
        const at = set.files.findIndex(({ path }) => path === planned.path);
        return planned.parts.map((part) => ({ at, part, planned }));
      });
      const tags = new Map(plan.files.map(({ entry_id: id }) => [id, [] as { part_number: number; etag: string }[]]));
      const [, send] = await timed(() =>
        eachTogether(jobs, async ({ at, part, planned }) => {
          const { pieces, sizeBytes } = set.files[at]!;
          const { part_number: number, url, required_headers: headers } = part;
          const bytes = planned.part_count === 1 ? sizeBytes : planned.part_size_bytes;
          const start = (number - 1) * bytes;
          const etag = await transfer.put(url, pieces(start, Math.min(sizeBytes, start + bytes)), headers);
          tags.get(planned.entry_id)!.push({ part_number: number, etag: etag.replaceAll('"', "") });
        }),
      );
      const sent = plan.files.map(({ entry_id: id }) => ({
        entry_id: id,
        parts: tags.get(id)!.toSorted((a, b) => a.part_number - b.part_number),
      }));
      const [version, completeSeconds] = await timed(() => complete(plan.upload_session.id, { files: sent }));
      versionId = version;
      return { begin: beginSeconds, send, complete: completeSeconds };
    },
    async download(onBytes) {
      const manifest = await api.get(`/api/artifact-versions/${versionId}/manifest?limit=1000`);
      const entries = fine("no manifest", manifest).json.entries as { id: string; path: string }[];
      const inOrder = entries.toSorted((a, b) => a.path.localeCompare(b.path, "en", { numeric: true }));
      await eachTogether(inOrder, ({ id }, file) =>
        transfer.get(`${baseUrl}/api/artifact-entries/${id}/download`, authorization, (bytes) => onBytes(file, bytes)),
      );
    },
    async remove() {
      const body = { delete_aliases: true, confirm: versionId, reason: "measured" };
      fine("not deleted", await api.call("DELETE", `/api/artifact-versions/${versionId}`, { body }));
      const until = performance.now() + REMOVE_MS;
      for (;;) {
        const { rowCount } = await owner.query("SELECT FROM artifacts.objects WHERE org_id = $1", [orgId]);
        if (rowCount === 0) return;
        if (performance.now() > until) throw new Error(`${rowCount} objects are still there`);
        await pause(100);
      }
    },
    async close() {
      await transfer.close();
      await bench.stop();
    },
  };
  return { store, minio };
}
