import { expect, test } from "@jest/globals";
import {
  costWords,
  filtersOf,
  isFiltered,
  tracesPath,
  withFirstPage,
  type ListedTrace,
  type TraceScope,
} from "./trace-list.ts";

const NOW = Date.parse("2026-03-08T12:00:00Z");
const RUN: TraceScope = { runId: "r1" };
const PROJECT: TraceScope = { projectId: "p1" };

const queryOf = (scope: TraceScope, address: string, cursor: string | null = null): Record<string, string> => {
  const path = tracesPath(scope, filtersOf(new URLSearchParams(address), scope), cursor, NOW);
  return Object.fromEntries(new URL(path, "http://server").searchParams);
};

test("a list asks for what the address chooses, the list of a project for all time", () => {
  expect(queryOf(RUN, "")).toEqual({ run_id: "r1", limit: "100" });
  expect(queryOf(PROJECT, "")).toEqual({ project_id: "p1", from: "1970-01-01T00:00:00Z", limit: "100" });
  expect(queryOf(PROJECT, "find=+plan+&status=error&kind=tool&days=7&sort=cost", "c")).toEqual({
    project_id: "p1",
    q: "plan",
    status: "error",
    kind: "tool",
    from: "2026-03-01T12:00:00.000Z",
    sort: "cost",
    limit: "100",
    cursor: "c",
  });
  expect(queryOf({ projectId: "p1", runIds: ["a", "b"] }, "q=adam")).toMatchObject({ run_ids: "a,b" });
  expect(queryOf(PROJECT, "sort=name&days=2")).toEqual(queryOf(PROJECT, ""));
});

test("a search for runs leaves out traces of a project, not of a run", () => {
  const query = new URLSearchParams("q=adam");
  expect(isFiltered(filtersOf(query, PROJECT))).toBe(true);
  expect(isFiltered(filtersOf(query, RUN))).toBe(false);
  expect(isFiltered(filtersOf(new URLSearchParams("sort=cost"), PROJECT))).toBe(false);
});

const traceAt = (second: number, id = String(second)): ListedTrace =>
  ({ trace_id: id, run_id: "r", started_at: new Date(NOW + second * 1000).toISOString() }) as ListedTrace;
const secondsOf = (traces: readonly ListedTrace[]): number[] =>
  traces.map(({ started_at: start }) => (Date.parse(start) - NOW) / 1000);

test("a first page that is read again replaces what it covers, and the rest stays", () => {
  const known = [5, 4, 3, 2, 1].map((second) => traceAt(second));
  const fresh = { traces: [7, 5, 3].map((second) => traceAt(second)), next_cursor: "c" };
  expect(secondsOf(withFirstPage(known, fresh))).toEqual([7, 5, 3, 2, 1]);
  expect(secondsOf(withFirstPage(known, { ...fresh, next_cursor: null }))).toEqual([7, 5, 3]);
  expect(withFirstPage(known, { traces: [], next_cursor: null })).toEqual([]);
});

test("traces with one start stay in the order of their ids", () => {
  const known = [traceAt(1, "c"), traceAt(1, "b"), traceAt(1, "a")];
  const fresh = { traces: [traceAt(1, "c"), traceAt(1, "b")], next_cursor: "c" };
  expect(withFirstPage(known, fresh).map(({ trace_id: id }) => id)).toEqual(["c", "b", "a"]);
});

test.each([
  [0, "$0.00"],
  [12.345, "$12.35"],
  [0.000_123_4, "$0.00012"],
])("%d dollars are %s", (usd, words) => expect(costWords(usd)).toBe(words));
