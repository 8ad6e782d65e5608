import { testSql } from "@tidemark/testkit";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Tx } from "@tidemark/pg";
import { choiceStatement } from "./list/choose-runs.sql.ts";
import { asOwner, callAs, failure, makeRun, startRuns, type RunsFixture } from "./runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

/** Two organizations; the first has two projects with a run each, and a key for one of them. */
async function world() {
  const wide = callAs();
  const mine = await makeRun(fixture.client, wide, { project: "mine", name: "my-run" });
  const theirs = await makeRun(fixture.client, wide, { project: "theirs", name: "their-run" });
  const scoped = callAs({ orgId: wide.orgId, projectId: mine.projectId });
  const stranger = callAs();
  await makeRun(fixture.client, stranger, { project: "mine", name: "strange-run" });
  return { wide, scoped, stranger, mine, theirs };
}

const names = async (call: ReturnType<typeof callAs>, filter = {}, sortBy = "created"): Promise<string[]> => {
  const { runs } = await fixture.client.listRuns({ filter, order: { sortBy, metricKey: "k" }, limit: 1000 }, call);
  return runs.map(({ run }) => run?.name ?? "");
};

describe.each(["another organization", "a key of another project"])("%s", (who) => {
  const outsider = (w: Awaited<ReturnType<typeof world>>) => (who === "another organization" ? w.stranger : w.scoped);

  test("does not read the run", async () => {
    const w = await world();
    const read = fixture.client.getRun({ runId: w.theirs.id, metricLimit: 10 }, outsider(w));
    expect(await failure(read)).toMatchObject({ reason: "not_found", message: "run not found" });
  });

  test("does not change the run", async () => {
    const w = await world();
    const changed = fixture.client.updateRun({ runId: w.theirs.id, status: "failed", notes: "x" }, outsider(w));
    expect(await failure(changed)).toMatchObject({ reason: "not_found", message: "run not found" });
    expect((await fixture.client.getRun({ runId: w.theirs.id, metricLimit: 1 }, w.wide)).run?.run).toEqual(w.theirs);
  });

  test.each(["create", "auto", "resume"])("does not attach to the run by %s", async (mode) => {
    const w = await world();
    await fixture.client.updateRun({ runId: w.theirs.id, status: "finished" }, w.wide);
    const attach = fixture.client.createRun({ id: w.theirs.id, mode }, outsider(w));
    expect(await failure(attach)).toMatchObject({ reason: "run_not_found", message: "run not found" });
    const { run } = await fixture.client.getRun({ runId: w.theirs.id, metricLimit: 1 }, w.wide);
    expect(run?.run).toMatchObject({ status: "finished", resumeCount: 0 });
  });

  test("does not list the run, by any filter and order", async () => {
    const w = await world();
    for (const sortBy of ["created", "name", "status", "duration", "metric-latest", "metric-best"]) {
      for (const filter of [
        {},
        { project: "theirs" },
        { status: "running" },
        { displayStatus: "running" },
        { q: "their" },
      ]) {
        expect(await names(outsider(w), filter, sortBy)).not.toContain("their-run");
      }
    }
  });

  test("does not list the project", async () => {
    const w = await world();
    const { projects, total } = await fixture.client.listProjects({ limit: 100 }, outsider(w));
    expect(projects.map(({ name }) => name)).toEqual(["mine"]);
    expect(total).toBe(1n);
  });
});

test("a project-scoped key creates no project, not even its own", async () => {
  const { scoped } = await world();
  for (const name of ["mine", "new", ""]) {
    expect(await failure(fixture.client.createProject({ name }, scoped))).toMatchObject({ reason: "forbidden" });
  }
});

test("two organizations have projects of one name", async () => {
  const { wide, stranger } = await world();
  const [ours] = (await fixture.client.listProjects({ limit: 1 }, wide)).projects;
  const [others] = (await fixture.client.listProjects({ limit: 1 }, stranger)).projects;
  expect(ours?.name).toBe(others?.name);
  expect(ours?.id).not.toBe(others?.id);
});

