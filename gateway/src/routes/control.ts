import type { Route } from "../route.ts";
import { controlApiKeysRoutes } from "./control-api-keys.ts";
import { controlDeviceLoginRoutes } from "./control-device-login.ts";
import { controlInvitationsRoutes } from "./control-invitations.ts";
import { controlOperatorsRoutes } from "./control-operators.ts";
import { controlOrganizationsRoutes } from "./control-organizations.ts";
import { controlSessionsRoutes } from "./control-sessions.ts";

/** Accounts and access: users, organizations, keys, sessions, members. */
export const controlRoutes: readonly Route[] = [
  ...controlOperatorsRoutes,
  ...controlApiKeysRoutes,
  ...controlSessionsRoutes,
  ...controlDeviceLoginRoutes,
  ...controlOrganizationsRoutes,
  ...controlInvitationsRoutes,
];
