import { artifactsModule } from "@tidemark/artifacts";
import { controlModule } from "@tidemark/control";
import { gatewayModule } from "@tidemark/gateway";
import type { ModuleDefinition } from "@tidemark/host";
import { importsExportModule } from "@tidemark/imports-export";
import { ingestModule, ingestReadModule } from "@tidemark/ingest";
import { reportsModule } from "@tidemark/reports";
import { runsModule } from "@tidemark/runs";
import { tracesModule } from "@tidemark/traces";
import { usageModule } from "@tidemark/usage";

/** Every module of the product, peers before those that need them. */
export const allModules: readonly ModuleDefinition[] = [
  usageModule,
  runsModule,
  controlModule,
  ingestModule,
  ingestReadModule,
  artifactsModule,
  tracesModule,
  reportsModule,
  importsExportModule,
  gatewayModule,
];

/**
 * The modules of a target: `all`, or names separated by commas.
 * @throws Error that lists the existing names
 */
export function selectModules(target: string): readonly ModuleDefinition[] {
  if (target === "all") return allModules;
  return target.split(",").map((name) => {
    const found = allModules.find((module) => module.name === name.trim());
    if (found === undefined) {
      throw new Error(`there is no module ${name}; there are ${allModules.map((module) => module.name).join(", ")}`);
    }
    return found;
  });
}
