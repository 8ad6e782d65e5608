import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { hostedPlans, type Plans } from "@tidemark/limits";
import { asOwner, callAs, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import {
  countsOf,
  exact,
  newOrganization,
  outcomesOf,
  startRival,
  type RivalProcess,
  type RivalCreate,
} from "./rival-process.fixture.ts";

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

const numberOf = (name: string | undefined): number => Number(/[0-9]+$/.exec(name ?? "")?.[0]);

/** Counts what a process sends while `work` runs. */
async function sentWhile(work: () => Promise<unknown>, sender: RivalProcess = rival) {
  const before = sender.sent();
  await work();
  const after = sender.sent();
  return { groups: after.groups - before.groups, alone: after.alone - before.alone };
}

describe("simultaneous creates", () => {
  test("share a statement, up to 64 of them, and have numbers and times in the order in which they came", async () => {
    const call = await newOrganization(fixture);
    let runs: Awaited<ReturnType<typeof makeRun>>[] = [];
    const sent = await sentWhile(async () => {
      runs = await Promise.all(Array.from({ length: 70 }, () => makeRun(rival.client, call, { project: "p" })));
    });
    expect(sent).toEqual({ groups: 2, alone: 0 });
    expect(runs.map(({ name }) => numberOf(name))).toEqual(Array.from({ length: 70 }, (_, i) => i + 2));
    // Padded to the same number of digits, because trailing zeros are left out.
    const times = runs.map(({ createdAt }) => createdAt.slice(0, -1).padEnd("2026-01-01T00:00:00.000000".length, "0"));
    expect(times).toEqual([...new Set(times)].toSorted());
    expect(runs.every(({ createdAt, startedAt }) => createdAt === startedAt)).toBe(true);
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(71)]);
  });

  test("of other projects and other organizations do not", async () => {
    const [one, other] = [await newOrganization(fixture), await newOrganization(fixture)];
    await makeRun(fixture.client, one, { project: "q" });
    const wishes = [
      [{ project: "p" }, one],
      [{ project: "q" }, one],
      [{ project: "p" }, other],
    ] as const;
    expect(await sentWhile(() => outcomesOf(rival.client, wishes))).toEqual({ groups: 3, alone: 0 });
    expect(await countsOf(fixture, one.orgId)).toEqual([exact(2), exact(2)]);
  });

  test("are answered with what a read returns", async () => {
    const call = await newOrganization(fixture);
    const wishes: RivalCreate[0][] = [
      { project: "p" },
      {
        project: "p",
        id: randomUUID(),
        name: "näme",
        tags: ["b", 'a "quoted" \\ {tag}', "NULL", "b"],
        configJson: json('{"z":1.0,"a":{"d":12345678901234567890,"c":"\\u0000 \\" \\\\"}}'),
        metadataJson: json('{"notes":"seen","k":[]}'),
      },
    ];
    const made = await Promise.all(wishes.map((wish) => makeRun(rival.client, call, wish)));
    for (const run of made) {
      const { run: read } = await fixture.client.getRun({ runId: run.id, metricLimit: 1 }, call);
      expect(read?.run).toEqual(run);
    }
  });

  test("are decided one by one when some are not new, and the new ones share a statement", async () => {
    const call = await newOrganization(fixture);
    const elsewhere = callAs();
    const { id: theirs } = await makeRun(fixture.client, elsewhere);
    const { project: own } = await fixture.client.createProject({ name: "own" }, call);
    const scoped = callAs({ orgId: call.orgId, projectId: own!.id });
    const [known, ended, twice, disputed] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()] as const;
    const config = (a: number) => ({ project: "p", configJson: json(`{"a":${a}}`) });
    await makeRun(fixture.client, call, { ...config(1), id: known });
    await makeRun(fixture.client, call, { project: "p", id: ended });
    await fixture.client.updateRun({ runId: ended, status: "finished" }, call);

    const requests: (readonly [...RivalCreate, string])[] = [
      [config(1), call, "created"],
      [{ ...config(1), id: known }, call, "found"],
      [{ ...config(1), id: randomUUID() }, call, "created"],
      [{ ...config(2), id: known }, call, "run_id_conflict"],
      [{ ...config(2), id: known, mode: "auto" }, call, "found"],
      [{ ...config(1), id: theirs }, call, "run_not_found"],
      [{ ...config(1), id: twice }, call, "created"],
      [{ ...config(1), id: twice }, call, "found"],
      [{ ...config(1), id: disputed, mode: "auto" }, call, "created"],
      [{ ...config(2), id: disputed }, call, "run_id_conflict"],
      [{ id: ended, mode: "resume" }, call, "found"],
      [{ id: randomUUID(), mode: "resume" }, call, "run_not_found"],
      [{ project: "p" }, scoped, "forbidden"],
      [{ project: "p" }, callAs({ orgId: call.orgId, billingState: "canceled" }), "payment_required"],
      [config(3), call, "created"],
    ];
    let outcomes: string[] = [];
    const sent = await sentWhile(async () => {
      outcomes = await outcomesOf(
        rival.client,
        requests.map(([request, by]) => [request, by]),
      );
    });
    expect(outcomes).toEqual(requests.map(([, , what]) => what));
    // One group for all callers who may see every project, and one for the caller who names a project that is not the key's.
    expect(sent).toEqual({ groups: 2, alone: 0 });
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(0), exact(8)]);
  });

  test("in a project that is new are all created, and it is created once", async () => {
    const call = callAs();
    const requests = Array.from({ length: 20 }, () => [{ project: "new" }, call] as const);
    expect(await outcomesOf(rival.client, requests)).toEqual(Array<string>(20).fill("created"));
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(20)]);
  });

  test("by keys of one project share a statement once its name is known, also with ids", async () => {
    const call = await newOrganization(fixture);
    const { project } = await fixture.client.createProject({ name: "own" }, call);
    const scoped = callAs({ orgId: call.orgId, projectId: project!.id });
    await makeRun(rival.client, scoped);
    const id = randomUUID();
    const wishes = [{}, { project: "own" }, { id }].map((wish) => [wish, scoped] as const);
    expect(await sentWhile(() => outcomesOf(rival.client, wishes))).toEqual({ groups: 1, alone: 0 });
    expect(await outcomesOf(rival.client, [[{ id, project: "own" }, scoped]])).toEqual(["found"]);
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(4), exact(1)]);
  });
});

