import { spawn } from "node:child_process";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { requirePython } from "@tidemark/testkit";
import fc from "fast-check";
import { type Browser, signIn } from "../stack/people.ts";
import { describeWith } from "../stack/describe-with.ts";
import type { Stack } from "../stack/attach.ts";
import { sharedStack } from "../stack/shared-stacks.ts";

// The checksum of an exported view is for programs that are not ours.

const environment = await requirePython({
  requirements: join(import.meta.dirname, "openapi-requirements.txt"),
  leftOut: "whether other languages verify exported views",
});

// Keys whose order differs by UTF-16 units and by code points, numbers with many notations, and texts with every kind of escape.
const key = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 4 }),
  fc.constantFrom("\uffff", "\u{10000}", "a", "Z", "é"),
);
const allowed = key.filter((text) => !["__proto__", "prototype", "constructor"].includes(text));
const number = fc.oneof(
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.integer(),
  fc.constantFrom(1e21, 1e-7, 0.1),
);
const { payload } = fc.letrec<{ value: unknown; payload: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    number,
    fc.string({ unit: "grapheme" }),
    fc.constantFrom(null, true, '\u0000\u001f\u007f\u2028"\\/'),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("payload"),
  ),
  payload: fc.dictionary(allowed, tie("value"), { maxKeys: 6 }),
}));

function verify(python: string, files: readonly string[]): Promise<boolean[]> {
  const child = spawn(python, [join(import.meta.dirname, "verify_views.py")], { stdio: ["pipe", "pipe", "inherit"] });
  const answer = new Promise<boolean[]>((resolve, reject) => {
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.on("error", reject).on("close", (code) => {
      if (code === 0) resolve(JSON.parse(output) as boolean[]);
      else reject(new Error(`Python ended with ${code}`));
    });
  });
  child.stdin.end(JSON.stringify(files));
  return answer;
}

describeWith(environment)("exported views", () => {
  let stack: Stack;
  let browser: Browser;
  beforeAll(async () => {
    stack = await sharedStack("embedded", {});
    ({ browser } = await signIn(stack));
  });

  test("are verified by Python, and imported again as they are", async () => {
    const files: string[] = [];
    for (const sent of [...fc.sample(payload, 150), { seed: 1 }]) {
      const made = await browser.post("/api/workspace-views", { name: "n", payload: sent });
      expect(made.status).toBe(200);
      const file = await browser.get(`/api/workspace-views/${made.json.workspace_view.id}/export`);
      files.push(file.text);
      const rawBody = `{"dry_run":true,"exported_view":${file.text}}`;
      const tried = await browser.call("POST", "/api/workspace-views/import", {
        rawBody,
        headers: { "content-type": "application/json" },
      });
      expect([tried.status, tried.json.warnings]).toEqual([200, []]);
    }
    expect(await verify(environment!.python, files)).toEqual(files.map(() => true));
    const changed = files.at(-1)!.replace('"seed":1', '"seed":2');
    expect(await verify(environment!.python, [changed])).toEqual([false]);
  });
});
