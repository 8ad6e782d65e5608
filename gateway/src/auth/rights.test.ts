import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { AppError } from "@tidemark/errors";
import { IdentitySchema } from "@tidemark/proto/common/v1/common";
import { createRightsWatch, requireSameRows } from "./rights.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const one = create(IdentitySchema, { orgId: "a", projectId: "p" });

test.each(["unauthenticated", "forbidden"] as const)(
  "rights that end with %s are noticed within two seconds, once",
  (reason) => {
    const watch = createRightsWatch();
    let refused = false;
    const ended: unknown[] = [];
    const refusal = new AppError(reason, "over");
    watch.begin(
      () => {
        if (refused) throw refusal;
        return one;
      },
      (error) => ended.push(error),
    );
    jest.advanceTimersByTime(10_000);
    expect(ended).toEqual([]);
    refused = true;
    jest.advanceTimersByTime(2000);
    expect(ended).toEqual([refusal]);
    jest.advanceTimersByTime(10_000);
    expect(ended).toHaveLength(1);
    watch.close();
  },
);

test("a look-up that needs a request may take longer, and one that fails is repeated", async () => {
  const watch = createRightsWatch();
  const answers = [new AppError("service_unavailable", "away"), new AppError("unauthenticated", "revoked")];
  const ended: unknown[] = [];
  watch.begin(
    () => Promise.reject(answers[0]!),
    (error) => ended.push(error.reason),
  );
  await jest.advanceTimersByTimeAsync(6000);
  expect(ended).toEqual([]);
  answers.shift();
  await jest.advanceTimersByTimeAsync(2000);
  expect(ended).toEqual(["unauthenticated"]);
  watch.close();
});

test("nothing is asked after the end", async () => {
  const watch = createRightsWatch();
  let asked = 0;
  const end = watch.begin(
    () => {
      asked += 1;
      return one;
    },
    () => undefined,
  );
  await jest.advanceTimersByTimeAsync(2000);
  end();
  await jest.advanceTimersByTimeAsync(4000);
  expect(asked).toBe(1);
  watch.close();
});

test("a credential that opens another organization or project now is refused", () => {
  expect(requireSameRows(one, one)).toBe(one);
  for (const other of [
    { orgId: "b", projectId: "p" },
    { orgId: "a", projectId: "" },
  ])
    expect(() => requireSameRows(create(IdentitySchema, other), one)).toThrow(
      expect.objectContaining({ reason: "forbidden" }),
    );
});
