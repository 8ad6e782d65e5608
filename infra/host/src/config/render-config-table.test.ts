import { expect, test } from "@jest/globals";
import { bool, defineConfig, int, list, renderConfigTable, secret, text } from "./index.ts";

test("the table shows each variable once, with its readers, and no default of a secret", () => {
  const token = secret({ env: "TIDEMARK_TOKEN", help: "A token.", default: "built-in-secret" });
  const table = renderConfigTable({
    runs: defineConfig({
      token,
      port: int({ env: "TIDEMARK_PORT", help: "Port to\nlisten on.", min: 0, max: 9, default: 7 }),
      name: text({ env: "TIDEMARK_NAME", help: "a | b" }),
    }),
    ingest: defineConfig({
      token,
      hosts: list({ env: "TIDEMARK_HOSTS", help: "Hosts.", default: ["a", "b"] }),
      fast: bool({ env: "TIDEMARK_FAST", help: "Fast.", optional: true }),
    }),
  });
  expect(table).toBe(
    [
      "| Variable | Type | Default | Accepted | Read by | Meaning |",
      "| --- | --- | --- | --- | --- | --- |",
      "| `TIDEMARK_TOKEN` | secret | built in | at least 1 characters | runs, ingest | A token. |",
      "| `TIDEMARK_PORT` | int | `7` | 0 to 9 | runs | Port to listen on. |",
      "| `TIDEMARK_NAME` | text | required | at most 4096 characters | runs | a \\| b |",
      "| `TIDEMARK_HOSTS` | list | `a,b` | at most 100 items | ingest | Hosts. |",
      "| `TIDEMARK_FAST` | bool | not set | 1, true, on, yes or 0, false, off, no | ingest | Fast. |",
      "",
    ].join("\n"),
  );
});
