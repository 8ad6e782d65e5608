import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { idempotencyHashes } from "@tidemark/pg";
import { ChangeKind } from "@tidemark/proto/changes/v1/changes";
import { CallerKind } from "@tidemark/proto/common/v1/common";
import { StopEventSchema } from "@tidemark/proto/control/v1/control";
import { createCall, type Call } from "@tidemark/rpc";
import { expectRefusal, refusal, startControl, type Control } from "../control.fixture.ts";
import { stopAnsweredSubject, stopRequestedSubject } from "./stop-runs.ts";
import { callBy, newRun, newRuns, patch } from "./runs.fixture.ts";

let control: Control;
beforeAll(async () => {
  control = await startControl();
  await control.runs.catchUp();
});
afterAll(() => control.close());

const readRow = testSql(`SELECT r.*, p.runs_running, p.runs_finished, p.runs_failed
   FROM runs.runs r JOIN runs.projects p ON p.org_id = r.org_id AND p.id = r.project_id WHERE r.id = $1`);
const rowOf = (id: string) => control.ownerDb.one<Record<string, unknown>>(readRow, [id]);

const readOutbox = testSql("SELECT subject, payload FROM platform.outbox WHERE org_id = $1 ORDER BY created_at, id");

/** Returns the messages that an organization's changes have left. */
async function messagesOf(orgId: string) {
  const rows = await control.ownerDb.rows<{ subject: string; payload: Uint8Array }>(readOutbox, [orgId]);
  return rows.map(({ subject, payload }) => {
    const { runs, ...event } = fromBinary(StopEventSchema, payload);
    return { subject, orgId: event.orgId, runs: runs.map(({ runId, stopRequestId }) => [runId, stopRequestId]) };
  });
}

/** An organization with a running run, and a caller to control it. */
async function setUp() {
  const orgId = randomUUID();
  const call = callBy(orgId);
  return { orgId, call, ...(await newRun(control, orgId)) };
}

const stop = async (runId: string, call: Call, reason?: string) => {
  const { stop: made } = await control.client.stopRun({ runId, reason }, call);
  return made!.runControl!;
};
const acknowledge = (runId: string, stopRequestId: string, state: string, call: Call, message?: string) =>
  control.client.acknowledgeStop({ runId, stopRequestId, state, message }, call);

