import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  barOf,
  ORPHANS,
  spanDurationWords,
  emptyTree,
  rangeOf,
  spanRows,
  withChildren,
  type Span,
} from "./waterfall.ts";

const T0 = Date.parse("2026-01-01T00:00:00Z");
const span = (id: string, parent: string | null = null, change: Partial<Span> = {}): Span => ({
  span_id: id,
  parent_span_id: parent,
  name: `span ${id}`,
  kind: "model",
  status: "ok",
  started_at: new Date(T0).toISOString(),
  ended_at: new Date(T0 + 100).toISOString(),
  duration_ms: 100,
  child_count: 0,
  step: null,
  rank: null,
  attributes: {},
  metrics: {},
  links: [],
  input_preview: "",
  output_preview: "",
  error_type: null,
  error_preview: "",
  truncated: false,
  ...change,
});
const open = { closed: new Set<string>(), search: "", counts: { roots: 0, orphans: 0 } };
const shape = (rows: ReturnType<typeof spanRows>) =>
  rows.map((row) =>
    row.kind === "span"
      ? `${" ".repeat(row.depth)}${row.span.span_id}`
      : `${" ".repeat(row.depth)}${row.kind === "more" ? `+${row.missing}` : row.kind}`,
  );

describe("a waterfall", () => {
  const tree = withChildren(emptyTree, [
    { parentId: "", spans: [span("a", null, { child_count: 3 }), span("z")] },
    { parentId: "a", spans: [span("b", "a", { child_count: 1, name: "plan" }), span("c", "a", { kind: "tool" })] },
    { parentId: "b", spans: [span("d", "b", { error_type: "ValueError" })] },
  ]);

  test("shows children below their parents, and how many are not loaded", () => {
    expect(shape(spanRows(tree, open))).toEqual(["a", " b", "  d", " c", " +1", "z"]);
  });

  test("hides what is below a closed span", () => {
    expect(shape(spanRows(tree, { ...open, closed: new Set(["b"]) }))).toEqual(["a", " b", " c", " +1", "z"]);
  });

  test("is searched by name, kind and error, with those above", () => {
    expect(shape(spanRows(tree, { ...open, search: "valueerror" }))).toEqual(["a", " b", "  d"]);
    expect(shape(spanRows(tree, { ...open, search: "tool" }))).toEqual(["a", " c"]);
    expect(shape(spanRows(tree, { ...open, search: "nothing" }))).toEqual([]);
  });

  test("has all roots and, behind a heading, the spans whose parent has not arrived, and says how many are not loaded", () => {
    const orphaned = withChildren(tree, [{ parentId: ORPHANS, spans: [span("o", "gone", { child_count: 1 })] }]);
    const rows = spanRows(orphaned, { ...open, counts: { roots: 5, orphans: 2 } });
    expect(shape(rows)).toEqual(["a", " b", "  d", " c", " +1", "z", "+3", "orphans", "o", "+1"]);
    expect(shape(spanRows(orphaned, { ...open, counts: { roots: 5, orphans: 2 }, search: "span o" }))).toEqual([
      "orphans",
      "o",
    ]);
    expect(shape(spanRows(orphaned, { ...open, counts: { roots: 5, orphans: 2 }, search: "plan" }))).toEqual([
      "a",
      " b",
    ]);
  });

  test("keeps the order of starts where a later child was read first", () => {
    const at = (ms: number) => ({ started_at: new Date(T0 + ms).toISOString() });
    const late = withChildren(emptyTree, [{ parentId: "", spans: [span("a", null, at(9))] }]);
    expect(
      withChildren(late, [{ parentId: "", spans: [span("c", null, at(1)), span("a", null, at(9))] }]).children.get(""),
    ).toEqual(["c", "a"]);
  });

  test("takes a page that arrives twice once", () => {
    const again = withChildren(tree, [{ parentId: "b", spans: [span("d", "b")] }]);
    expect(shape(spanRows(again, open))).toHaveLength(6);
  });

  test("ends where parents go round in a circle", () => {
    const circle = withChildren(emptyTree, [
      { parentId: "", spans: [span("a", "b", { child_count: 1 })] },
      { parentId: "a", spans: [span("b", "a", { child_count: 1 })] },
      { parentId: "b", spans: [span("a", "b", { child_count: 1 })] },
    ]);
    expect(shape(spanRows(circle, open))).toEqual(["a", " b"]);
    expect(spanRows(circle, { ...open, search: "span" })).toHaveLength(2);
  });

  test("of 30,000 spans in a chain has them all", () => {
    const pages = Array.from({ length: 30_000 }, (_, i) => ({
      parentId: i === 0 ? "" : String(i - 1),
      spans: [span(String(i), i === 0 ? null : String(i - 1), { child_count: i === 29_999 ? 0 : 1 })],
    }));
    const rows = spanRows(withChildren(emptyTree, pages), open);
    expect(rows).toHaveLength(30_000);
    expect(rows[29_999]).toMatchObject({ depth: 29_999 });
  });
});

test("bars stay within the range and are never nothing", () => {
  const times = fc.tuple(fc.integer({ min: -500, max: 1_500 }), fc.integer({ min: 0, max: 3_000 }));
  fc.assert(
    fc.property(times, ([start, length]) => {
      const one = span("a", null, { started_at: new Date(T0 + start).toISOString(), duration_ms: length });
      const { left, width } = barOf(one, { from: T0, to: T0 + 1_000 });
      expect(left).toBeGreaterThanOrEqual(0);
      expect(width).toBeGreaterThan(0);
      expect(left + width).toBeLessThanOrEqual(1 + 1e-9);
    }),
  );
});

test("a range ends now while something runs", () => {
  expect(rangeOf({ started_at: new Date(T0).toISOString(), ended_at: null }, T0 + 50)).toEqual({
    from: T0,
    to: T0 + 50,
  });
  expect(rangeOf(span("a", null, { ended_at: new Date(T0).toISOString() }), T0)).toEqual({ from: T0, to: T0 + 1 });
});

test.each([
  [0.0004, "0.4 µs"],
  [12.3456, "12.3 ms"],
  [1500, "1.5 s"],
  [61_000, "1 min 1 s"],
])("%d ms are %s", (ms, words) => expect(spanDurationWords(ms)).toBe(words));
