import { expect, test } from "@jest/globals";
import { runCaptured } from "./run-captured.mjs";

test("keeps both outputs, the code, and gives the input", async () => {
  const result = await runCaptured("/bin/sh", ["-c", "read line; echo out $line; echo err >&2; exit 3"], {
    input: "in\n",
  });
  expect(result).toMatchObject({ code: 3, stdout: "out in\n" });
  expect(result.output).toContain("err\n");
});

test("a program that is not there is a code and a reason, not an exception", async () => {
  const result = await runCaptured("/nowhere/program", []);
  expect(result.code).toBe(-1);
  expect(result.output).toContain("ENOENT");
});

test("a program that is aborted is ended, and the reason is returned", async () => {
  const controller = new AbortController();
  const running = runCaptured("/bin/sh", ["-c", "exec sleep 60"], { signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
});
