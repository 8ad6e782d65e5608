import { expect, test } from "@jest/globals";
import { drawImports, placeDrawing, reduceGraph } from "./diagram.ts";
import type { Package, SourceFile } from "./workspace.ts";

const manifest = (name: string, folder: string): Package => ({
  name,
  folder,
  exports: ["."],
  dependencies: [],
  devDependencies: [],
});
const file = (path: string, ...specifiers: string[]): SourceFile => ({
  path,
  imports: specifiers.map((specifier) => ({ specifier, typeOnly: false, line: 1 })),
});

test("arrows that others imply are left out", () => {
  const graph = new Map([
    ["a", new Set(["b", "c", "d"])],
    ["b", new Set(["c"])],
    ["c", new Set(["d"])],
    ["d", new Set<string>()],
  ]);
  expect([...reduceGraph(graph)].map(([name, next]) => [name, [...next]])).toEqual([
    ["a", ["b"]],
    ["b", ["c"]],
    ["c", ["d"]],
    ["d", []],
  ]);
});

test("the drawing has a box per package in the group of its layer and an arrow per import outside tests", () => {
  const drawing = drawImports({
    packages: [
      manifest("@t/pg", "infra/pg"),
      manifest("@t/runs", "services/runs"),
      manifest("root", ""),
      manifest("@t/kit", "infra/testkit"),
    ],
    files: [
      file("services/runs/src/a.ts", "@t/pg", "lru-cache"),
      file("services/runs/src/a.test.ts", "@t/kit"),
      file("scripts/a.ts", "@t/pg"),
    ],
  });
  expect(drawing.split("\n")).toEqual([
    "```mermaid",
    "flowchart TD",
    '  subgraph service_layer["services"]',
    '    services_runs["runs"]',
    "  end",
    '  subgraph infra_layer["infra"]',
    '    infra_pg["pg"]',
    '    infra_testkit["testkit"]',
    "  end",
    "  services_runs --> infra_pg",
    "```",
  ]);
});

const markers = "<!-- import-graph:start -->\n\nold\n\n<!-- import-graph:end -->";

test("a drawing replaces what stands between the markers and nothing else", () => {
  const placed = placeDrawing(`before\n${markers}\nafter\n`, "import-graph", "new");
  expect(placed).toBe("before\n<!-- import-graph:start -->\n\nnew\n\n<!-- import-graph:end -->\nafter\n");
  expect(placeDrawing(placed, "import-graph", "new")).toBe(placed);
});

test.each([["no markers"], ["<!-- import-graph:end --> <!-- import-graph:start -->"], ["<!-- import-graph:start -->"]])(
  "%j has no place for a drawing",
  (document) => {
    expect(() => placeDrawing(document, "import-graph", "new")).toThrow(/import-graph:start/);
  },
);
