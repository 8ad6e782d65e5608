import { describe, expect, test } from "@jest/globals";
import { layoutOf, packRows } from "./rank-reports.rules.ts";

const doubles = (packed: Uint8Array): number[] => {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  return Array.from({ length: packed.length / 8 }, (_, i) => view.getFloat64(8 * i));
};
const pack = (slots: [setId: number, slot: number][], values: number[], isPage = false) =>
  packRows(layoutOf(slots.map(([setId, slot]) => ({ setId, slot, isPage }))), values).map(({ packed, ...row }) => ({
    ...row,
    values: doubles(packed),
  }));

describe("the rows of a request", () => {
  test("are one per set, in the order of the sets, with the values in the order of their slots", () => {
    expect(
      pack(
        [
          [7, 1],
          [2, 0],
          [7, 0],
        ],
        [1, 2, 3],
      ),
    ).toEqual([
      { setId: 2, isPage: false, firstSlot: 0, values: [2] },
      { setId: 7, isPage: false, firstSlot: 0, values: [3, 1] },
    ]);
  });

  test("of a page begin with the first slot that has a value, end with the last, and have NaN in between", () => {
    expect(
      pack(
        [
          [1, 5],
          [1, 2],
        ],
        [1, -0],
        true,
      ),
    ).toEqual([{ setId: 1, isPage: true, firstSlot: 2, values: [-0, NaN, NaN, 1] }]);
  });

  test("have one NaN where there is no value, and another where a rank reported NaN", () => {
    const [row] = packRows(layoutOf([0, 2].map((slot) => ({ setId: 0, slot, isPage: true }))), [1, NaN]);
    expect(Buffer.from(row!.packed.subarray(8)).toString("hex")).toBe("7ff80000000000007ff8000000000001");
  });
});
