import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { missingFileVariable } from "./suite/run-suite.ts";

const root = dirname(import.meta.dirname);

/** Text that no committed file contains: the project refers only to itself, and to nothing that its readers cannot open. */
const unspoken: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["instructions for agents", /instructions for agents/i],
  [
    "a registry host",
    /registry\.npmjs\.org|proxy\.golang\.org|(files\.|\b)pythonhosted\.org|\bpypi\.org|\bcrates\.io/i,
  ],
  ["a folder of the machine it was written on", /(?<![\w.])\/(work|root)\//],
  ["an issue by its number", /\bissues? #\d/i],
  ["a ruling by its number", /\b(decision|ruling)s? \d/i],
  ["a file that is not here", /\bcontract-[abc]\b/i],
];

const exempt = new Set(["pnpm-lock.yaml", `scripts/${basename(import.meta.filename)}`]);

function faultsIn(path: string, text: string): readonly string[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      unspoken.filter(([, pattern]) => pattern.test(line)).map(([what]) => `${path}:${index + 1} names ${what}`),
    );
}

/** Tracked files, and those that would be if everything were added; undefined if git cannot list them. */
function repositoryFiles(): readonly string[] | undefined {
  try {
    const args = [
      "-c",
      "safe.directory=*",
      "ls-files",
      "-z",
      "--cached",
      "--others",
      "--exclude-standard",
      "--deduplicate",
    ];
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
      .split("\0")
      .filter((path) => path !== "" && !exempt.has(path));
  } catch {
    return undefined;
  }
}

/** The text of a file; undefined if it is binary, or deleted but still tracked. */
function readText(path: string): string | undefined {
  try {
    const text = readFileSync(join(root, path), "utf8");
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

test.each([
  ["Instructions for Agents"],
  ["https://registry.npmjs.org/jest"],
  ["GOPROXY=https://proxy.golang.org"],
  ["https://pypi.org/simple"],
  ["https://static.crates.io"],
  ["cd /work/main"],
  ["'/root/.cache'"],
  ["see issue #3"],
  ["as decision 41 says"],
  ["(ruling 7)"],
  ["contract-b, Metrics"],
])("%j is not said", (line) => {
  expect(faultsIn("a.md", `fine\n${line}`)).toEqual([expect.stringMatching(/^a\.md:2 names /)]);
});

test.each([
  ["jest#14605"],
  ["https://github.com/grpc/grpc-node/issues/3068"],
  ["the API specification, Limits"],
  ["a design decision of 2026"],
  ["./work/queue.ts"],
  ["network/work/"],
  ["services/root/"],
  ["a contract-test"],
])("%j may be said", (line) => {
  expect(faultsIn("a.md", line)).toEqual([]);
});

const files = repositoryFiles();
if (files === undefined && process.env[missingFileVariable] !== undefined) {
  appendFileSync(process.env[missingFileVariable], "git or its repository: what the committed files say\n");
}

(files === undefined ? describe.skip : describe)("the committed files", () => {
  test("name nothing that the project does not speak of", () => {
    const texts = (files ?? []).map((path) => [path, readText(path)] as const);
    expect(texts.length).toBeGreaterThan(0);
    expect(texts.flatMap(([path, text]) => (text === undefined ? [] : faultsIn(path, text)))).toEqual([]);
  });
});
