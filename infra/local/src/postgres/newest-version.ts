/**
 * Returns the newest version of a major number in the order of Semantic Versioning. Pre-releases count, because these packages
 * have nothing else (`18.4.0-beta.17`). Pure.
 */
export function newestVersion(versions: readonly string[], major: number): string | undefined {
  return versions.filter((version) => version.startsWith(`${major}.`)).reduce<string | undefined>(newer, undefined);
}

function newer(a: string | undefined, b: string): string {
  return a === undefined || compare(a, b) < 0 ? b : a;
}

function compare(a: string, b: string): number {
  const [coreA = "", ...restA] = a.split("-");
  const [coreB = "", ...restB] = b.split("-");
  const core = compareParts(coreA.split("."), coreB.split("."));
  if (core !== 0) return core;
  // A release comes after all its pre-releases.
  if (restA.length === 0 || restB.length === 0) return restB.length - restA.length;
  return compareParts(restA.join("-").split("."), restB.join("-").split("."));
}

function compareParts(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const order = comparePart(a[i], b[i]);
    if (order !== 0) return order;
  }
  return 0;
}

function comparePart(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
  const [numberA, numberB] = [Number(a), Number(b)];
  if (!Number.isNaN(numberA) && !Number.isNaN(numberB)) return numberA - numberB;
  if (Number.isNaN(numberA) !== Number.isNaN(numberB)) return Number.isNaN(numberA) ? 1 : -1;
  return a < b ? -1 : 1;
}
