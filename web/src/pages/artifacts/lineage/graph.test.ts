import { expect, test } from "@jest/globals";
import { linePath, neighborWords, nodeAddress, nodeWords, sizeWords, type GraphEdge, type GraphNode } from "./graph.ts";

const node = (id: string, more = false): GraphNode => ({
  id,
  kind: id.startsWith("run:") ? "run" : "artifact_version",
  label: id.replace(/^[a-z-]+:/, ""),
  state: "active",
  summary: { project: "a b" },
  hop: 0,
  more,
});
const data = node("artifact-version:data");
const model = node("artifact-version:model", true);
const train = node("run:train");
const edges: GraphEdge[] = [
  { from: data.id, to: train.id, direction: "input" },
  { from: train.id, to: model.id, direction: "output" },
];
const graph = { nodes: [data, model, train], edges };

test("a node leads to its page, and a version that is gone to none", () => {
  const hrefOf = (id: string): string => `here ${id}`;
  expect(nodeAddress(train, "a b", hrefOf)).toBe("/p/a%20b/r/train/lineage");
  expect(nodeAddress(data, "a b", hrefOf)).toBe("here data");
  expect(nodeAddress(data, "other", hrefOf)).toBe("/p/a%20b/artifacts?version=data&tab=lineage");
  expect(nodeAddress({ ...data, state: "soft_deleted" }, "a b", hrefOf)).toBeUndefined();
});

test("the neighbors of a node are said in words", () => {
  expect(neighborWords(data, graph)).toBe("Used by train.");
  expect(neighborWords(train, graph)).toBe("Used data. Made model.");
  expect(neighborWords(model, graph)).toBe("Made by train. There are more.");
  const users = Array.from({ length: 7 }, (_, i) => node(`run:r${i}`));
  const used = { nodes: [data, ...users], edges: users.map(({ id }) => ({ ...edges[0]!, to: id })) };
  expect(neighborWords(data, used)).toBe("Used by r0, r1, r2, r3, r4 and 2 others.");
});

test("a node is said with what the picture shows of it", () => {
  const version = { ...data, summary: { project: "p", type: "dataset", aliases: ["best", "latest"] } };
  expect(nodeWords(version, graph)).toBe("Version data (dataset, best, latest). Used by train.");
  expect(nodeWords({ ...version, state: "soft_deleted" }, graph)).toBe(
    "Version data (dataset, best, latest, deleted). Used by train.",
  );
  expect(nodeWords({ ...train, state: "failed" }, graph)).toBe("Run train (a b, failed). Used data. Made model.");
});

test("a graph says how much it has", () => {
  expect(sizeWords(graph)).toBe("2 versions and 1 run");
});

test("a line is straight on one height and curved between two", () => {
  expect(linePath([])).toBe("");
  expect(
    linePath([
      { x: 0, y: 0 },
      { x: 10, y: 0 },
      { x: 20, y: 5.55 },
    ]),
  ).toBe("M0 0L10 0C15 0 15 5.5 20 5.5");
});
