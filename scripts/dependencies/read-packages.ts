import { packagesOf, type LicensedPackage, type PnpmLicenses } from "./licenses.rules.ts";
import { runPnpm } from "./run-pnpm.ts";

const LIMIT_MS = 120_000;

/** Reads the installed packages that production runs on. @throws Error with what pnpm said when it could not list them */
export async function readPackages(root: string): Promise<readonly LicensedPackage[]> {
  const { code, stdout, output } = await runPnpm(root, ["licenses", "list", "-r", "--prod", "--json"], LIMIT_MS);
  const packages = code === 0 ? packagesOf(JSON.parse(stdout) as PnpmLicenses) : [];
  if (packages.length === 0) throw new Error(`pnpm listed no packages: ${output.trim()}`);
  return packages;
}
