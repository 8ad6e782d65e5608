import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { underLease } from "./lease.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A lease of nine seconds whose renewals are recorded. */
function lease(answer: () => Promise<boolean> = () => Promise.resolve(true)) {
  const renewals: number[] = [];
  const renew = (seconds: number): Promise<boolean> => {
    renewals.push(seconds);
    return answer();
  };
  return { renewals, lease: { seconds: 9, renew } };
}
const never = (): boolean => false;

test("it is renewed three times in its time, and not after the work", async () => {
  const { renewals, lease: held } = lease();
  const result = await underLease(held, never, async (isOver) => {
    await jest.advanceTimersByTimeAsync(9000);
    return isOver();
  });
  expect([result, renewals]).toEqual([false, [9, 9, 9]]);
  await jest.advanceTimersByTimeAsync(9000);
  expect(renewals).toHaveLength(3);
});

test("a renewal that fails is tried again, and does not end the work", async () => {
  const { renewals, lease: held } = lease(() => Promise.reject(new Error("gone")));
  const isOver = await underLease(held, never, async (over) => {
    await jest.advanceTimersByTimeAsync(6000);
    return over();
  });
  expect([isOver, renewals]).toEqual([false, [9, 9]]);
});

test("work that has lost it is over, and gives nothing back", async () => {
  const { renewals, lease: held } = lease(() => Promise.resolve(false));
  const isOver = await underLease(held, never, async (over) => {
    await jest.advanceTimersByTimeAsync(3000);
    return over();
  });
  expect([isOver, renewals]).toEqual([true, [9]]);
});

test("work that is stopped gives it back", async () => {
  const { renewals, lease: held } = lease();
  expect(
    await underLease(
      held,
      () => true,
      (isOver) => Promise.resolve(isOver()),
    ),
  ).toBe(true);
  expect(renewals).toEqual([0]);
});

test.each([
  ["", () => Promise.resolve(true)],
  [", also if that fails", () => Promise.reject(new Error("gone too"))],
])("work that throws gives it back%s", async (_, answer) => {
  const { renewals, lease: held } = lease(answer);
  await expect(underLease(held, never, () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
  expect(renewals).toEqual([0]);
});
