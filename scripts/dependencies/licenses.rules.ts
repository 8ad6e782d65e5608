import { markdownTable } from "../generate/markdown-table.ts";

/** A package that production runs on. */
export type LicensedPackage = {
  readonly name: string;
  readonly versions: readonly string[];
  /** As its manifest says it: an identifier or an expression of SPDX. */
  readonly license: string;
};

/** The output of `pnpm licenses list --json`: packages by license. */
export type PnpmLicenses = Readonly<
  Record<string, readonly { readonly name: string; readonly versions: readonly string[] }[]>
>;

/** Licenses that ask of us no more than to name them, and that fit to Apache-2.0. */
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "PostgreSQL",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);

/** Returns whether an SPDX expression can be met: all parts of an AND, or one of an OR, are allowed. Anything else is not allowed. */
export function isAllowed(expression: string): boolean {
  const bare = expression.trim().replace(/^\(([^()]*)\)$/, "$1");
  if (/ OR /.test(bare) && !/ AND /.test(bare)) return bare.split(" OR ").some(isAllowed);
  if (/ AND /.test(bare) && !/ OR /.test(bare)) return bare.split(" AND ").every(isAllowed);
  return ALLOWED.has(bare);
}

/** Variants of a package for single platforms count as one, because each machine installs its own. */
const PLATFORM = /(?:linux|darwin)(?:musl)?-(?:x64|arm64)(?:-(?:gnu|musl))?$/;

/** Returns the packages in the order of their names, the same on every machine. */
export function packagesOf(listed: PnpmLicenses): readonly LicensedPackage[] {
  const packages = Object.entries(listed).flatMap(([license, entries]) =>
    entries.map(({ name, versions }) => ({
      name: name.replace(PLATFORM, "<platform>"),
      versions: versions.toSorted(),
      license,
    })),
  );
  const unique = new Map(packages.map((entry) => [`${entry.name}@${entry.versions.join()}`, entry]));
  return [...unique].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

/** Returns a line for each package whose license is not allowed. */
export function judgeLicenses(packages: readonly LicensedPackage[]): readonly string[] {
  return packages
    .filter(({ license }) => !isAllowed(license))
    .map(
      ({ name, versions, license }) =>
        `${name} ${versions.join(", ")} has the license ${license}, which is not allowed`,
    );
}

/** Returns the page of all licenses. */
export function renderLicenses(packages: readonly LicensedPackage[]): string {
  const counts = new Map<string, number>();
  for (const { license } of packages) counts.set(license, (counts.get(license) ?? 0) + 1);
  const totals = [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([license, count]) => [license, String(count)]);
  const rows = packages.map(({ name, versions, license }) => [`\`${name}\``, versions.join(", "), license]);
  return `# Licenses

The packages that run in production, with the licenses that their manifests name. Generated; \`npm test\` fails when the list is out of date, or when a license is not among those that ask for no more than to be named.

${markdownTable(["License", "Packages"], totals)}

${markdownTable(["Package", "Versions", "License"], rows)}
`;
}
