import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { plannedSql, sql } from "@tidemark/pg";
import { hostedPlans, type Plans } from "@tidemark/plans";
import type { Call } from "@tidemark/rpc";
import { asOwner, callAs, json, makeRun, startRuns, type RunsClient, type RunsFixture } from "../runs.fixture.ts";
import { countsOf, startRival, type RivalProcess } from "./rival-process.fixture.ts";

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

type Request = Parameters<RunsClient["createRun"]>[0];
type OrgCall = Call & { readonly orgId: string };

/** A new organization with a project "p" that has one run. */
async function organization(): Promise<OrgCall> {
  const call = callAs();
  await makeRun(fixture.client, call, { project: "p" });
  return call;
}

const numberOf = (name: string | undefined): number => Number(/[0-9]+$/.exec(name ?? "")?.[0]);
const exact = (runs: number) => ({ counted: runs, runs, gaps: 0 });

/** What became of requests that were made simultaneously: created, found, or the reason of the refusal. */
async function outcomesOf(requests: readonly (readonly [Request, Call])[], client = rival.client): Promise<string[]> {
  const results = await Promise.allSettled(requests.map(([request, call]) => client.createRun(request, call)));
  return results.map((result) => {
    if (result.status === "rejected") return (result.reason as { reason: string }).reason;
    return result.value.created ? "created" : "found";
  });
}

describe("creates that come at the same time", () => {
  test("share a statement, up to 64 of them, and have numbers and times in the order in which they came", async () => {
    const call = await organization();
    const before = rival.groups();
    const runs = await Promise.all(Array.from({ length: 70 }, () => makeRun(rival.client, call, { project: "p" })));
    expect(rival.groups() - before).toBe(2);
    expect(runs.map(({ name }) => numberOf(name))).toEqual(Array.from({ length: 70 }, (_, i) => i + 2));
    // With as many digits each, because zeros at the end are left out.
    const times = runs.map(({ createdAt }) => createdAt.slice(0, -1).padEnd("2026-01-01T00:00:00.000000".length, "0"));
    expect(times).toEqual([...new Set(times)].toSorted());
    expect(runs.every(({ createdAt, startedAt }) => createdAt === startedAt)).toBe(true);
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(71)]);
  });

  test("of other projects and other organizations do not", async () => {
    const [one, other] = [await organization(), await organization()];
    await makeRun(fixture.client, one, { project: "q" });
    const before = rival.groups();
    await Promise.all([
      makeRun(rival.client, one, { project: "p" }),
      makeRun(rival.client, one, { project: "q" }),
      makeRun(rival.client, other, { project: "p" }),
    ]);
    expect(rival.groups() - before).toBe(3);
    expect(await countsOf(fixture, one.orgId)).toEqual([exact(2), exact(2)]);
  });

  test("are answered with what a read returns", async () => {
    const call = await organization();
    const wishes: Request[] = [
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

  test("are decided each for itself when some are no new runs, and those that are new share a statement", async () => {
    const call = await organization();
    const elsewhere = callAs();
    const { id: theirs } = await makeRun(fixture.client, elsewhere);
    const { project: own } = await fixture.client.createProject({ name: "own" }, call);
    const scoped = callAs({ orgId: call.orgId, projectId: own!.id });
    const [known, ended, twice, disputed] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()] as const;
    const config = (a: number) => ({ project: "p", configJson: json(`{"a":${a}}`) });
    await makeRun(fixture.client, call, { ...config(1), id: known });
    await makeRun(fixture.client, call, { project: "p", id: ended });
    await fixture.client.updateRun({ runId: ended, status: "finished" }, call);

    const requests: (readonly [Request, Call, string])[] = [
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
    const before = rival.groups();
    expect(await outcomesOf(requests.map(([request, by]) => [request, by]))).toEqual(
      requests.map(([, , what]) => what),
    );
    // One of all callers who may see every project, and the one that names a project which is not the key's.
    expect(rival.groups() - before).toBe(2);
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(0), exact(8)]);
  });

  test("in a project that is new are all created, and it is made once", async () => {
    const call = callAs();
    const requests = Array.from({ length: 20 }, () => [{ project: "new" }, call] as const);
    expect(await outcomesOf(requests)).toEqual(Array<string>(20).fill("created"));
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(20)]);
  });

  test("by keys of one project share a statement once its name is known, also with ids", async () => {
    const call = await organization();
    const { project } = await fixture.client.createProject({ name: "own" }, call);
    const scoped = callAs({ orgId: call.orgId, projectId: project!.id });
    await makeRun(rival.client, scoped);
    const before = rival.groups();
    const id = randomUUID();
    expect(await outcomesOf([{}, { project: "own" }, { id }].map((wish) => [wish, scoped] as const))).toEqual(
      Array<string>(3).fill("created"),
    );
    expect(rival.groups() - before).toBe(1);
    expect(await outcomesOf([[{ id, project: "own" }, scoped]])).toEqual(["found"]);
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
    const call = await organization();
    const ids = Array.from({ length: 40 }, () => randomUUID());
    const wishes = ids.map((id) => [{ project: "p", id }, call] as const);
    const outcomes = await Promise.all([
      outcomesOf(wishes, rival.client),
      outcomesOf(wishes.toReversed(), fixture.client),
    ]);
    expect(outcomes.flat().filter((outcome) => outcome === "created")).toHaveLength(40);
    expect(outcomes.flat().filter((outcome) => outcome === "found")).toHaveLength(40);
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(41)]);
  });
});

