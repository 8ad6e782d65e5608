import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Statement, Tx } from "@tidemark/pg";
import { listTraceRows, type TraceScope } from "./trace-rows.sql.ts";

// traces.found_traces has the rights of its owner and is not a security barrier, as PostgreSQL would then not use the index of words: a condition may be
// computed on a row of another organization before that row is dropped. So the statement that reads it may not depend on the search terms.

const ID = "0a1b2c3d-0000-4000-8000-000000000001";

/** Returns the statements that a list with these terms sends, the probe of the newest traces having found too little. */
async function statementsOf(kind: TraceScope["kind"], patterns: readonly string[]): Promise<string[]> {
  const sent: string[] = [];
  const tx = {
    rows: (statement: Statement) => {
      sent.push(statement.text);
      return Promise.resolve(sent.length === 1 ? [{ walked: 1000, traceId: null }] : []);
    },
  } as unknown as Tx;
  const terms = patterns.map((pattern) => ({ pattern, idFrom: null, idTo: null }));
  const filter = { status: 0, kindBits: 0, lowStep: null, highStep: null, fromUs: 0, toUs: 1, terms };
  await listTraceRows(tx, ID, { kind, id: ID }, filter, { after: undefined, rowsMax: 10 });
  return sent;
}

test.each(["run", "project"] as const)("of a %s, words are parameters of fixed statements", async (kind) => {
  const usual = [await statementsOf(kind, ["%word%"]), await statementsOf(kind, ["%--%"])];
  expect(usual[0]![1]).toContain("traces.found_traces");
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("' OR true --", "$1", "::int")),
      async (text) => {
        expect(usual).toContainEqual(await statementsOf(kind, [`%${text}%`]));
      },
    ),
    { numRuns: 500 },
  );
});
