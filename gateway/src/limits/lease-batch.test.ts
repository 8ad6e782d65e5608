import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { LeaseTokensResponseSchema } from "@tidemark/proto/usage/v1/usage";
import { createLeaseBatch } from "./lease-batch.ts";

const wish = (bucket: string) => ({ orgId: "o", bucket, rate: { perSecond: 1, burst: 2 }, wanted: 1 });

test("leases of one moment share a call, and each gets its own answer", async () => {
  const sizes: number[] = [];
  const lease = createLeaseBatch((leases) => {
    sizes.push(leases.length);
    return Promise.resolve(
      create(LeaseTokensResponseSchema, {
        month: "2026-01",
        leased: leases.map(({ bucket }) => ({ tokens: Number(bucket), left: 0, monthRequests: 5n })),
      }),
    );
  });
  const answers = await Promise.all(["1", "2", "3"].map((bucket) => lease(wish(bucket))));
  expect(answers.map(({ tokens, month }) => [tokens, month])).toEqual([1, 2, 3].map((n) => [n, "2026-01"]));
  await lease(wish("4"));
  await Promise.all(Array.from({ length: 1001 }, (_, i) => lease(wish(String(i)))));
  expect(sizes).toEqual([3, 1, 1000, 1]);
});

test("all leases of a call that fails fail", async () => {
  const lease = createLeaseBatch(() => Promise.reject(new Error("gone")));
  const outcomes = await Promise.allSettled([lease(wish("a")), lease(wish("b"))]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});
