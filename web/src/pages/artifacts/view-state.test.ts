import { expect, test } from "@jest/globals";
import { collectionsPath, readView } from "./view-state.ts";

const read = (query: string) => readView(new URLSearchParams(query));

test("an address without a query is the list of everything", () => {
  expect(read("")).toEqual({
    collection: undefined,
    version: undefined,
    tab: "overview",
    q: "",
    type: "",
    hops: 4,
  });
});

test("everything that is shown is in the address", () => {
  expect(read("collection=c&version=v&tab=lineage&q=pol&type=model&hops=10")).toEqual({
    collection: "c",
    version: "v",
    tab: "lineage",
    q: "pol",
    type: "model",
    hops: 10,
  });
});

test("what is unknown counts for nothing", () => {
  const first = read("");
  for (const query of ["tab=x", "type=x", "hops=0", "hops=11", "hops=1.5", "hops=x", "collection=&version="])
    expect([query, read(query)]).toEqual([query, first]);
});

test("the list is that of a project, a type and a part of a name", () => {
  expect(collectionsPath("1", { q: " ", type: "" })).toBe("/api/artifact-collections?project_id=1");
  expect(collectionsPath("1", { q: " a&b ", type: "model" })).toBe(
    "/api/artifact-collections?project_id=1&type=model&q=a%26b",
  );
});
