import { artifactsConfig } from "@tidemark/artifacts/config";
import type { ConfigGroup } from "@tidemark/host/config";
import { controlConfig } from "@tidemark/control/config";
import { gatewayConfig } from "@tidemark/gateway/config";
import type { ModuleDefinition } from "@tidemark/host";
import { importsExportConfig } from "@tidemark/imports-export/config";
import { ingestConfig, ingestReadConfig } from "@tidemark/ingest/config";
import { reportsConfig } from "@tidemark/reports/config";
import { runsConfig } from "@tidemark/runs/config";
import { tracesConfig } from "@tidemark/traces/config";
import { usageConfig } from "@tidemark/usage/config";

/** The facts of a module that a process knows before it loads the module's code. */
export type ListedModule = {
  readonly name: string;
  readonly config: ConfigGroup;
  readonly hasDatabase: boolean;
  readonly load: () => Promise<ModuleDefinition>;
};

/**
 * Every module of the product, peers before those that need them. A process loads only the modules that it runs: all of them together take twice the time and
 * the memory of a single one.
 */
export const moduleList: readonly ListedModule[] = [
  {
    name: "usage",
    config: usageConfig,
    hasDatabase: true,
    load: async () => (await import("@tidemark/usage")).usageModule,
  },
  {
    name: "runs",
    config: runsConfig,
    hasDatabase: true,
    load: async () => (await import("@tidemark/runs")).runsModule,
  },
  {
    name: "control",
    config: controlConfig,
    hasDatabase: true,
    load: async () => (await import("@tidemark/control")).controlModule,
  },
  {
    name: "ingest",
    config: ingestConfig,
    hasDatabase: true,
    load: async () => (await import("@tidemark/ingest")).ingestModule,
  },
  {
    name: "ingest-read",
    config: ingestReadConfig,
    hasDatabase: true,
    load: async () => (await import("@tidemark/ingest")).ingestReadModule,
  },
  {
    name: "artifacts",
    config: artifactsConfig,
    hasDatabase: true,
    load: async () => (await import("@tidemark/artifacts")).artifactsModule,
  },
  {
    name: "traces",
    config: tracesConfig,
    hasDatabase: true,
    load: async () => (await import("@tidemark/traces")).tracesModule,
  },
  {
    name: "reports",
    config: reportsConfig,
    hasDatabase: true,
    load: async () => (await import("@tidemark/reports")).reportsModule,
  },
  {
    name: "imports-export",
    config: importsExportConfig,
    hasDatabase: true,
    load: async () => (await import("@tidemark/imports-export")).importsExportModule,
  },
  {
    name: "gateway",
    config: gatewayConfig,
    hasDatabase: false,
    load: async () => (await import("@tidemark/gateway")).gatewayModule,
  },
];

/**
 * Loads the modules of a target: `all`, or names separated by commas.
 * @throws Error that lists the existing names
 */
export async function loadModules(target: string): Promise<readonly ModuleDefinition[]> {
  if (target === "all") return Promise.all(moduleList.map(({ load }) => load()));
  return Promise.all(
    target.split(",").map((name) => {
      const found = moduleList.find((module) => module.name === name.trim());
      if (found === undefined) {
        throw new Error(`there is no module ${name}; there are ${moduleList.map((module) => module.name).join(", ")}`);
      }
      return found.load();
    }),
  );
}
