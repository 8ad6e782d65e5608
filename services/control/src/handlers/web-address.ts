import type { ControlDeps } from "./deps.ts";

/** Where people's pages are, without a trailing slash: as configured, else where the request came in. */
export function webAddress({ settings }: ControlDeps, baseUrl: string): string {
  return (settings.webUrl ?? baseUrl).replace(/\/+$/, "");
}
