import { ConfigError } from "./config/parse-config.ts";
import { startHost, type Host } from "./host.ts";
import type { ModuleDefinition } from "./module.ts";
import { version } from "./host-config.ts";

/**
 * Runs modules as this process: settings from the environment, log lines on standard output. Ends
 * on SIGTERM and SIGINT after draining; a second signal ends it immediately. Exit codes: 0 after a
 * clean stop, 78 for bad settings, 1 for everything else.
 */
export async function runProcess(options: {
  name: string;
  modules: readonly ModuleDefinition[];
  alsoKnown: readonly string[];
}): Promise<void> {
  const { name, modules } = options;
  let host: Host;
  try {
    host = await startHost({ ...options, environment: process.env });
  } catch (error) {
    process.stderr.write(`tidemark ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof ConfigError ? 78 : 1;
    return;
  }
  host.log.info("started", {
    version,
    modules: modules.map((module) => module.name),
    internalPort: host.internalPort,
    grpcPort: host.grpcPort,
    metricsPort: host.metricsPort,
  });
  let asked = false;
  const stop = (signal: NodeJS.Signals): void => {
    if (asked) process.exit(1);
    asked = true;
    host.log.info("stopping", { signal });
    void host.stop().then(() => process.exit(0));
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}
