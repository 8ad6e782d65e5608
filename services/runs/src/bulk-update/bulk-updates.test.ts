import { randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { hundredsOf, readIds, writeIds } from "./bulk-updates.rules.ts";

test.each([0, 1, 100, 101, 10_000])(
  "%d ids are written in 16 bytes each and read again, and cut into hundreds",
  (count) => {
    const ids = Array.from({ length: count }, () => randomUUID() as string);
    const bytes = writeIds(ids);
    expect(bytes).toHaveLength(16 * count);
    expect(readIds(bytes)).toEqual(ids);
    const hundreds = hundredsOf(ids);
    expect(hundreds.flat()).toEqual(ids);
    expect(hundreds.slice(0, -1).every(({ length }) => length === 100)).toBe(true);
    expect(hundreds).toHaveLength(Math.ceil(count / 100));
  },
);
