import { describe, expect, test } from "@jest/globals";
import { faultsOf } from "./fake-workspace.fixture.ts";

const refused: readonly (readonly [sentence: string, path: string, text: string, fault: string])[] = [
  ["a path into another package", "infra/rpc/src/a.ts", `import "../../errors/src/index.ts"`, "reaches into @t/errors"],
  [
    "a path into a package below one's own folder",
    "scripts/a.ts",
    `import "../gateway/src/a.ts"`,
    "reaches into @t/gateway",
  ],
  [
    "a path from outside the launcher into the tool cache",
    "scripts/a.ts",
    `import "../infra/local/src/toolcache/index.mjs"`,
    "reaches into @t/local",
  ],
  [
    "a path from the launcher into anything else",
    "scripts/launch.mjs",
    `import "../infra/pg/src/index.ts"`,
    "reaches into @t/pg",
  ],
  [
    "a file of a package that is not exported",
    "infra/pg/src/a.ts",
    `import "@t/errors/src/app-error.ts"`,
    "@t/errors does not export ./src/app-error.ts",
  ],
  ["the root of a package that exports none", "infra/rpc/src/a.ts", `import "@t/proto"`, "@t/proto does not export ."],
  [
    "a package that is not declared",
    "infra/bus/src/a.ts",
    `import "@t/errors"`,
    "@t/errors is not among the dependencies of @t/bus",
  ],
  [
    "a package that only tests may use",
    "infra/pg/src/a.ts",
    `import "@t/testkit"`,
    "@t/testkit is not among the dependencies of @t/pg",
  ],
  ["a proto package that imports", "proto/src/a.ts", `import "@t/errors"`, "proto may not import infra (@t/errors)"],
  [
    "a package that imports infra",
    "packages/pure/src/a.ts",
    `import "@t/errors"`,
    "package may not import infra (@t/errors)",
  ],
  [
    "infra that imports a service",
    "infra/errors/src/a.ts",
    `import "@t/runs"`,
    "infra may not import service (@t/runs)",
  ],
  [
    "a service that imports a service",
    "services/runs/src/module.ts",
    `import "@t/ingest"`,
    "service may not import service (@t/ingest)",
  ],
  [
    "a service's test that imports a service",
    "services/runs/src/a.test.ts",
    `import "@t/ingest"`,
    "service may not import service (@t/ingest)",
  ],
  [
    "a type of another service",
    "services/runs/src/module.ts",
    `import type { A } from "@t/ingest"`,
    "service may not import service (@t/ingest)",
  ],
  [
    "a gateway that imports a service",
    "gateway/src/a.ts",
    `import "@t/runs"`,
    "gateway may not import service (@t/runs)",
  ],
  [
    "a program that imports the tests",
    "services/all/src/main.ts",
    `import "@t/tests"`,
    "all may not import test (@t/tests)",
  ],
  [
    "an example that imports the project",
    "examples/typescript/src/a.ts",
    `import "@t/proto/runs/v1/runs"`,
    "example may not import proto (@t/proto)",
  ],
  ["the test kit outside tests", "services/all/src/main.ts", `import "@t/testkit"`, "@t/testkit is for tests"],
  [
    "a driver away from its owner",
    "services/runs/src/projects/projects.sql.ts",
    `import pg from "pg"`,
    "pg belongs to infra/pg, infra/local",
  ],
  [
    "NATS away from the bus",
    "infra/host/src/a.ts",
    `import "@nats-io/jetstream"`,
    "@nats-io/jetstream belongs to infra/bus",
  ],
  ["Fastify in infra", "infra/host/src/a.ts", `import "fastify"`, "fastify belongs to gateway"],
  ["I/O in a package", "packages/pure/src/a.ts", `import "node:fs"`, "node:fs does more than compute"],
  [
    "I/O in rules of a service, prefix or not",
    "services/runs/src/projects/names.rules.ts",
    `import "fs/promises"`,
    "node:fs/promises does more than compute",
  ],
  ["HTTP in a service", "services/runs/src/module.ts", `import "node:http"`, "a service does not speak HTTP (http)"],
  [
    "an HTTP client in a service",
    "services/runs/src/projects/projects.ts",
    `import "undici"`,
    "a service does not speak HTTP (undici)",
  ],
];

const accepted: readonly (readonly [sentence: string, path: string, text: string])[] = [
  ["a path inside a package", "infra/rpc/src/a.ts", `import "./b.ts"; import "../c.ts"`],
  [
    "a path from the launcher into the tool cache",
    "scripts/launch/a.mjs",
    `import "../../infra/local/src/toolcache/index.mjs"`,
  ],
  [
    "messages through a pattern of exports",
    "infra/rpc/src/a.ts",
    `import { Run } from "@t/proto/runs/v1/runs"; import "@t/proto/grpc/health/v1/health"`,
  ],
  ["a package that imports a package", "packages/pure/src/a.ts", `import "@t/purer"; import "node:zlib"`],
  ["what tests share", "infra/pg/src/server.fixture.ts", `import "@t/testkit"; import "minio"`],
  ["the contract suite of a port", "infra/pg/src/port.contract.ts", `import "@t/testkit"; import "minio"`],
  ["infra that imports infra", "infra/pg/src/a.ts", `import "@t/errors"; import "pg"`],
  ["a test that uses the test kit and I/O", "infra/pg/src/a.test.ts", `import "@t/testkit"; import "node:fs"`],
  ["a program that imports all", "services/all/src/main.ts", `import "@t/runs"; import "@t/gateway"; import "@t/host"`],
  ["tests that import the program", "test/e2e/a.test.ts", `import "@t/all"; import "undici"; import "@grpc/grpc-js"`],
  ["a package that imports itself by name", "infra/pg/src/a.ts", `import "@t/pg"`],
];

describe("an import is refused:", () => {
  test.each(refused)("%s", (_sentence, path, text, fault) => {
    expect(faultsOf({ [path]: text }).join("\n")).toContain(`${path}:1 ${fault}`);
  });
});

describe("an import is accepted:", () => {
  test.each(accepted)("%s", (_sentence, path, text) => {
    expect(faultsOf({ [path]: text })).toEqual([]);
  });
});

test("packages that import each other in a circle are named with the circle", () => {
  const tree = { "infra/config/src/a.ts": `import "@t/telemetry"`, "infra/telemetry/src/a.ts": `\nimport "@t/config"` };
  expect(faultsOf(tree)).toEqual([
    "infra/telemetry/src/a.ts:2 packages import each other in a circle: @t/config -> @t/telemetry -> @t/config",
  ]);
});

test("a circle through a test is not a circle of packages", () => {
  const tree = { "infra/pg/src/a.test.ts": `import "@t/testkit"`, "infra/testkit/src/a.ts": `import "@t/pg"` };
  expect(faultsOf(tree)).toEqual([]);
});

test("files that import each other in a circle are named with the circle, also where they import types alone", () => {
  const tree = {
    "infra/pg/src/a.ts": `import type { B } from "./b.ts"`,
    "infra/pg/src/b.ts": `import { c } from "./c.ts"`,
    "infra/pg/src/c.ts": `\nimport type { A } from "./a.ts"`,
  };
  const circle = "infra/pg/src/a.ts -> infra/pg/src/b.ts -> infra/pg/src/c.ts -> infra/pg/src/a.ts";
  expect(faultsOf(tree)).toEqual([`infra/pg/src/c.ts:2 files import each other in a circle: ${circle}`]);
});
