import { startHost } from "@tidemark/host";
import { allModules } from "./modules.ts";
import { runLocal } from "./run-local.ts";
import { knownNames } from "./settings.ts";
import { startLocally } from "./start-locally.ts";

// `npm start`: everything in this one process over an embedded PostgreSQL.
await runLocal((line) =>
  startLocally(line, process.env, new Map([["all", allModules]]), async ({ folder, settingsOf, onStop }) => {
    const host = await startHost({
      name: "tidemark",
      modules: allModules,
      alsoKnown: knownNames,
      environment: { ...settingsOf("all"), TIDEMARK_BLOB_DIRECTORY: folder("artifacts") },
    });
    onStop(() => host.stop());
    return {
      controlUrl: `http://127.0.0.1:${host.internalPort}`,
      describe: (postgres) =>
        `One process over ${postgres}; Prometheus metrics on http://127.0.0.1:${host.metricsPort}/metrics.`,
    };
  }),
);
