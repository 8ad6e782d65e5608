import { expect, test } from "@jest/globals";
import { readPages } from "./use-pages.ts";

/** A list of `total` rows, ten a page. */
const list = (total: number) => {
  const offsets: number[] = [];
  const readPage = (offset: number) => {
    offsets.push(offset);
    const rows = Array.from({ length: Math.max(0, Math.min(10, total - offset)) }, (_, i) => ({ id: `${offset + i}` }));
    return Promise.resolve({ rows, total, hasMore: offset + rows.length < total });
  };
  return { offsets, readPage };
};

test("as many pages are read as were asked for, up to the end", async () => {
  const { offsets, readPage } = list(25);
  const two = await readPages(2, readPage);
  expect([two.rows.length, two.total, two.hasMore]).toEqual([20, 25, true]);
  const all = await readPages(5, readPage);
  expect([all.rows.length, all.rows.at(-1), all.hasMore]).toEqual([25, { id: "24" }, false]);
  expect(offsets).toEqual([0, 10, 0, 10, 20]);
});

test("a row that moves to the next page meanwhile is there once", async () => {
  const pages = [
    ["a", "b"],
    ["b", "c"],
  ].map((ids) => ids.map((id) => ({ id })));
  const read = await readPages(2, (offset) =>
    Promise.resolve({ rows: pages[offset / 2]!, total: 4, hasMore: offset === 0 }),
  );
  expect(read.rows).toEqual([{ id: "a" }, { id: "b" }, { id: "c" }]);
});

test("a page that is empty, because rows went meanwhile, is the last", async () => {
  const read = await readPages(3, () => Promise.resolve({ rows: [], total: 4, hasMore: true }));
  expect(read).toEqual({ rows: [], total: 4, hasMore: false });
});