describe("a stop", () => {
  test("is the run's row and a message, both or neither, and known here when it is answered", async () => {
    const { orgId, call, id } = await setUp();
    const wakeUps = control.wakeUps();
    const made = await stop(id, call, "why");
    expect(await rowOf(id)).toMatchObject({
      status: "running",
      display_status: "stopping",
      stop_state: "requested",
      stop_request_id: made.stopRequestId,
      stop_reason: "why",
      stop_actor: "api_key",
      stop_requested_at: made.stopRequestedAt,
      stop_updated_at: made.updatedAt,
      runs_running: 1,
    });
    const message = { subject: stopRequestedSubject, orgId, runs: [[id, made.stopRequestId]] };
    expect(await messagesOf(orgId)).toEqual([message]);
    expect(control.wakeUps()).toBe(wakeUps + 1);
    expect(await control.client.getStopSignal({ runId: id }, call)).toMatchObject({
      pending: { stopRequestId: made.stopRequestId, requestedAt: made.stopRequestedAt },
      pollAfterSeconds: 15,
    });

    await stop(id, call, "again");
    await expectRefusal(control.client.stopRun({ runId: id, bodyFault: { text: "bad" } }, call), "bad_request");
    expect(await messagesOf(orgId)).toEqual([message]);
  });

  test.each([
    ["a session", CallerKind.SESSION, "user"],
    ["a key", CallerKind.API_KEY, "api_key"],
    ["something else", CallerKind.UNSPECIFIED, "unknown"],
  ])("by %s is kept as one by actor %s", async (_what, kind, actor) => {
    const { orgId, id } = await setUp();
    expect((await stop(id, callBy(orgId, { kind }))).actor).toBe(actor);
  });

  test("and its acknowledgments are noted as changes, with the status that they end; repeats are not", async () => {
    const { orgId, call, id } = await setUp();
    const kinds = (): unknown[] =>
      control.noted.filter(({ runId }) => runId === id).map((change) => [change.orgId, change.kind]);
    const made = await stop(id, call);
    await stop(id, call);
    expect(kinds()).toEqual([[orgId, ChangeKind.STOP]]);
    await acknowledge(id, made.stopRequestId!, "acknowledged", call);
    await acknowledge(id, made.stopRequestId!, "acknowledged", call);
    expect(kinds()).toHaveLength(2);
    await acknowledge(id, made.stopRequestId!, "completed", call);
    expect(kinds().slice(2)).toEqual([
      [orgId, ChangeKind.STOP],
      [orgId, ChangeKind.RUN],
    ]);
  });

  test("of many is one message about those that were newly asked", async () => {
    const { orgId, call, id } = await setUp();
    const { ids } = await newRuns(control, orgId, 3);
    const first = await stop(id, call);
    const runIds = [ids[2]!, id, randomUUID(), ids[0]!, ids[2]!, ids[1]!];
    const { stops } = await control.client.stopRuns({ runIds, reason: "all" }, call);
    expect(
      stops.map(({ runId, alreadyRequested, runControl }) => [runId, alreadyRequested, runControl?.details]),
    ).toEqual([
      [ids[2], false, expect.objectContaining({ reason: "all" })],
      [id, true, expect.objectContaining({})],
      [runIds[2], false, undefined],
      [ids[0], false, expect.objectContaining({ reason: "all" })],
      [ids[1], false, expect.objectContaining({ reason: "all" })],
    ]);
    const [, second] = await messagesOf(orgId);
    expect(second?.runs.map(([runId]) => runId).toSorted()).toEqual(ids.toSorted());
    expect((await rowOf(id))?.["stop_request_id"]).toBe(first.stopRequestId);
  });

  test("of runs that do not exist leaves no message", async () => {
    const orgId = randomUUID();
    const { stops } = await control.client.stopRuns({ runIds: [randomUUID()] }, callBy(orgId));
    expect(stops).toHaveLength(1);
    expect(await messagesOf(orgId)).toEqual([]);
  });

  test.each([
    ["no runs", []],
    ["101 runs", Array.from({ length: 101 }, () => randomUUID())],
    ["a text that is not an id", ["x"]],
  ])("of %s is refused", async (_what, runIds) => {
    await expectRefusal(control.client.stopRuns({ runIds }, callBy(randomUUID())), "bad_request");
  });

  test("whose key another request holds is in progress", async () => {
    const { orgId, call, id } = await setUp();
    const { key } = idempotencyHashes({ key: "held", route: "", parts: [] });
    const hold = testSql("SELECT platform.claim_key($1, $2, $3)");
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = (): void => {};
    const begins = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const holder = control.db.withTenant(orgId, async (tx) => {
      await tx.rows(hold, [orgId, key, key]);
      begun();
      await held;
    });
    await begins;
    const error = await refusal(control.client.stopRun({ runId: id, idempotencyKey: "held" }, call));
    release();
    await holder;
    expect([error.reason, error.retryAfterSeconds]).toEqual(["idempotency_in_progress", 1]);
    expect(await control.client.stopRun({ runId: id, idempotencyKey: "held" }, call)).toMatchObject({
      replayed: false,
    });
  });
});

describe("an answer to a stop", () => {
  test("that completes it ends the run and moves its project's counters, in one transaction", async () => {
    const { orgId, call, id } = await setUp();
    const { stopRequestId = "" } = await stop(id, call);
    await acknowledge(id, stopRequestId, "acknowledged", call, "not kept");
    const { runControl } = await acknowledge(id, stopRequestId, "completed", call, "kept");
    expect(await rowOf(id)).toMatchObject({
      status: "failed",
      display_status: "stopped",
      stop_state: "completed",
      finished_at: runControl?.stopCompletedAt,
      stop_completion_message: "kept",
      runs_running: 0,
      runs_failed: 1,
    });
    const subjects = (await messagesOf(orgId)).map(({ subject }) => subject);
    expect(subjects).toEqual([stopRequestedSubject, stopAnsweredSubject, stopAnsweredSubject]);
    expect(await control.client.getStopSignal({ runId: id }, call)).toMatchObject({ runStatus: "failed" });
    await acknowledge(id, stopRequestId, "completed", call, "other words");
    expect(await messagesOf(orgId)).toHaveLength(3);
  });

  test("keeps microseconds of what it does not change", async () => {
    const { call, id } = await setUp();
    const { stopRequestId = "", stopRequestedAt } = await stop(id, call);
    const { runControl } = await acknowledge(id, stopRequestId, "acknowledged", call);
    expect(runControl?.stopRequestedAt).toBe(stopRequestedAt);
    expect((await rowOf(id))?.["stop_requested_at"]).toBe(stopRequestedAt);
  });

  test("is refused in this order: by the run, the body, the state", async () => {
    const { orgId, call, id } = await setUp();
    const bodyFault = { text: "bad", field: "message" };
    const nowhere = randomUUID();
    await expectRefusal(control.client.acknowledgeStop({ runId: nowhere, bodyFault }, call), "not_found");
    await expectRefusal(control.client.acknowledgeStop({ runId: "x", bodyFault }, call), "not_found");
    const bound = callBy(orgId, { projectId: randomUUID() });
    await expectRefusal(control.client.acknowledgeStop({ runId: id, bodyFault }, bound), "not_found");
    await expectRefusal(control.client.acknowledgeStop({ runId: id, bodyFault }, call), "bad_request");
    await expectRefusal(acknowledge(id, nowhere, "done", call), "bad_request");
    await expectRefusal(acknowledge(id, nowhere, "completed", call), "conflict");
    await expectRefusal(acknowledge(id, "", "completed", call), "conflict");
  });
});

