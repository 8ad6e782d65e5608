import { statSync } from "node:fs";

type Test = { readonly path: string };

/** Files that take long for their size, the longest first: one that began last would keep the run waiting while other threads rest. */
const first = [
  "/test/plans/",
  "/test/interop/openapi",
  "/test/start/",
  "/test/browser/",
  "/test/failure/",
  "/test/e2e/",
];

const rankOf = ({ path }: Test): number => {
  const rank = first.findIndex((part) => path.includes(part));
  return rank === -1 ? first.length : rank;
};

/** Sets the order in which Jest starts test files: the ones above first, then larger files. */
export default class Sequencer {
  sort(tests: readonly Test[]): Test[] {
    return tests.toSorted((a, b) => rankOf(a) - rankOf(b) || statSync(b.path).size - statSync(a.path).size);
  }

  allFailedTests(tests: readonly Test[]): readonly Test[] {
    return tests;
  }

  cacheResults(): void {}
}
