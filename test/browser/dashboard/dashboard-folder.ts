import { homedir } from "node:os";
import { cacheDirectory } from "@tidemark/local";
import { obtainBundle } from "@tidemark/web/build";

/** Returns the folder with the dashboard, as a local start makes it. */
export function dashboardFolder(): Promise<string> {
  const { env, platform } = process;
  return obtainBundle(cacheDirectory({ env, platform, home: homedir(), cwd: process.cwd() }));
}
