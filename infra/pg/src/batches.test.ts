import { expect, test } from "@jest/globals";
import { inBatches } from "./pages.ts";

test("batches continue until one has fewer rows", async () => {
  const rows = [3, 3, 2, 3];
  const asked: number[] = [];
  const total = await inBatches(3, (rowsMax) => {
    asked.push(rowsMax);
    return Promise.resolve(rows.shift()!);
  });
  expect([total, asked]).toEqual([8, [3, 3, 3]]);
});