describe("several processes", () => {
  test("give 500 runs of 32 simultaneous callers the numbers 1 to 500, and count each once", async () => {
    const call = callAs();
    const clients = [rival.client, fixture.client] as const;
    let left = 500;
    const numbers: number[] = [];
    const caller = async (index: number): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const id = index % 3 === 0 ? undefined : randomUUID();
        const { run } = await clients[index % 2]!.createRun(
          { project: "p", ...(id === undefined ? {} : { id }) },
          call,
        );
        numbers.push(numberOf(run?.name));
      }
    };
    await Promise.all(Array.from({ length: 32 }, (_, index) => caller(index)));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, i) => i + 1));
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(500)]);
    const unordered = await asOwner(
      fixture,
      `SELECT name FROM (SELECT name, created_at, lag(created_at) OVER (ORDER BY substring(name FROM '[0-9]+$')::int) AS before
                         FROM runs.runs WHERE org_id = $1) r WHERE created_at <= before`,
      [call.orgId],
    );
    expect(unordered).toEqual([]);
  });

  test("that create runs of the same ids in other orders create each once", async () => {
    const call = await newOrganization(fixture);
    const ids = Array.from({ length: 40 }, () => randomUUID());
    const wishes = ids.map((id) => [{ project: "p", id }, call] as const);
    const outcomes = await Promise.all([
      outcomesOf(rival.client, wishes),
      outcomesOf(fixture.client, wishes.toReversed()),
    ]);
    expect(outcomes.flat().filter((outcome) => outcome === "created")).toHaveLength(40);
    expect(outcomes.flat().filter((outcome) => outcome === "found")).toHaveLength(40);
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(41)]);
  });
});

describe("close to the limit of a plan", () => {
  const planWith = (runs: number): Plans => ({ ...hostedPlans, free: { ...hostedPlans.free, runs } });
  const pretend = (orgId: string, runs: number) =>
    asOwner(fixture, "UPDATE runs.projects SET runs_finished = runs_finished + $2 WHERE org_id = $1", [orgId, runs]);

  test.each([
    ["a small plan", 30, 0],
    ["a large plan, of which little is left", 10_000, 9_970],
  ])("of %s exactly as many are created as it allows", async (_what, runs, had) => {
    const limited = startRival(fixture, planWith(runs));
    const call = callAs();
    await makeRun(limited.client, call, { project: "p" });
    await pretend(call.orgId, had);
    const wishes = Array.from({ length: 60 }, () => [{ project: "p" }, call] as const);
    const outcomes = await outcomesOf(limited.client, wishes);
    expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(29);
    expect(outcomes.filter((outcome) => outcome === "plan_limit_exceeded")).toHaveLength(31);
    await limited.close();
  });

  test("creates stop sharing statements in time", async () => {
    const limited = startRival(fixture, planWith(10_000));
    const call = callAs();
    await makeRun(limited.client, call, { project: "p" });
    const wishes = Array.from({ length: 5 }, () => [{ project: "p" }, call] as const);
    const sent = () => sentWhile(() => outcomesOf(limited.client, wishes), limited);
    expect(await sent()).toEqual({ groups: 1, alone: 0 });
    await pretend(call.orgId, 9000);
    expect(await sent()).toEqual({ groups: 1, alone: 5 });
    expect(await countsOf(fixture, call.orgId)).toEqual([{ counted: 11, runs: 11, gaps: 5 }]);
    await limited.close();
  });
});