describe("who may see a run", () => {
  test("not a caller of another organization, nor a key of another project", async () => {
    const { orgId, projectId, id, call } = await setUp();
    const strangers = [callBy(randomUUID()), callBy(orgId, { projectId: randomUUID() })];
    for (const stranger of strangers) {
      await expectRefusal(control.client.stopRun({ runId: id }, stranger), "not_found");
      await expectRefusal(control.client.getStopSignal({ runId: id }, stranger), "not_found");
      const { stops } = await control.client.stopRuns({ runIds: [id] }, stranger);
      expect(stops).toEqual([expect.not.objectContaining({ runControl: expect.anything() })]);
    }
    expect((await rowOf(id))?.["stop_state"]).toBe("none");
    const bound = callBy(orgId, { projectId });
    expect(await control.client.getStopSignal({ runId: id }, bound)).toMatchObject({ runStatus: "running" });
    expect((await stop(id, bound)).stopState).toBe("requested");
    expect(await control.client.getStopSignal({ runId: id }, call)).toHaveProperty("pending");
  });

  test.each(["operator", "nobody"])("not the caller %s without an organization", async (who) => {
    const call = who === "operator" ? control.operator : createCall();
    const runId = randomUUID();
    await expectRefusal(control.client.stopRun({ runId }, call), "unauthenticated");
    await expectRefusal(control.client.stopRuns({ runIds: [runId] }, call), "unauthenticated");
    await expectRefusal(control.client.getStopSignal({ runId }, call), "unauthenticated");
    await expectRefusal(control.client.acknowledgeStop({ runId }, call), "unauthenticated");
  });
});

describe("the database fences", () => {
  const all = testSql("SELECT DISTINCT org_id FROM runs.run_control_v1");
  const lock = testSql("SELECT * FROM runs.lock_state_v1($1, $2)");

  test("reads without any condition, and locks of another organization's run", async () => {
    const own = await setUp();
    const foreign = await setUp();
    const seen = await control.db.withTenant(own.orgId, (tx) => tx.rows(all, []));
    expect(seen).toEqual([{ org_id: own.orgId }]);
    const locked = await control.db.withTenant(own.orgId, (tx) => tx.rows(lock, [foreign.orgId, foreign.id]));
    expect(locked).toEqual([]);
  });

  test.each([
    ["an update", "UPDATE runs.runs SET status = 'failed'"],
    ["a read of a config", "SELECT config FROM runs.runs"],
    ["a read of who changed", "SELECT changed_xid FROM runs.runs"],
    ["the adoption of changes", "SELECT runs.adopt_changes_v1(1)"],
  ])("%s by the service's role", async (_what, text) => {
    const orgId = randomUUID();
    const statement = testSql(text);
    await expect(control.db.withTenant(orgId, (tx) => tx.rows(statement, []))).rejects.toThrow(/permission denied/);
  });

  test("the feed from the worker's role", async () => {
    const feed = testSql("SELECT runs.changed_page_v1('1:1:', '1', gen_random_uuid(), 1)");
    await expect(control.workerDb.rows(feed, [])).rejects.toThrow(/permission denied/);
  });
});

test("a run that another process ended is known here after catching up", async () => {
  const { call, id } = await setUp();
  await control.client.getStopSignal({ runId: id }, call);
  await patch(control.ownerDb, id, "finished");
  await control.client.catchUpRuns({}, control.anyone);
  expect(await control.client.getStopSignal({ runId: id }, call)).toMatchObject({ runStatus: "finished" });
});
