import { describe, expect, test } from "@jest/globals";
import { inputOf } from "./route-input.fixture.ts";
import { decodeCompareRuns } from "./runs-compare-request.ts";

const idOf = (n: number): string => `5b0c0000-0000-4000-8000-${String(n).padStart(12, "0")}`;
const [a, b] = [idOf(1), idOf(2)];
const decode = (query: Readonly<Record<string, string>>) => decodeCompareRuns(inputOf({ query }));
const both = { runIds: [a, b], referenceRunId: "", diffOnly: false };
const list = (count: number): string => Array.from({ length: count }, (_, i) => idOf(i)).join(",");

describe("GET /api/runs/side-by-side reads", () => {
  test.each([
    ["ids", { run_ids: `${a},${b}` }, both],
    ["ids by the other name", { runs: `${a},${b}` }, both],
    ["run_ids before runs", { run_ids: `${a},${b}`, runs: "x" }, both],
    ["blanks between commas not at all", { run_ids: `, ${a} ,,${b}, ` }, both],
    ["repeated ids once, where they stood first", { run_ids: `${a},${b},${a.toUpperCase()}` }, both],
    ["an id in capitals", { run_ids: `${a.toUpperCase()},${b}` }, both],
    ["a reference", { run_ids: `${a},${b}`, reference_run_id: b.toUpperCase() }, { ...both, referenceRunId: b }],
    ["a reference that is no id as none", { run_ids: `${a},${b}`, reference_run_id: "first" }, both],
    ["diff_only", { run_ids: `${a},${b}`, diff_only: "true" }, { ...both, diffOnly: true }],
    ["any other diff_only as not", { run_ids: `${a},${b}`, diff_only: "TRUE" }, both],
    ["1 as not", { run_ids: `${a},${b}`, diff_only: "1" }, both],
  ])("%s", (_, query, expected) => expect(decode(query)).toEqual(expected));

  test("50 ids, also when some are named again", () => {
    expect(decode({ run_ids: `${list(50)},${list(50)}` }).runIds).toHaveLength(50);
  });
});

describe("GET /api/runs/side-by-side refuses", () => {
  test.each([
    ["no ids", {}, "run_ids"],
    ["blank ids", { run_ids: " , ," }, "run_ids"],
    ["blank ids, though there are runs", { run_ids: ",", runs: a }, "run_ids"],
    ["an id that is none", { run_ids: `${a},x` }, "run_ids"],
    ["an id without hyphens", { run_ids: a.replaceAll("-", "") }, "run_ids"],
    ["the nil id", { run_ids: "00000000-0000-0000-0000-000000000000" }, "run_ids"],
    ["an id that is none by the other name", { runs: "x" }, "runs"],
    ["51 ids", { run_ids: list(51) }, "run_ids"],
  ])("%s", (_, query, field) => {
    expect(() => decode(query)).toThrow(expect.objectContaining({ reason: "bad_request", field }));
  });
});
