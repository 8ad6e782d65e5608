import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { plannedSql } from "@tidemark/pg";
import { CreateRunRequestSchema } from "@tidemark/proto/runs/v1/runs";
import { callerOf } from "@tidemark/requests";
import { startRuns, type RunsFixture } from "../runs.fixture.ts";
import { createGroupedCreates } from "./create-grouped.ts";
import {
  countsOf,
  exact,
  newOrganization,
  outcomesOf,
  startRival,
  type RivalProcess,
  type RivalCreate,
} from "./rival-process.fixture.ts";
import { readWantedRun } from "./wanted-run.ts";

let fixture: RunsFixture;
let rival: RivalProcess;
beforeAll(async () => {
  fixture = await startRuns();
  rival = startRival(fixture);
});
afterAll(async () => {
  await rival.close();
  await fixture.close();
});

/** Runs `work` while a transaction holds the project's row. */
function whileLocked<T>(project: string, orgId: string, work: () => Promise<T>): Promise<T> {
  const lock = testSql("SELECT FROM runs.projects WHERE org_id = $1 AND name = $2 FOR UPDATE");
  return fixture.owner.transaction(async (tx) => {
    await tx.rows(lock, [orgId, project]);
    return work();
  });
}

describe("a group that fails", () => {
  test("because of one of its creates is stored without it", async () => {
    const call = await newOrganization(fixture);
    const requests: (readonly [...RivalCreate, string])[] = [
      [{ project: "p" }, call, "created"],
      [{ project: "p", name: "n\0" }, call, "bad_request"],
      [{ project: "p", tags: ["t\0"] }, call, "bad_request"],
      [{ project: "p", id: randomUUID() }, call, "created"],
    ];
    expect(
      await outcomesOf(
        rival.client,
        requests.map(([request, by]) => [request, by]),
      ),
    ).toEqual(requests.map(([, , what]) => what));
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(3)]);
  });

  test.each([
    ["several creates", ["a", "b", "c"]],
    ["one create", ["a"]],
  ])("because a transaction was in its way is stored nevertheless, with %s", async (_what, names) => {
    const call = await newOrganization(fixture);
    const others = names.map((name) => ({ project: "p", name: `fails once ${name}` }));
    await failingOnce(async () => {
      expect(
        await outcomesOf(
          rival.client,
          others.map((wish) => [wish, call] as const),
        ),
      ).toEqual(names.map(() => "created"));
    });
    expect(await countsOf(fixture, call.orgId)).toEqual([expect.objectContaining({ counted: names.length + 1 })]);
  });

  /** Runs `work` while the first insert of a run named "fails once …" fails to serialize. */
  async function failingOnce(work: () => Promise<void>): Promise<void> {
    const change = (text: string) => fixture.owner.rows(plannedSql("test_change", text), []);
    await change("CREATE SEQUENCE public.tries");
    await change("GRANT USAGE ON SEQUENCE public.tries TO tidemark_runs");
    await change(
      `CREATE FUNCTION public.fail_once() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN
         IF NEW.name LIKE 'fails once%' AND nextval('public.tries') = 1 THEN RAISE serialization_failure; END IF;
         RETURN NEW;
       END $$`,
    );
    await change(
      "CREATE TRIGGER fail_once BEFORE INSERT ON runs.runs FOR EACH ROW EXECUTE FUNCTION public.fail_once()",
    );
    try {
      await work();
    } finally {
      await change("DROP TRIGGER fail_once ON runs.runs");
      await change("DROP FUNCTION public.fail_once()");
      await change("DROP SEQUENCE public.tries");
    }
  }

  test("because its connection is cut fails whole and leaves nothing; repeats with the same ids create", async () => {
    const call = await newOrganization(fixture);
    const wishes = Array.from({ length: 8 }, () => [{ project: "p", id: randomUUID() }, call] as const);
    const outcomes = await whileLocked("p", call.orgId, async () => {
      const creating = outcomesOf(rival.client, wishes);
      await rival.cutWaiting();
      return creating;
    });
    expect(outcomes).toEqual(Array<string>(8).fill("warehouse_unavailable"));
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(1)]);
    expect(await outcomesOf(rival.client, wishes)).toEqual(Array<string>(8).fill("created"));
    expect(await outcomesOf(rival.client, wishes)).toEqual(Array<string>(8).fill("found"));
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(9)]);
  });
});

test("creates beyond the memory for those that wait are refused, and those that wait are stored", async () => {
  const call = await newOrganization(fixture);
  const grouped = createGroupedCreates({ db: fixture.db, plans: undefined, newId: randomUUID }, 1);
  const wanted = await readWantedRun({ ...create(CreateRunRequestSchema), project: "p" });
  const createOne = () => grouped.create(callerOf(call), "p", wanted);
  const first = await whileLocked("p", call.orgId, async () => {
    const creating = createOne();
    await expect(createOne()).rejects.toMatchObject({ reason: "service_unavailable", retryAfterSeconds: 1 });
    return { creating };
  });
  expect(await first.creating).toMatchObject({ project: "p" });
  expect(await createOne()).toMatchObject({ project: "p" });
  expect(await countsOf(fixture, call.orgId)).toEqual([exact(3)]);
});

test("creates of one organization that wait leave memory for those of others", async () => {
  const [crowd, neighbor] = [await newOrganization(fixture), await newOrganization(fixture)];
  const grouped = createGroupedCreates({ db: fixture.db, plans: undefined, newId: randomUUID }, 20_000);
  const wanted = await readWantedRun({ ...create(CreateRunRequestSchema), project: "p" });
  const waiting = await whileLocked("p", crowd.orgId, async () => {
    const creating = Promise.allSettled(Array.from({ length: 40 }, () => grouped.create(callerOf(crowd), "p", wanted)));
    expect(await grouped.create(callerOf(neighbor), "p", wanted)).toMatchObject({ project: "p" });
    return { creating };
  });
  const refused = (await waiting.creating).filter(({ status }) => status === "rejected");
  expect(refused.length).toBeGreaterThan(10);
  expect(await countsOf(fixture, neighbor.orgId)).toEqual([exact(2)]);
});

describe("an id that another transaction is about to take", () => {
  const take = testSql("INSERT INTO runs.run_ids (id, org_id) VALUES ($1, $2)");

  test.each([
    ["is waited for and taken when that gives up", true, "created"],
    ["is waited for and refused when that keeps it", false, "run_not_found"],
  ])("%s, and the others are created", async (_what, givesUp, expected) => {
    const call = await newOrganization(fixture);
    const id = randomUUID();
    let creating: Promise<string[]> | undefined;
    const other = fixture.owner.transaction(async (tx) => {
      await tx.rows(take, [id, randomUUID()]);
      creating = outcomesOf(
        rival.client,
        [{ project: "p" }, { project: "p", id }, { project: "p" }].map((wish) => [wish, call] as const),
      );
      await rival.untilWaiting();
      if (givesUp) throw new Error("gives up");
    });
    await other.catch(() => {});
    expect(await creating).toEqual(["created", expected, "created"]);
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(givesUp ? 4 : 3)]);
  });
});
