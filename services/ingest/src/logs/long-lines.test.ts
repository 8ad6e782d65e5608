import { expect, test } from "@jest/globals";
import { columnsOfRequest, encodeLogBlock } from "@tidemark/codecs/logs";
import type { Db } from "@tidemark/pg";
import { turnsDuring } from "@tidemark/testkit";
import { readLogPage } from "./log-lines.sql.ts";
import { logStart } from "./log-page.rules.ts";

test("a search through many long lines, which arrive packed together, leaves turns to others", async () => {
  const segments = Array.from({ length: 40 }, (_, segment) => {
    const lines = Array.from({ length: 50 }, (_, i) => ({
      lineNumber: segment * 50 + i,
      message: "x".repeat(16_384),
      sent: null,
    }));
    const block = encodeLogBlock(columnsOfRequest(lines), { compressFrom: 0 });
    return { lineNumber: segment * 50, id: segment * 64, baseId: segment * 64, baseUs: 0, block };
  });
  const db = { rows: async () => segments } as unknown as Db;
  const source = { orgId: "o", runId: "r", stream: "stdout" } as const;
  const wanted = { after: logStart, linesMax: 2001, matchesMax: 100, text: "y" };
  const { result, turns } = await turnsDuring(() => readLogPage(db, source, wanted));
  expect(result).toHaveLength(2000);
  expect(turns).toBeGreaterThanOrEqual(3);
});
