import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { findProject } from "./project-id.ts";
import { forgetQueries } from "./queries.ts";

const usual = globalThis.fetch;
const all = Array.from({ length: 2000 }, (_, i) => ({ id: `id ${i}`, name: `name ${i}` }));
let asked: string[] = [];

beforeEach(() => {
  asked = [];
  forgetQueries();
  globalThis.fetch = ((path: string) => {
    asked.push(path);
    const { searchParams } = new URL(path, "http://server");
    const offset = Number(searchParams.get("offset"));
    return Promise.resolve(Response.json({ projects: all.slice(offset, offset + Number(searchParams.get("limit"))) }));
  }) as typeof fetch;
});
afterEach(() => {
  globalThis.fetch = usual;
});

test.each([
  ["on the first page", "id 999", "name 999", 1],
  ["on a later page", "id 1000", "name 1000", 2],
  ["nowhere", "id 2000", undefined, 3],
])("a project is found by its id %s", async (_where, id, name, requests) => {
  expect((await findProject(id))?.name).toBe(name);
  expect(asked).toHaveLength(requests);
});
