import type { Dialect, Route } from "../route.ts";

/** Returns the dialect that an address belongs to, also where no route has it; undefined: it is the product's own. */
export type DialectOf = (url: string) => Dialect | undefined;

/** Finds the dialects of these routes by their prefixes. */
export function createDialectOf(routes: readonly Route[]): DialectOf {
  const dialects = [...new Set(routes.flatMap(({ dialect }) => dialect ?? []))];
  return (url) => dialects.find(({ prefixes }) => prefixes.some((prefix) => url.startsWith(prefix)));
}
