import { describe, expect, test } from "@jest/globals";
import { faultsOf } from "./testing/fake-workspace.ts";

const refused: readonly (readonly [sentence: string, path: string, text: string, fault: string])[] = [
  [
    "a domain that imports its store",
    "services/runs/src/domain/a.ts",
    `import "../store/b.ts"`,
    "domain may not import store",
  ],
  [
    "a domain that imports PostgreSQL, even a type",
    "services/runs/src/domain/a.ts",
    `import type { Db } from "@t/pg"`,
    "domain may not import @t/pg",
  ],
  [
    "a domain that loads messages",
    "services/runs/src/domain/a.ts",
    `import { RunSchema } from "@t/proto/runs/v1/runs"`,
    "domain may not import @t/proto (other than by type",
  ],
  [
    "a type import that still loads",
    "services/runs/src/domain/a.ts",
    `import { type Run } from "@t/proto/runs/v1/runs"`,
    "domain may not import @t/proto",
  ],
  [
    "a store that imports a handler",
    "services/runs/src/store/a.ts",
    `export * from "../handlers/b.ts"`,
    "store may not import handlers",
  ],
  [
    "a store that imports messages",
    "services/runs/src/store/a.ts",
    `import type { Run } from "@t/proto/runs/v1/runs"`,
    "store may not import @t/proto",
  ],
  [
    "a handler that imports the module",
    "services/runs/src/handlers/a.ts",
    `import "../module.ts"`,
    "handlers may not import wiring",
  ],
  [
    "a handler that imports the host",
    "services/runs/src/handlers/a.ts",
    `await import("@t/host")`,
    "handlers may not import @t/host",
  ],
  [
    "a consumer that imports the bus",
    "services/runs/src/consumers/a.ts",
    `import { publish } from "@t/bus"`,
    "handlers may not import @t/bus",
  ],
  [
    "a cache that imports RPC",
    "services/runs/src/cache.ts",
    `import { client } from "@t/rpc"`,
    "handlers may not import @t/rpc",
  ],
];

const accepted: readonly (readonly [sentence: string, path: string, text: string])[] = [
  [
    "a domain that knows itself, packages, errors and types of messages",
    "services/runs/src/domain/a.ts",
    `import "./b.ts"; import "@t/pure"; import "@t/errors"; import type { Run } from "@t/proto/runs/v1/runs"`,
  ],
  [
    "a store that knows domain and PostgreSQL",
    "services/runs/src/store/a.ts",
    `import "../domain/b.ts"; import "./c.ts"; import "@t/pg"; import "@t/errors"`,
  ],
  [
    "a handler that knows both and types of what it is given",
    "services/runs/src/handlers/a.ts",
    `import "../domain/b.ts"; import "../store/c.ts"; import { Run } from "@t/proto/runs/v1/runs"; import type { Call } from "@t/rpc"; import type { Bus } from "@t/bus"`,
  ],
  [
    "a module that wires",
    "services/runs/src/module.ts",
    `import "./handlers/a.ts"; import "@t/host"; import "@t/rpc"; import "@t/bus"; import "@t/config"`,
  ],
  ["a second module", "services/runs/src/read-module.ts", `import "@t/host"; import "./config.ts"`],
  ["a configuration", "services/runs/src/config.ts", `import { field } from "@t/config"`],
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
