import type { ControlDeps, ControlHandlers } from "./deps.ts";

/** Which ways of signing in this installation offers. */
export function getAuthConfig({ settings }: ControlDeps): ControlHandlers["getAuthConfig"] {
  return async () => ({ devAuthEnabled: settings.devAuth });
}
