import { acceptInvitation } from "./accept-invitation.ts";
import { acknowledgeStop } from "./acknowledge-stop.ts";
import { addSeat } from "./add-seat.ts";
import { catchUpRuns } from "./catch-up-runs.ts";
import { checkOrganizationName } from "./check-organization-name.ts";
import { confirmDeviceLogin } from "./confirm-device-login.ts";
import { createApiKey } from "./create-api-key.ts";
import { createInvitation } from "./create-invitation.ts";
import { createOrganization } from "./create-organization.ts";
import { createOwnOrganization } from "./create-own-organization.ts";
import { createUser } from "./create-user.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { disableServiceAccount } from "./disable-service-account.ts";
import { ensureLocalAccess } from "./ensure-local-access.ts";
import { getAuthConfig } from "./get-auth-config.ts";
import { getProjection } from "./get-projection.ts";
import { getSession } from "./get-session.ts";
import { getStopSignal } from "./get-stop-signal.ts";
import { listApiKeys } from "./list-api-keys.ts";
import { listInvitations } from "./list-invitations.ts";
import { listMemberships } from "./list-memberships.ts";
import { listOrganizations } from "./list-organizations.ts";
import { listSeats } from "./list-seats.ts";
import { listUsers } from "./list-users.ts";
import { lookupCredential } from "./lookup-credential.ts";
import { pollDeviceLogin } from "./poll-device-login.ts";
import { previewInvitation } from "./preview-invitation.ts";
import { recordCredentialUse } from "./record-credential-use.ts";
import { resendInvitation } from "./resend-invitation.ts";
import { revokeApiKey } from "./revoke-api-key.ts";
import { revokeInvitation } from "./revoke-invitation.ts";
import { signInForDevelopment } from "./sign-in-for-development.ts";
import { signOut } from "./sign-out.ts";
import { startDeviceLogin } from "./start-device-login.ts";
import { stopRun } from "./stop-run.ts";
import { stopRuns } from "./stop-runs.ts";
import { switchOrganization } from "./switch-organization.ts";
import { updateOrganization } from "./update-organization.ts";

/** The service's RPCs over what they work with. */
export function controlHandlers(deps: ControlDeps): ControlHandlers {
  return {
    acceptInvitation: acceptInvitation(deps),
    acknowledgeStop: acknowledgeStop(deps),
    addSeat: addSeat(deps),
    catchUpRuns: catchUpRuns(deps),
    checkOrganizationName: checkOrganizationName(deps),
    confirmDeviceLogin: confirmDeviceLogin(deps),
    createApiKey: createApiKey(deps),
    createInvitation: createInvitation(deps),
    createOrganization: createOrganization(deps),
    createOwnOrganization: createOwnOrganization(deps),
    createUser: createUser(deps),
    disableServiceAccount: disableServiceAccount(deps),
    ensureLocalAccess: ensureLocalAccess(deps),
    getAuthConfig: getAuthConfig(deps),
    getProjection: getProjection(deps),
    getSession: getSession(deps),
    getStopSignal: getStopSignal(deps),
    listApiKeys: listApiKeys(deps),
    listInvitations: listInvitations(deps),
    listMemberships: listMemberships(deps),
    listOrganizations: listOrganizations(deps),
    listSeats: listSeats(deps),
    listUsers: listUsers(deps),
    lookupCredential: lookupCredential(deps),
    pollDeviceLogin: pollDeviceLogin(deps),
    previewInvitation: previewInvitation(deps),
    recordCredentialUse: recordCredentialUse(deps),
    resendInvitation: resendInvitation(deps),
    revokeApiKey: revokeApiKey(deps),
    revokeInvitation: revokeInvitation(deps),
    signInForDevelopment: signInForDevelopment(deps),
    signOut: signOut(deps),
    startDeviceLogin: startDeviceLogin(deps),
    stopRun: stopRun(deps),
    stopRuns: stopRuns(deps),
    switchOrganization: switchOrganization(deps),
    updateOrganization: updateOrganization(deps),
  };
}