describe("row level security by itself", () => {
  const inOrg = <T>(orgId: string, work: (tx: Tx) => Promise<T>) => fixture.db.withTenant(orgId, work);

  test.each(["runs.runs", "runs.projects"])("shows one organization of %s without any condition", async (table) => {
    const { wide, stranger } = await world();
    for (const { orgId } of [wide, stranger]) {
      const seen = await inOrg(orgId, (tx) =>
        tx.rows<{ org_id: string }>(testSql(`SELECT DISTINCT org_id FROM ${table}`), []),
      );
      expect(seen).toEqual([{ org_id: orgId }]);
    }
  });

  test.each([
    ["by name", "name", undefined],
    ["of a search", "created", { kind: "status", status: "running" }],
    ["of a search by name", "name", { kind: "status", status: "running" }],
  ] as const)(
    "shows nothing foreign when the list %s asks for another organization, or for all",
    async (_what, sort, search) => {
      const { wide, stranger, theirs } = await world();
      const choice = {
        filter: { projectId: undefined, status: undefined, displayStatus: undefined, search },
        order: { sort, metricKey: "k" },
        start: { offset: 0 },
        limit: 1000,
      } as const;
      const { statement, values } = choiceStatement(wide.orgId, choice, "valued");
      const asked = await inOrg(stranger.orgId, (tx) => tx.rows(statement, values));
      expect(asked).toEqual([]);
      const unbound = statement.text.replaceAll(/\b[rtho]\.org_id = \$1/g, "$1::uuid IS NOT NULL");
      expect(unbound).not.toBe(statement.text);
      const all = await inOrg(stranger.orgId, (tx) => tx.rows<{ id: string }>(testSql(unbound), values));
      expect(all).not.toEqual([]);
      const own = await inOrg(stranger.orgId, (tx) => tx.rows<{ id: string }>(testSql("SELECT id FROM runs.runs"), []));
      expect(own.map(({ id }) => id)).toEqual(expect.arrayContaining(all.map(({ id }) => id)));
      expect(all.map(({ id }) => id)).not.toContain(theirs.id);
    },
  );

  test("changes nothing foreign", async () => {
    const { wide, stranger, theirs } = await world();
    const changed = await inOrg(stranger.orgId, async (tx) => [
      await tx.count(testSql("UPDATE runs.runs SET tags = '{x}' WHERE id = $1"), [theirs.id]),
      await tx.count(testSql("UPDATE runs.projects SET runs_failed = 7 WHERE id = $1"), [theirs.projectId]),
      (await tx.rows(testSql("SELECT * FROM runs.lock_state_v1($1, $2)"), [wide.orgId, theirs.id])).length,
    ]);
    expect(changed).toEqual([0, 0, 0]);
  });

  test("refuses rows that name another organization", async () => {
    const { wide, stranger } = await world();
    const insert = testSql("INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $2, 'x')");
    const refused = inOrg(stranger.orgId, (tx) => tx.rows(insert, [wide.orgId, randomUUID()]));
    expect((await failure(refused)).message).toMatch(/row-level security/);
  });

  test("fails outside a transaction of an organization", async () => {
    const read = fixture.db.rows(testSql("SELECT * FROM runs.runs"), []);
    expect((await failure(read)).message).toMatch(/app\.org_id|invalid input syntax for type uuid/);
  });

  test.each([
    "SELECT * FROM runs.run_ids",
    "DELETE FROM runs.runs",
    "DELETE FROM runs.projects",
    "UPDATE runs.runs SET created_at = now()",
    "UPDATE runs.runs SET org_id = org_id",
    "UPDATE runs.projects SET created_at = now()",
  ])("the service's role may not: %s", async (text) => {
    const refused = inOrg(randomUUID(), (tx) => tx.rows(testSql(text), []));
    expect((await failure(refused)).message).toMatch(/permission denied/);
  });

  test("every table with organizations forces it, but one that belongs to a role that cannot log in", async () => {
    const open = await asOwner(
      fixture,
      `SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id'
       WHERE c.relnamespace = 'runs'::regnamespace AND c.relkind = 'r' AND NOT (c.relrowsecurity AND c.relforcerowsecurity)`,
    );
    expect(open).toEqual([{ relname: "run_texts" }]);
    const [owner] = await asOwner(
      fixture,
      `SELECT r.rolname, r.rolcanlogin, c.relrowsecurity FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
       WHERE c.oid = 'runs.run_texts'::regclass`,
    );
    expect(owner).toEqual({ rolname: "tidemark_definer", rolcanlogin: false, relrowsecurity: true });
  });
});
