import { describe, expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { PointColumnsSchema } from "@tidemark/proto/ingest/v1/ingest";
import { historyPage, readPlace, writePlace, type HistoryPlace } from "./metrics/history-page.ts";
import { columnsOfPoints } from "./metrics/points.ts";
import { longNote, noteOf, shortNote } from "./notes.ts";
import { configToParams, configValue } from "./runs/params.ts";
import { keptWord, storedStatus, wordOf, type MlflowStatus } from "./runs/statuses.ts";

test.each(["0.001", "32", "-1.5", "1e+21", "1e-7", "0"])("the parameter %s is a number that reads the same", (text) => {
  const value = configValue(text);
  expect(value).toBe(Number(text));
  expect(configToParams({ p: value })).toEqual([{ key: "p", value: text }]);
});

test.each(["007", "1e-05", "1.0", "True", "", "-0", "NaN", "Infinity", " 1", "0x10", "1_000", "9007199254740993"])(
  "the parameter %j stays a text",
  (text) => {
    expect(configValue(text)).toBe(text);
    expect(configToParams({ p: text })).toEqual([{ key: "p", value: text }]);
  },
);

test("the words for a status are read back while the run has it", () => {
  for (const word of ["RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"] satisfies MlflowStatus[]) {
    const stored = storedStatus(word);
    expect(wordOf(stored, stored, keptWord(word))).toBe(word);
    expect(wordOf(stored === "finished" ? "failed" : "finished", "finished", keptWord(word))).toBe("FINISHED");
  }
  expect(wordOf("failed", "stopped", null)).toBe("KILLED");
  expect(wordOf("running", "stopping", 7)).toBe("RUNNING");
});

describe("a note", () => {
  test.each([["short"], ["x".repeat(512)]])("that fits is stored once", (note) => {
    expect([shortNote(note), longNote(note), noteOf(note, null)]).toEqual([note, null, note]);
  });

  test.each([["n".repeat(513)], ["é".repeat(400)], [" padded "], [`${"x".repeat(511)}é`]])(
    "that does not is kept whole",
    (note) => {
      const short = shortNote(note);
      expect(Buffer.byteLength(short)).toBeLessThanOrEqual(512);
      expect(short).not.toContain("\uFFFD");
      expect(noteOf(short, longNote(note))).toBe(note);
      expect(noteOf("changed since", longNote(note))).toBe("changed since");
      expect(noteOf(undefined, longNote(note))).toBeUndefined();
    },
  );
});

test("points become columns by step and time, each once", () => {
  const at = { timestamp: 10, step: 1 };
  const columns = columnsOfPoints([
    { key: "b", value: 1, ...at },
    { key: "a", value: Number.NaN, ...at },
    { key: "a", value: Number.NaN, ...at },
    { key: "a", value: 2, ...at },
    { key: "a", value: 3, timestamp: 9, step: 1 },
    { key: "a", value: 4, timestamp: 99, step: 0 },
    { key: "a", value: 2, ...at },
  ]);
  expect(columns.keys).toEqual(["a", "b"]);
  expect(Array.from(columns.steps)).toEqual([0, 1, 1, 1]);
  expect(Array.from(columns.timestampsUs)).toEqual([99_000, 9000, 10_000, 10_000]);
  expect(Array.from(columns.values)).toEqual([4, 3, Number.NaN, 2, 1]);
});

describe("a history", () => {
  type Row = readonly [step: number, timestampMs: number, value: number];
  /** Pages as the handler makes them: each read begins with a step, and has at most `skip + rowsMax` rows. */
  const pagesOf = (rows: readonly Row[], rowsMax: number): Row[][] => {
    const pages: Row[][] = [];
    for (let place: HistoryPlace | undefined = { step: 0, skip: 0 }; place !== undefined;) {
      const from: HistoryPlace = place;
      const behind = rows.filter(([step]) => step >= from.step);
      const read = behind.slice(0, from.skip + rowsMax);
      const columns = create(PointColumnsSchema, {
        steps: read.map(([step]) => step),
        timestampsUs: read.map(([, time]) => time * 1000),
        values: read.map(([, , value]) => value),
        createdUs: read.map(() => 0),
      });
      const { points, next } = historyPage(columns, from, rowsMax, behind.length > read.length);
      pages.push(points.map(({ step, timestamp, value }): Row => [step, timestamp, value]));
      place = next && readPlace(writePlace(next));
    }
    return pages;
  };

  test("shows every point once on pages of any size, also where one step has more than a page", () => {
    const rows: Row[] = [
      ...Array.from({ length: 7 }, (_, i): Row => [0, 100 - i, i]),
      ...Array.from({ length: 3 }, (): Row => [1, 5, 5]),
      [2, 1, 1],
      [2, 1, Number.NaN],
      [9, 1, 1],
    ];
    const all = pagesOf(rows, 100);
    expect(all).toHaveLength(1);
    expect(all[0]).toHaveLength(11);
    for (let size = 1; size <= 14; size++) {
      const pages = pagesOf(rows, size);
      expect(pages.flat().map(String).toSorted()).toEqual(all[0]!.map(String).toSorted());
      expect(pages.flat().map(([step]) => step)).toEqual(all[0]!.map(([step]) => step));
      expect(pages.every((page) => page.length <= size)).toBe(true);
    }
  });

  test("has the time of the server where the client sent none", () => {
    const columns = create(PointColumnsSchema, { steps: [1], values: [2], createdUs: [3_999] });
    expect(historyPage(columns, { step: 0, skip: 0 }, 10, false)).toEqual({
      points: [{ step: 1, timestamp: 3, value: 2 }],
      next: undefined,
    });
  });

  test.each(["", "1", "a.b", "-1.0", "1.1e9", "1.2.3"])("does not begin at %j", (token) => {
    expect(readPlace(token)).toBeUndefined();
  });
});
