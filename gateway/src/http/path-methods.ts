import type { Route } from "../route.ts";

/** Finds which methods a path has, for requests that no route took. */
export type PathMethods = (path: string) => readonly string[];

/** Lists the methods of all routes whose template fits a path, HEAD with GET; empty when there is none. */
export function createPathMethods(routes: readonly Pick<Route, "method" | "path">[]): PathMethods {
  const methodsByPath = new Map<string, Set<string>>();
  for (const { method, path } of routes) {
    const methods = methodsByPath.get(path) ?? new Set();
    methods.add(method);
    if (method === "GET") methods.add("HEAD");
    methodsByPath.set(path, methods);
  }
  const templates = [...methodsByPath].map(([path, methods]) => ({ pattern: patternOf(path), methods: [...methods] }));
  return (path) => [
    ...new Set(templates.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods)),
  ];
}

function patternOf(template: string): RegExp {
  const literal = template.split(/\{\w+\}/).map((part) => RegExp.escape(part));
  // No part of a path may be empty or hold NUL, as for the routes themselves.
  return new RegExp(`^${literal.join("(?:(?!%00)[^/])+")}$`);
}
