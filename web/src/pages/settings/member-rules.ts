import type { Role } from "../../api/session.ts";
import type { Option } from "../../ui/select.tsx";

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
