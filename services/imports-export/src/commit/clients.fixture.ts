import { AppError } from "@tidemark/errors";
import type { CommitClients } from "./write-rows.ts";

/** The data of the services that own it, by their contracts: a run once for each id, a write once for each name. */
export type Stored = {
  readonly projectId: string;
  readonly runs: Map<string, string>;
  readonly points: Map<string, { readonly runId: string; readonly count: number }>;
  readonly attributes: Map<string, number>;
  readonly artifacts: Map<string, number>;
};

/** Nothing is stored yet. */
export function nothingStored(): Stored {
  return {
    projectId: "0c8ffd3a-0000-4000-8000-000000000001",
    runs: new Map(),
    points: new Map(),
    attributes: new Map(),
    artifacts: new Map(),
  };
}

/** Services that call `step` before and after each call has its effect. Errors of `step` reach the caller. */
export function clientsOf(stored: Stored, step: (when: "before" | "after") => Promise<void>): CommitClients {
  const doing = async <T>(work: () => T): Promise<T> => {
    await step("before");
    const result = work();
    await step("after");
    return result;
  };
  const message = <T>(fields: object): T => fields as T;
  return {
    runs: {
      restoreProject: () => doing(() => message({ id: stored.projectId })),
      restoreRuns: ({ runs = [] }) =>
        doing(() => {
          for (const { run } of runs) if (!stored.runs.has(run!.id!)) stored.runs.set(run!.id!, run!.name!);
          return message({});
        }),
    },
    ingest: {
      appendMetrics: () => Promise.reject(new AppError("internal", "unexpected call")),
      appendMetricsTogether: ({ writes = [] }) =>
        doing(() => {
          const outcomes = writes.map(({ runId = "", idempotencyKey = "", columns }) => {
            const count = columns?.values?.length ?? 0;
            const before = stored.points.get(idempotencyKey);
            if (before !== undefined && before.count !== count) throw new AppError("idempotency_key_reused", "reused");
            stored.points.set(idempotencyKey, { runId, count });
            return { outcome: { case: "stored", value: { inserted: count, replayed: before !== undefined } } };
          });
          return message({ outcomes });
        }),
      appendAttributes: ({ idempotencyKey = "", attributes = [] }) =>
        doing(() => {
          stored.attributes.set(idempotencyKey, attributes.length);
          return message({ attributes: [] });
        }),
    },
    ingestRead: { listMetricPoints: () => doing(() => message({ keys: [], truncated: false })) },
    artifacts: {
      importArtifacts: ({ idempotencyKey = "", artifacts = [] }) =>
        doing(() => {
          stored.artifacts.set(idempotencyKey, artifacts.length);
          return message({ replayed: false });
        }),
    },
  };
}
