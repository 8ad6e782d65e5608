import { expect, test } from "@jest/globals";
import { outcomeOf, refreshSeconds } from "./watch-view.ts";

test.each([
  [401, "has ended"],
  [403, "was revoked"],
  [404, "no longer exist"],
])("after %i there is nothing to wait for: it %s", (status, words) => {
  const { text, isOver, waitSeconds } = outcomeOf(status, null, 0);
  expect(text).toContain(words);
  expect([isOver, waitSeconds]).toEqual([true, undefined]);
});

test.each([[400], [413]])("%i stays what it is, but may change with the session", (status) => {
  expect(outcomeOf(status, null, 0)).toMatchObject({ isOver: false, waitSeconds: undefined });
});

test.each([
  [429, "7", 0, 7],
  [429, "1.2", 3, 2],
  [429, null, 0, 5],
  [429, "soon", 0, 5],
  [503, "1", 4, 1],
  [503, "0", 0, 5],
  [500, null, 1, 10],
  [undefined, null, 2, 20],
  [undefined, null, 9, 60],
])(
  "after status %p with Retry-After %p and %i failures the next attempt is in %i s",
  (status, header, failures, wait) => {
    expect(outcomeOf(status, header, failures)).toMatchObject({ isOver: false, waitSeconds: wait });
  },
);

test("running runs are polled more often", () => {
  const [running, ended] = [[{ status: "finished" }, { status: "running" }], [{ status: "finished" }]];
  expect(refreshSeconds(running)).toBeLessThan(refreshSeconds(ended));
});
