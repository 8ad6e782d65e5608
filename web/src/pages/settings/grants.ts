import type { Role } from "../../api/session.ts";
import type { Option } from "../../ui/field.tsx";

const ROLES: readonly Option<Role>[] = [
  { value: "owner", label: "Owner" },
  { value: "admin", label: "Admin" },
  { value: "member", label: "Member" },
  { value: "viewer", label: "Viewer" },
];

/** Whether one with the role `own` may change or remove one with another role: owners all members, admins all but owners. */
export function mayChange(own: Role | undefined, other: Role): boolean {
  return own === "owner" || (own === "admin" && other !== "owner");
}

/** The roles that one with the role `own` may give. */
export function roleOptions(own: Role | undefined): readonly Option<Role>[] {
  return ROLES.filter(({ value }) => mayChange(own, value));
}

/** The scopes of keys, in words for people. */
export const scopeWords: readonly { readonly scope: string; readonly label: string; readonly isUsual: boolean }[] = [
  { scope: "sdk:ingest", label: "Log runs, metrics, files and traces", isUsual: true },
  { scope: "export:read", label: "Read everything", isUsual: true },
  { scope: "runs:control", label: "Stop and delete runs", isUsual: false },
  { scope: "artifacts:write", label: "Store artifacts", isUsual: false },
  { scope: "artifacts:manage", label: "Change aliases and retention of artifacts", isUsual: false },
  { scope: "imports:write", label: "Import runs", isUsual: false },
  { scope: "usage:read", label: "Read usage", isUsual: false },
  { scope: "api_keys:write", label: "Create and revoke API keys", isUsual: false },
];

/** Days that a key may last; the empty one has no end. */
export const lifetimes = [
  { value: "", label: "Never" },
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
] as const;

/** Returns when a key ends that is made now; undefined where it does not. */
export function endOf(days: string, nowMs: number): string | undefined {
  return days === "" ? undefined : new Date(nowMs + Number(days) * 86_400_000).toISOString();
}
