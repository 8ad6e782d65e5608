import { describe, expect, test } from "@jest/globals";
import { modesHere } from "../stack/modes.ts";
import { startStack } from "../stack/stack.ts";

describe.each(modesHere())("SIGTERM, %s", (mode) => {
  test("lets requests in flight finish and ends with code 0", async () => {
    const stack = await startStack(mode);
    const { api } = await stack.organization();
    const { id } = (await api.post("/runs", {})).json.run;
    let refused = 0;
    const results: number[] = [];
    const children = [...new Set(stack.children.values())];
    const load = Promise.all(
      Array.from({ length: 40 }, async (_, step) => {
        try {
          results.push((await api.post(`/runs/${id}/metrics`, { metrics: { a: step }, step })).status);
        } catch {
          refused += 1;
        }
      }),
    );
    const codes = await Promise.all(children.map((child) => child.end("SIGTERM")));
    await load;
    expect(codes).toEqual(children.map(() => 0));
    // A connection may be refused once the gateway has gone; every answer is a proper one.
    expect(results.every((status) => status === 200 || status === 503)).toBe(true);
    expect(results.length + refused).toBe(40);
    await stack.stop();
  });
});
