import { describe, expect, test } from "@jest/globals";
import { faultsOf } from "./fake-workspace.fixture.ts";

const refused: readonly (readonly [sentence: string, path: string, text: string, fault: string])[] = [
  [
    "rules that import SQL",
    "services/runs/src/projects/names.rules.ts",
    `import "./find-project.sql.ts"`,
    "rules may not import sql (services/runs/src/projects/find-project.sql.ts)",
  ],
  [
    "rules that import a handler",
    "services/runs/src/projects/names.rules.ts",
    `import "./create-project.ts"`,
    "rules may not import handlers",
  ],
  [
    "rules that import settings, even a type",
    "services/runs/src/projects/names.rules.ts",
    `import type { Settings } from "../config.ts"`,
    "rules may not import wiring",
  ],
  [
    "rules that import PostgreSQL, even a type",
    "services/runs/src/projects/names.rules.ts",
    `import type { Db } from "@t/pg"`,
    "rules may not import @t/pg",
  ],
  [
    "rules that load messages",
    "services/runs/src/projects/names.rules.ts",
    `import { RunSchema } from "@t/proto/runs/v1/runs"`,
    "rules may not import @t/proto (other than by type",
  ],
  [
    "a type import that still loads",
    "services/runs/src/names.rules.ts",
    `import { type Run } from "@t/proto/runs/v1/runs"`,
    "rules may not import @t/proto",
  ],
  [
    "SQL that imports a handler",
    "services/runs/src/projects/find-project.sql.ts",
    `export * from "./create-project.ts"`,
    "sql may not import handlers",
  ],
  [
    "SQL that imports messages",
    "services/runs/src/projects/find-project.sql.ts",
    `import type { Run } from "@t/proto/runs/v1/runs"`,
    "sql may not import @t/proto",
  ],
  [
    "SQL that imports the types of its service's handlers",
    "services/runs/src/projects/find-project.sql.ts",
    `import type { Deps } from "../handlers.ts"`,
    "sql may not import wiring",
  ],
  [
    "a handler that imports the module",
    "services/runs/src/projects/create-project.ts",
    `import "../module.ts"`,
    "handlers may not import wiring",
  ],
  [
    "a handler that loads the map of handlers",
    "services/runs/src/projects/create-project.ts",
    `import { runsHandlers } from "../handlers.ts"`,
    "handlers may not import wiring",
  ],
  [
    "a handler that imports the host",
    "services/runs/src/projects/create-project.ts",
    `await import("@t/host")`,
    "handlers may not import @t/host",
  ],
  [
    "a consumer that imports the bus",
    "services/runs/src/stops/announce-stop.ts",
    `import { publish } from "@t/bus"`,
    "handlers may not import @t/bus",
  ],
  [
    "a file right under src that imports RPC",
    "services/runs/src/cache.ts",
    `import { client } from "@t/rpc"`,
    "handlers may not import @t/rpc",
  ],
  [
    "wiring of a noun: only what lies right under src wires",
    "services/runs/src/projects/module.ts",
    `import "@t/host"`,
    "handlers may not import @t/host",
  ],
];

const accepted: readonly (readonly [sentence: string, path: string, text: string])[] = [
  [
    "rules that know rules, packages, errors and types of messages",
    "services/runs/src/projects/names.rules.ts",
    `import "./order.rules.ts"; import "../runs/state.rules.ts"; import "@t/pure"; import "@t/errors"; import type { Run } from "@t/proto/runs/v1/runs"`,
  ],
  [
    "SQL that knows rules, other SQL and PostgreSQL",
    "services/runs/src/projects/find-project.sql.ts",
    `import "./names.rules.ts"; import "../runs/run.sql.ts"; import "@t/pure"; import "@t/pg"; import "@t/errors"`,
  ],
  [
    "a handler that knows both, other handlers, and types of what it is given",
    "services/runs/src/projects/create-project.ts",
    `import "./names.rules.ts"; import "./find-project.sql.ts"; import "../runs/step.ts"; import { Run } from "@t/proto/runs/v1/runs"; import type { Call } from "@t/rpc"; import type { Bus } from "@t/bus"`,
  ],
  [
    "a handler that knows the types of the map of handlers and of the settings",
    "services/runs/src/projects/create-project.ts",
    `import type { Deps } from "../handlers.ts"; import type { Settings } from "../config.ts"`,
  ],
  [
    "a module that wires",
    "services/runs/src/module.ts",
    `import "./projects/create-project.ts"; import "./handlers.ts"; import "./config.ts"; import "@t/host"; import "@t/rpc"; import "@t/bus"; import "@t/config"`,
  ],
  ["a second module", "services/runs/src/read-module.ts", `import "@t/host"; import "./config.ts"`],
  ["a configuration", "services/runs/src/config.ts", `import { field } from "@t/config"`],
  [
    "a map of handlers",
    "services/runs/src/handlers.ts",
    `import { createProject } from "./projects/create-project.ts"; import { toRefusal } from "@t/rpc"`,
  ],
  [
    "a test next to a rule",
    "services/runs/src/projects/names.rules.test.ts",
    `import "./find-project.sql.ts"; import "@t/pg"`,
  ],
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
