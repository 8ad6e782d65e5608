import { runProcess } from "@tidemark/host";
import { loadModules } from "./module-list.ts";
import { knownNames } from "./settings.ts";

// One image, one argument: `main.ts --target=all`, or the modules that this process runs.
const argument = process.argv.find((text) => text.startsWith("--target="));
const target = argument?.slice("--target=".length) ?? "all";
await runProcess({
  name: target === "all" ? "tidemark" : target,
  modules: await loadModules(target),
  alsoKnown: knownNames,
});
