import { expect, test } from "@jest/globals";
import { currentDeadlineMs, underDeadline } from "../deadline/deadline.ts";
import { createGroupCommit } from "./group-commit.ts";

type Item = { readonly orgId: string; readonly line: string; readonly bytes: number };
const item = (line: string): Item => ({ orgId: "a", line, bytes: 1 });
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A group commit whose groups are stored when the test says so. */
function setUp(groupsMax = 2) {
  const groups: (readonly string[])[] = [];
  const deadlines: unknown[] = [];
  const stored: (() => void)[] = [];
  const answered: string[][] = [];
  const { add } = createGroupCommit<Item>({
    lineOf: ({ line }) => line,
    itemsMax: 10,
    bytesMax: 1000,
    linesMax: 10,
    groupsMax,
    async store(group) {
      const names = group.map(({ line }) => line);
      groups.push(names);
      deadlines.push(currentDeadlineMs());
      await new Promise<void>((resolve) => stored.push(resolve));
      return () => answered.push(names);
    },
  });
  return { add, groups, deadlines, stored, answered };
}

test("items that arrive in a tick are one group, and those that arrive while it is stored are the next one", async () => {
  const { add, groups, stored, answered } = setUp(1);
  add(item("1"));
  add(item("2"));
  expect(groups).toEqual([]);
  await settled();
  expect(groups).toEqual([["1", "2"]]);
  add(item("3"));
  await settled();
  add(item("4"));
  await settled();
  expect(groups).toHaveLength(1);
  stored[0]!();
  await settled();
  // The next group was on its way before the first one was answered.
  expect([groups, answered]).toEqual([
    [
      ["1", "2"],
      ["3", "4"],
    ],
    [["1", "2"]],
  ]);
  stored[1]!();
  await settled();
  expect(answered).toHaveLength(2);
});

test("several groups are stored simultaneously, but never two with items of a line", async () => {
  const { add, groups, stored } = setUp(2);
  for (const line of ["1", "2", "1"]) {
    add(item(line));
    await settled();
  }
  expect(groups).toEqual([["1"], ["2"]]);
  stored[1]!();
  await settled();
  expect(groups).toHaveLength(2);
  stored[0]!();
  await settled();
  expect(groups[2]).toEqual(["1"]);
  stored[2]!();
});

test("a group has no deadline, for any first request", async () => {
  const { add, deadlines, stored } = setUp();
  await underDeadline(Date.now() + 1000, () => Promise.resolve(add(item("1"))));
  await settled();
  expect(deadlines).toEqual([undefined]);
  stored[0]!();
});
