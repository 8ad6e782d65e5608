import { expect, test } from "@jest/globals";
import { allRoutes } from "../api/index.ts";
import { foreignStarts, refuseStarts } from "./query.ts";

const foreignOf = (title: string) =>
  foreignStarts(allRoutes.find(({ method, path }) => `${method} ${path}` === title)!);

test("a list refuses what only other lists are paged by, and nothing else", () => {
  expect(foreignOf("GET /api/runs/summary")).toEqual([]);
  expect(foreignOf("GET /runs")).toEqual(["cursor"]);
  expect(foreignOf("GET /api/runs/{run_id}/artifacts")).toEqual(["offset"]);
  expect(foreignOf("GET /api/artifact-versions/{version_id}/manifest")).toEqual(["cursor"]);
  expect(foreignOf("GET /runs/{run_id}/metrics")).toEqual(["cursor", "offset"]);
  expect(foreignOf("GET /runs/{run_id}")).toEqual([]);
  expect(foreignOf("POST /api/metrics/series")).toEqual([]);
});

test("every list that answers with a next cursor takes one", () => {
  const cursorless = allRoutes.filter(
    ({ method, schemas }) =>
      method === "GET" &&
      Object.hasOwn(schemas.response["properties"] ?? {}, "next_cursor") &&
      !Object.hasOwn(schemas.query?.["properties"] ?? {}, "cursor"),
  );
  expect(cursorless).toEqual([]);
});

test("a refusal names the parameter, and the one that the list has", () => {
  expect(() => refuseStarts(["offset"], { offset: "5" })).toThrow(
    expect.objectContaining({ reason: "bad_request", field: "offset", message: expect.stringContaining("cursor") }),
  );
  expect(() => refuseStarts(["offset"], { cursor: "5", limit: "1" })).not.toThrow();
});
