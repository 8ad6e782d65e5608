import { describe, expect, test } from "@jest/globals";
import { choosePanels, PANELS_PAGE_BYTES } from "./report.rules.ts";

const createdAt = "2026-01-02T03:04:05.6Z";
const source = (id: string, panelCount: number, panelBytes = 10) => ({ id, createdAt, panelCount, panelBytes });

describe("a page of panels", () => {
  test("ends inside a report, and the next one continues there", () => {
    const sources = [source("a", 2), source("b", 5)];
    const first = choosePanels(sources, 0, 4);
    expect(first).toEqual({
      reports: [
        { id: "a", from: 0, to: 2 },
        { id: "b", from: 0, to: 2 },
      ],
      next: { createdAt, id: "b", skip: 2 },
    });
    expect(choosePanels(sources.slice(1), 2, 4)).toEqual({ reports: [{ id: "b", from: 2, to: 5 }], next: undefined });
  });

  test("ends before a report that would make it too large, but has at least one", () => {
    const half = PANELS_PAGE_BYTES / 2;
    expect(choosePanels([source("a", 1, half), source("b", 1, half), source("c", 1, 1)], 0, 100).next?.id).toBe("c");
    expect(choosePanels([source("a", 1, 3 * half)], 0, 100).reports).toHaveLength(1);
  });

  test("ends with the last report", () => {
    expect(choosePanels([source("a", 2)], 0, 2).next).toBeUndefined();
    expect(choosePanels([source("a", 2), source("b", 1)], 0, 2).next).toEqual({ createdAt, id: "b", skip: 0 });
    expect(choosePanels([], 0, 2)).toEqual({ reports: [], next: undefined });
  });

  test("continues with the next report where panels have been removed", () => {
    expect(choosePanels([source("a", 2), source("b", 3)], 4, 3).reports).toEqual([
      { id: "a", from: 4, to: 2 },
      { id: "b", from: 0, to: 3 },
    ]);
  });
});
