import fc from "fast-check";
import { describe, expect, test } from "@jest/globals";
import { layersOf } from "./layers.ts";
import { layOut, NODE } from "./layout.ts";

const edgesOf = (...texts: readonly string[]) =>
  texts.map((text) => {
    const [from, to] = text.split(">");
    return { from: from!, to: to! };
  });
const layers = (ids: string, ...edges: readonly string[]) =>
  Object.fromEntries(layersOf(ids.split(""), edgesOf(...edges)));

describe("layers", () => {
  test("lead from what was used to what was made", () => {
    expect(layers("cba", "a>b", "b>c")).toEqual({ a: 0, b: 1, c: 2 });
  });

  test("are as many as the longest way has", () => {
    expect(layers("abcd", "a>b", "b>c", "c>d", "a>d")).toEqual({ a: 0, b: 1, c: 2, d: 3 });
  });

  test("have a node that nothing leads to next to what it leads to", () => {
    expect(layers("abcdx", "a>b", "b>c", "c>d", "x>d")).toMatchObject({ x: 2, d: 3 });
  });

  test("exist for a cycle, an edge to itself and a node without edges", () => {
    expect(layers("abx", "a>b", "b>a", "a>a")).toEqual({ a: 0, b: 1, x: 0 });
  });

  test("do not need a stack as deep as the graph", () => {
    const ids = Array.from({ length: 20_000 }, (_, i) => `n${i}`);
    const found = layersOf(
      ids,
      ids.slice(1).map((to, i) => ({ from: ids[i]!, to })),
    );
    expect(found.get("n19999")).toBe(19_999);
  });
});

describe("a layout", () => {
  test("of a chain is one line from left to right", () => {
    const { nodes, lines, width, height } = layOut("abc".split(""), edgesOf("a>b", "b>c"));
    const step = NODE.width + NODE.between;
    expect([...nodes.values()]).toEqual([
      { layer: 0, x: 0, y: 0 },
      { layer: 1, x: step, y: 0 },
      { layer: 2, x: 2 * step, y: 0 },
    ]);
    expect([width, height]).toEqual([2 * step + NODE.width, NODE.height]);
    const middle = NODE.height / 2;
    expect(lines[0]).toEqual([
      { x: NODE.width, y: middle },
      { x: step, y: middle },
    ]);
  });

  test("puts a node in the middle of what it leads to", () => {
    const { nodes } = layOut("abcd".split(""), edgesOf("a>b", "a>c", "a>d"));
    const ys = "bcd".split("").map((id) => nodes.get(id)!.y);
    expect(ys).toEqual([0, NODE.height + NODE.across, 2 * (NODE.height + NODE.across)]);
    expect(nodes.get("a")!.y).toBe(ys[1]);
  });

  test("does not cross lines that need not cross", () => {
    const { nodes } = layOut("abcdxy".split(""), edgesOf("a>y", "b>x", "x>c", "y>d"));
    const isAbove = (one: string, other: string): boolean => nodes.get(one)!.y < nodes.get(other)!.y;
    expect([isAbove("a", "b"), isAbove("y", "x"), isAbove("d", "c")]).toEqual([true, true, true]);
  });

  test("leads a line that skips a layer past its nodes", () => {
    const { nodes, lines } = layOut("abc".split(""), edgesOf("a>b", "b>c", "a>c"));
    const [, enters, leaves] = lines[2]!;
    const box = nodes.get("b")!;
    expect([enters!.x, leaves!.x]).toEqual([box.x, box.x + NODE.width]);
    expect(enters!.y < box.y || enters!.y > box.y + NODE.height).toBe(true);
  });

  test("of a cycle has its line back from the later node to the earlier one", () => {
    const { nodes, lines } = layOut("ab".split(""), edgesOf("a>b", "b>a"));
    expect(lines[1]!.map(({ x }) => x)).toEqual([nodes.get("b")!.x, nodes.get("a")!.x + NODE.width]);
  });

  test("of nothing is empty", () => {
    expect(layOut([], [])).toMatchObject({ width: 0, height: 0, lines: [] });
  });

  const graphs = fc.integer({ min: 1, max: 30 }).chain((count) =>
    fc.record({
      ids: fc.constant(Array.from({ length: count }, (_, i) => `n${i}`)),
      pairs: fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 60 }),
    }),
  );
  test("of any graph has every node once, none over another, and everything within its size", () => {
    fc.assert(
      fc.property(graphs, ({ ids, pairs }) => {
        const edges = pairs.filter(([a, b]) => a !== b).map(([a, b]) => ({ from: ids[a]!, to: ids[b]! }));
        const { nodes, lines, width, height } = layOut(ids, edges);
        const boxes = [...nodes.values()];
        expect(boxes).toHaveLength(ids.length);
        expect(lines).toHaveLength(edges.length);
        for (const [i, one] of boxes.entries()) {
          expect(one.x >= 0 && one.x + NODE.width <= width).toBe(true);
          expect(one.y > -1e-6 && one.y + NODE.height < height + 1e-6).toBe(true);
          for (const other of boxes.slice(i + 1))
            expect(one.x !== other.x || Math.abs(one.y - other.y) > NODE.height).toBe(true);
        }
        for (const { x, y } of lines.flat()) expect(x >= 0 && x <= width && y >= 0 && y <= height).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
