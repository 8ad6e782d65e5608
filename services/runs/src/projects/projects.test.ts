import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { asOwner, callAs, failure, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

test("a project is created once and is read back unchanged", async () => {
  const call = callAs();
  const made = await fixture.client.createProject({ name: "vision", description: "first" }, call);
  expect(made.project).toMatchObject({ orgId: call.orgId, name: "vision", description: "first" });
  const again = await fixture.client.createProject({ name: "vision", description: "second" }, call);
  expect(again.project).toEqual(made.project);
});

test("without a name it is default, without a description it has none", async () => {
  const { project } = await fixture.client.createProject({}, callAs());
  expect(project?.name).toBe("default");
  expect(project?.description).toBeUndefined();
});

test("20 simultaneous creates with one name make one project", async () => {
  const call = callAs();
  const made = await Promise.all(Array.from({ length: 20 }, () => fixture.client.createProject({ name: "p" }, call)));
  expect(new Set(made.map(({ project }) => project?.id)).size).toBe(1);
  expect((await fixture.client.listProjects({ limit: 10 }, call)).total).toBe(1n);
});

describe("the list", () => {
  const call = callAs();
  beforeAll(async () => {
    for (const name of ["b", "B", "é", "a", "_"]) {
      await fixture.client.createProject({ name }, call);
    }
  });
  const names = async (limit: number, offset = 0n) =>
    (await fixture.client.listProjects({ limit, offset }, call)).projects.map(({ name }) => name);

  test("is in code point order", async () => {
    expect(await names(100)).toEqual(["B", "_", "a", "b", "é"]);
  });

  test("is returned in pages that say how many there are", async () => {
    expect(await names(2)).toEqual(["B", "_"]);
    expect(await names(2, 2n)).toEqual(["a", "b"]);
    expect(await names(2, 99n)).toEqual([]);
    expect((await fixture.client.listProjects({ limit: 2, offset: 99n }, call)).total).toBe(5n);
  });

  test("has one project when a name is asked for, and of a key only its own", async () => {
    const named = async (name: string, caller = call) => {
      const { projects, total } = await fixture.client.listProjects({ limit: 2, name }, caller);
      expect(total).toBe(BigInt(projects.length));
      return projects.map((project) => project.name);
    };
    expect(await named("B")).toEqual(["B"]);
    expect(await named("all")).toEqual([]);
    expect(await named("\0")).toEqual([]);
    const { projects } = await fixture.client.listProjects({ limit: 2, name: "a" }, call);
    const own = callAs({ orgId: call.orgId, projectId: projects[0]!.id });
    expect([await named("a", own), await named("b", own)]).toEqual([["a"], []]);
  });

  test.each([0, 1001])("a limit of %d is 400", async (limit) => {
    expect(await failure(names(limit))).toMatchObject({ reason: "bad_request", field: "limit" });
  });
});

test("the table refuses names that no client may give", async () => {
  const { orgId } = callAs();
  for (const name of ["", "x".repeat(513)]) {
    const insert = asOwner(fixture, "INSERT INTO runs.projects (org_id, id, name) VALUES ($1, $1, $2)", [orgId, name]);
    expect((await failure(insert)).message).toMatch(/check constraint/);
  }
});
