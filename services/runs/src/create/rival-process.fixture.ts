import { randomUUID } from "node:crypto";
import { createDb, plannedSql } from "@tidemark/pg";
import { openGate } from "@tidemark/requests";
import type { Plans } from "@tidemark/limits";
import { RunsService } from "@tidemark/proto/runs/v1/runs";
import { createLocalClient, implement, type Call } from "@tidemark/rpc";
import { createLog } from "@tidemark/telemetry";
import { until } from "@tidemark/testkit";
import { createDeletionPropagator } from "../deletion/deletion-propagator.ts";
import { runsHandlers } from "../handlers.ts";
import { createKeyCatalogue } from "../keys/key-catalogue.ts";
import { createRunCopier } from "../copy/run-copier.ts";
import { createRunFollower } from "../move/run-follower.ts";
import { createStaleness } from "../life/staleness.rules.ts";
import { createSearchThreads } from "../regex-search/search-threads.ts";
import { asOwner, callAs, makeRun, GRACE_DAYS, STALE_MS, type RunsClient, type RunsFixture } from "../runs.fixture.ts";

/** Another process of the service over the database of a fixture, with connections of its own. */
export type RivalProcess = {
  readonly client: RunsClient;
  /** How many groups of creates it has sent, and how many runs it has stored alone. */
  sent(): { readonly groups: number; readonly alone: number };
  /** Waits until one of its statements waits for a lock, and ends the connection of that statement. */
  cutWaiting(): Promise<void>;
  untilWaiting(): Promise<void>;
  close(): Promise<void>;
};

/** Starts another process; plan limits are enforced if there are `plans`. */
export function startRival(fixture: RunsFixture, plans?: Plans): RivalProcess {
  const sent = { groups: 0, alone: 0 };
  const application = `runs-rival-${randomUUID()}`;
  const db = createDb({
    url: fixture.url,
    role: "tidemark_runs",
    application,
    connectionsMax: 12,
    onQuery: (name) => {
      if (name === "runs_create_runs") sent.groups += 1;
      if (name === "runs_insert_run") sent.alone += 1;
    },
  });
  // None starts before a search needs it.
  const searchThreads = createSearchThreads({
    connection: { url: fixture.url, role: "tidemark_runs", application },
    threads: 1,
  });
  const staleness = createStaleness({ staleMs: STALE_MS, nowMs: Date.now });
  const sortKeys = { ask: () => {} };
  const keyCatalogue = createKeyCatalogue({ db, nowMs: Date.now, onFailed: () => {} });
  const deletionPropagator = createDeletionPropagator({
    db,
    log: createLog({ level: "silent", service: "runs-test" }),
  });
  const graceDays = GRACE_DAYS;
  const handlers = runsHandlers({
    db,
    searchThreads,
    plans,
    storageGate: openGate,
    pointGate: openGate,
    eventGate: openGate,
    newId: randomUUID,
    sortKeys,
    keyCatalogue,
    columnKeeper: { ask: () => {} },
    noteChange: () => {},
    staleness,
    deletionPropagator,
    runFollower: createRunFollower({ db, log: createLog({ level: "silent", service: "runs-test" }) }),
    runCopier: createRunCopier({
      db,
      workerDb: db,
      log: createLog({ level: "silent", service: "runs-test" }),
      noteChange: () => {},
    }),
    graceDays,
  });
  const waiting = async (answer: string) =>
    fixture.owner.rows(
      plannedSql(
        "test_waiting",
        `SELECT ${answer} FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`,
      ),
      [application],
    );
  return {
    client: createLocalClient(RunsService, implement(RunsService, handlers)),
    sent: () => ({ ...sent }),
    cutWaiting: () =>
      until("a statement to wait", async () => (await waiting("pg_terminate_backend(pid)")).length > 0).then(() => {}),
    untilWaiting: () => until("a statement to wait", async () => (await waiting("pid")).length > 0).then(() => {}),
    close: async () => {
      await Promise.all([db.close(), searchThreads.close()]);
    },
  };
}

/** A request, and the call that makes it. */
export type RivalCreate = readonly [request: Parameters<RunsClient["createRun"]>[0], call: Call];

/** Returns the results of simultaneous requests: created, found, or the reason of the refusal. */
export async function outcomesOf(client: RunsClient, wishes: readonly RivalCreate[]): Promise<string[]> {
  const results = await Promise.allSettled(wishes.map(([request, call]) => client.createRun(request, call)));
  return results.map((result) => {
    if (result.status === "rejected") return (result.reason as { reason: string }).reason;
    return result.value.created ? "created" : "found";
  });
}

/** Makes an organization with a project "p" that has one run, and returns a call of it. */
export async function newOrganization({ client }: RunsFixture) {
  const call = callAs();
  await makeRun(client, call, { project: "p" });
  return call;
}

/** For each project of an organization: its counter, its runs, and the numbers in run names that are missing or duplicate. */
export function countsOf(fixture: RunsFixture, orgId: string) {
  return asOwner<{ counted: number; runs: number; gaps: number }>(
    fixture,
    `SELECT p.runs_running::integer AS counted, count(r.id)::integer AS runs,
            (count(r.id) - count(DISTINCT n.number) FILTER (WHERE n.number BETWEEN 1 AND p.runs_running))::integer AS gaps
     FROM runs.projects p LEFT JOIN runs.runs r ON r.org_id = p.org_id AND r.project_id = p.id
     LEFT JOIN LATERAL (SELECT substring(r.name FROM '[0-9]+$')::bigint AS number) n ON true
     WHERE p.org_id = $1 GROUP BY p.org_id, p.id ORDER BY p.name`,
    [orgId],
  );
}

/** The counts of a project whose runs all have names with numbers. */
export const exact = (runs: number) => ({ counted: runs, runs, gaps: 0 });
