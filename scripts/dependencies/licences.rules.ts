import { markdownTable } from "../generate/markdown-table.ts";

/** A package that production runs on. */
export type LicensedPackage = {
  readonly name: string;
  readonly versions: readonly string[];
  /** As its manifest says it: an identifier or an expression of SPDX. */
  readonly licence: string;
};

/** What `pnpm licenses list --json` prints: packages by licence. */
export type PnpmLicences = Readonly<
  Record<string, readonly { readonly name: string; readonly versions: readonly string[] }[]>
>;

/** Licences that ask of us no more than to name them, and that fit to Apache-2.0. */
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "PostgreSQL",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);

/** Tells whether an SPDX expression can be met: all parts of an AND, or one of an OR, are allowed. What is not understood is not. */
export function isAllowed(expression: string): boolean {
  const bare = expression.trim().replace(/^\(([^()]*)\)$/, "$1");
  if (/ OR /.test(bare) && !/ AND /.test(bare)) return bare.split(" OR ").some(isAllowed);
  if (/ AND /.test(bare) && !/ OR /.test(bare)) return bare.split(" AND ").every(isAllowed);
  return ALLOWED.has(bare);
}

/** Packages for one platform, of which each machine installs its own, count as one. */
const PLATFORM = /(?:linux|darwin)(?:musl)?-(?:x64|arm64)(?:-(?:gnu|musl))?$/;

/** Returns the packages in the order of their names, the same on every machine. */
export function packagesOf(listed: PnpmLicences): readonly LicensedPackage[] {
  const packages = Object.entries(listed).flatMap(([licence, entries]) =>
    entries.map(({ name, versions }) => ({
      name: name.replace(PLATFORM, "<platform>"),
      versions: versions.toSorted(),
      licence,
    })),
  );
  const unique = new Map(packages.map((entry) => [`${entry.name}@${entry.versions.join()}`, entry]));
  return [...unique].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

/** Returns a line for each package whose licence is not allowed. */
export function judgeLicences(packages: readonly LicensedPackage[]): readonly string[] {
  return packages
    .filter(({ licence }) => !isAllowed(licence))
    .map(
      ({ name, versions, licence }) =>
        `${name} ${versions.join(", ")} has the licence ${licence}, which is not allowed`,
    );
}

/** Returns the page of all licences. */
export function renderLicences(packages: readonly LicensedPackage[]): string {
  const counts = new Map<string, number>();
  for (const { licence } of packages) counts.set(licence, (counts.get(licence) ?? 0) + 1);
  const totals = [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([licence, count]) => [licence, String(count)]);
  const rows = packages.map(({ name, versions, licence }) => [`\`${name}\``, versions.join(", "), licence]);
  return `# Licences

The packages that run in production, with the licences that their manifests name. Generated; \`npm test\` fails when the list is out of date, or when a licence is not among those that ask for no more than to be named.

${markdownTable(["Licence", "Packages"], totals)}

${markdownTable(["Package", "Versions", "Licence"], rows)}
`;
}
