import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { putAttributes } from "../metrics/ingested.fixture.ts";
import { found } from "../list/list-pages.fixture.ts";
import { asOwner, callAs, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const text = (value: unknown) => JSON.stringify(value);

describe("tags that were logged as attributes", () => {
  const call = callAs();
  let id: string;
  beforeAll(async () => {
    ({ id } = await makeRun(fixture.client, call, { name: "a", tags: ["own"] }));
    await makeRun(fixture.client, call, { name: "b", tags: ["own", "Paper"] });
    await putAttributes(
      fixture,
      call.orgId,
      id,
      [
        ["sys/tags", text("Paper")],
        ["sys/tags", text("paper")],
        ["sys/group_tags", text("group-7")],
        ["sys/tags", text("own")],
        ["sys/tags", text(7)],
        ["sys/tags", text("x".repeat(513))],
        ["other", text("elsewhere")],
      ],
      "tag",
    );
    await putAttributes(fixture, call.orgId, id, [["sys/tags", text("config")]]);
  });

  test.each([
    ["tag:paper", ["a", "b"]],
    ["tag:GROUP-7", ["a"]],
    ["-tag:group-7", ["b"]],
    ["tag:own", ["a", "b"]],
    ["tag:re:/^group-[0-9]$/", ["a"]],
    ["group-7", ["a"]],
    ["tag:elsewhere", []],
    ["tag:7", []],
    ["tag:config", []],
    [`tag:${"x".repeat(200)}`, []],
  ])("%s", async (q, names) => {
    expect(await found(fixture, call, q)).toEqual(names);
  });

  test("change no tags of the row, and stay when these change", async () => {
    const tagsOf = async () => (await fixture.client.getRun({ runId: id, metricLimit: 1 }, call)).run!.run!.tags;
    expect(await tagsOf()).toEqual(["own"]);
    await fixture.client.updateRun({ runId: id, tags: { tags: ["new"] } }, call);
    expect(await tagsOf()).toEqual(["new"]);
    expect(await found(fixture, call, "tag:new tag:group-7")).toEqual(["a"]);
    await fixture.client.updateRun({ runId: id, tags: { tags: ["own"] } }, call);
  });

  test("group runs together with the others", async () => {
    const { groups } = await fixture.client.groupRuns({ by: { names: ["tags"] }, filter: {} }, call);
    expect(groups.flatMap(({ valuesJson }) => valuesJson).toSorted()).toEqual(
      [text(["Paper", "own"]), text(["Paper", "group-7", "own", "paper"])].toSorted(),
    );
  });

  test("are hidden with their run, and back with it", async () => {
    await fixture.client.deleteRun({ runId: id }, call);
    expect(await found(fixture, call, "tag:group-7")).toEqual([]);
    await fixture.client.undeleteRun({ runId: id }, call);
    expect(await found(fixture, call, "tag:group-7")).toEqual(["a"]);
  });
});

test("at most 256 of a run are kept, the first ones", async () => {
  const call = callAs();
  const { id } = await makeRun(fixture.client, call, { name: "many", configJson: json("{}") });
  const tags = Array.from({ length: 300 }, (_, i) => ["sys/tags", text(`t${i}`)] as const);
  await putAttributes(fixture, call.orgId, id, tags.slice(0, 200), "tag");
  await putAttributes(fixture, call.orgId, id, tags, "tag");
  await putAttributes(fixture, call.orgId, id, [["sys/tags", text("late")]], "tag");
  const rows = await asOwner(fixture, "SELECT logged_tags FROM runs.runs WHERE id = $1", [id]);
  expect(rows).toEqual([{ logged_tags: tags.slice(0, 256).map((_, i) => `t${i}`) }]);
  expect(await found(fixture, call, "tag:t255")).toEqual(["many"]);
  expect(await found(fixture, call, "tag:t256")).toEqual([]);
});
