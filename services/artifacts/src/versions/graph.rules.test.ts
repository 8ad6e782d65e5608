import { expect, test } from "@jest/globals";
import { walkGraph, type GraphBounds, type ReadSteps } from "./graph.rules.ts";

const WIDE: GraphBounds = { hops: 10, neighbors: 10, nodes: 100 };

/** Edges as `a > R` (the run R used a) and `R > b` (it made b); runs are upper case. */
const reader = (...edges: readonly string[]): ReadSteps => {
  const pairs = edges.map((edge) => edge.split(" > ") as [string, string]);
  return (from, ids, direction, limit) => {
    const isForward = (from === "version") === (direction === "input");
    const steps = ids.flatMap((id) =>
      pairs
        .filter((pair) => pair[isForward ? 0 : 1] === id)
        .map((pair) => ({ from: id, to: pair[isForward ? 1 : 0] }))
        .slice(0, limit),
    );
    return Promise.resolve(steps);
  };
};

/** The graph around a version as `{ node: hop }`, nodes with more behind them marked by `+`, and its edges. */
async function walk(version: string, edges: readonly string[], bounds: Partial<GraphBounds> = {}) {
  const graph = await walkGraph(version, reader(...edges), { ...WIDE, ...bounds });
  return {
    nodes: Object.fromEntries(graph.nodes.map(({ id, hop, more }) => [more ? `${id}+` : id, hop])),
    edges: graph.edges
      .map(({ runId, versionId, direction }) =>
        direction === "output" ? `${runId} > ${versionId}` : `${versionId} > ${runId}`,
      )
      .toSorted(),
  };
}

const chain = ["A > a", "a > B", "B > b", "b > C", "C > c"];

test("a chain is walked to both of its ends", async () => {
  expect(await walk("b", chain)).toEqual({ nodes: { b: 0, B: -1, C: 1, a: -2, c: 2, A: -3 }, edges: chain.toSorted() });
});

test("what has nothing to do with the version is left out: other products of its makers, other inputs of its users", async () => {
  expect(await walk("b", [...chain, "B > other", "x > C"])).toEqual(await walk("b", chain));
});

test("a node is there once, with all of its edges, whichever way leads to it", async () => {
  const edges = ["A > a", "a > B", "a > C", "B > b", "b > C", "C > c"];
  expect(await walk("c", edges)).toEqual({
    nodes: { c: 0, C: -1, b: -2, a: -2, B: -3, A: -3 },
    edges: edges.toSorted(),
  });
});

test("a run that uses what it made ends the walk", async () => {
  const edges = ["A > a", "a > A", "A > b", "b > B"];
  expect(await walk("a", edges)).toEqual({ nodes: { a: 0, A: -1, b: 2, B: 3 }, edges: edges.toSorted() });
});

test("the hops end on each side, and the nodes there say that there is more", async () => {
  expect(await walk("b", chain, { hops: 2 })).toEqual({
    nodes: { b: 0, B: -1, C: 1, "a+": -2, c: 2 },
    edges: chain.slice(1).toSorted(),
  });
});

test("edges to nodes that are there count beyond the last hop", async () => {
  const edges = ["a > B", "B > b", "b > C", "a > C", "C > c"];
  const { edges: found } = await walk("c", edges, { hops: 2 });
  expect(found).toEqual(["C > c", "a > C", "b > C"]);
  expect((await walk("c", edges, { hops: 3 })).edges).toEqual(edges.toSorted());
  expect((await walk("c", edges, { hops: 3 })).nodes).toEqual({ c: 0, C: -1, b: -2, a: -2, B: -3 });
});

test("a node with more neighbors than the bound says so and has that many", async () => {
  const edges = ["a > A", "a > B", "a > C"];
  expect((await walk("a", edges, { neighbors: 2 })).nodes).toEqual({ "a+": 0, A: 1, B: 1 });
  expect((await walk("a", edges, { neighbors: 3 })).nodes).toEqual({ a: 0, A: 1, B: 1, C: 1 });
});

test("both sides have a share of the nodes", async () => {
  const edges = [...chain, "c > D", "D > d"];
  expect((await walk("b", edges, { nodes: 4 })).nodes).toEqual({ b: 0, B: -1, "C+": 1, "a+": -2 });
  expect((await walk("b", edges, { nodes: 3 })).nodes).toEqual({ b: 0, "B+": -1, "C+": 1 });
});
