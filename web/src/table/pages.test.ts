import { expect, test } from "@jest/globals";
import { createPages, PAGES_MAX } from "./pages.ts";

type Asked = { readonly offset: number; readonly signal: AbortSignal; readonly answer: () => void };

function pagesWith() {
  const asked: Asked[] = [];
  const pages = createPages<string>(
    (offset, limit, signal) =>
      new Promise((resolve) => {
        const rows = Array.from({ length: limit }, (_, i) => `row ${offset + i}`);
        asked.push({ offset, signal, answer: () => resolve({ rows, total: 100_000 }) });
      }),
    () => undefined,
  );
  const answer = async (): Promise<void> => {
    for (const one of asked) one.answer();
    await Promise.resolve();
    await Promise.resolve();
  };
  return { asked, pages, answer };
}

test("rows are loaded where they are seen, once", async () => {
  const { asked, pages, answer } = pagesWith();
  pages.show({ first: 90_000, end: 90_040 });
  pages.show({ first: 90_010, end: 90_050 });
  await answer();
  expect(asked.map(({ offset }) => offset)).toEqual([90_000]);
  expect(pages.row(90_007)).toBe("row 90007");
  expect(pages.row(89_999)).toBeUndefined();
  expect(pages.total()).toBe(100_000);
});

test("rows that were scrolled past are not waited for", () => {
  const { asked, pages } = pagesWith();
  pages.show({ first: 0, end: 40 });
  pages.show({ first: 5000, end: 5040 });
  expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
});

test("few pages are kept", async () => {
  const { pages, answer } = pagesWith();
  for (let page = 0; page <= PAGES_MAX; page += 1) {
    pages.show({ first: page * 100, end: page * 100 + 1 });
    await answer();
  }
  expect(pages.row(0)).toBeUndefined();
  expect(pages.row(100)).toBe("row 100");
});

test("rows stay until they are read again", async () => {
  const { asked, pages, answer } = pagesWith();
  pages.show({ first: 0, end: 10 });
  await answer();
  pages.refresh();
  expect(asked).toHaveLength(2);
  expect(pages.row(0)).toBe("row 0");
  pages.patch(
    (row) => row === "row 1",
    () => "changed",
  );
  expect(pages.row(1)).toBe("changed");
  await answer();
  expect(pages.row(1)).toBe("row 1");
});

test("a page that is there already is taken immediately, and read again when it is old", () => {
  const asked: number[] = [];
  const pages = createPages<string>(
    (offset) => {
      asked.push(offset);
      return asked.length === 1 ? { rows: ["row 0"], total: 101 } : new Promise(() => undefined);
    },
    () => undefined,
  );
  pages.show({ first: 0, end: 1 });
  expect([pages.row(0), pages.total(), asked]).toEqual(["row 0", 101, [0]]);
  pages.show({ first: 99, end: 101 });
  pages.refresh();
  expect(asked).toEqual([0, 100, 0, 100]);
  expect(pages.row(0)).toBe("row 0");
});