describe("a group that fails", () => {
  test("because of one of its creates is stored without it", async () => {
    const call = await organization();
    const requests: (readonly [Request, Call, string])[] = [
      [{ project: "p" }, call, "created"],
      [{ project: "p", name: "n\0" }, call, "bad_request"],
      [{ project: "p", tags: ["t\0"] }, call, "bad_request"],
      [{ project: "p", id: randomUUID() }, call, "created"],
    ];
    expect(await outcomesOf(requests.map(([request, by]) => [request, by]))).toEqual(
      requests.map(([, , what]) => what),
    );
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(3)]);
  });

  test.each([
    ["several creates", ["a", "b", "c"]],
    ["one create", ["a"]],
  ])("because a transaction was in its way is stored nevertheless, with %s", async (_what, names) => {
    const call = await organization();
    const others: Request[] = names.map((name) => ({ project: "p", name: `fails once ${name}` }));
    await failingOnce(async () => {
      expect(await outcomesOf(others.map((wish) => [wish, call] as const))).toEqual(names.map(() => "created"));
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
    const call = await organization();
    const wishes = Array.from({ length: 8 }, () => [{ project: "p", id: randomUUID() }, call] as const);
    const outcomes = await whileLocked("p", call.orgId, async () => {
      const creating = outcomesOf(wishes);
      await rival.cutWaiting();
      return creating;
    });
    expect(outcomes).toEqual(Array<string>(8).fill("warehouse_unavailable"));
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(1)]);
    expect(await outcomesOf(wishes)).toEqual(Array<string>(8).fill("created"));
    expect(await outcomesOf(wishes)).toEqual(Array<string>(8).fill("found"));
    expect(await countsOf(fixture, call.orgId)).toEqual([exact(9)]);
  });

  /** Runs `work` while a transaction holds the project's row. */
  function whileLocked<T>(project: string, orgId: string, work: () => Promise<T>): Promise<T> {
    const lock = sql("test_lock_project", "SELECT FROM runs.projects WHERE org_id = $1 AND name = $2 FOR UPDATE");
    return fixture.owner.transaction(async (tx) => {
      await tx.rows(lock, [orgId, project]);
      return work();
    });
  }
});

describe("an id that another transaction is about to take", () => {
  const take = sql("test_take_id", "INSERT INTO runs.run_ids (id, org_id) VALUES ($1, $2)");

  test.each([
    ["is waited for and taken when that gives up", true, "created"],
    ["is waited for and refused when that keeps it", false, "run_not_found"],
  ])("%s, and the others are created", async (_what, givesUp, expected) => {
    const call = await organization();
    const id = randomUUID();
    let creating: Promise<string[]> | undefined;
    const other = fixture.owner.transaction(async (tx) => {
      await tx.rows(take, [id, randomUUID()]);
      creating = outcomesOf(
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
    const outcomes = await outcomesOf(
      Array.from({ length: 60 }, () => [{ project: "p" }, call] as const),
      limited.client,
    );
    expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(29);
    expect(outcomes.filter((outcome) => outcome === "plan_limit_exceeded")).toHaveLength(31);
    await limited.close();
  });

  test("creates stop sharing statements in time", async () => {
    const limited = startRival(fixture, planWith(10_000));
    const call = callAs();
    await makeRun(limited.client, call, { project: "p" });
    const createdInGroups = async () => {
      const before = limited.groups();
      const made = await Promise.all(Array.from({ length: 5 }, () => makeRun(limited.client, call, { project: "p" })));
      return { groups: limited.groups() - before, made: made.length };
    };
    expect(await createdInGroups()).toEqual({ groups: 1, made: 5 });
    await pretend(call.orgId, 9000);
    expect(await createdInGroups()).toEqual({ groups: 1, made: 5 });
    expect(await countsOf(fixture, call.orgId)).toEqual([{ counted: 11, runs: 11, gaps: 5 }]);
    await limited.close();
  });
});
