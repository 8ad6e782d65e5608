import { listAuditEvents } from "./audit/audit-events.ts";
import type { ControlDeps, ControlHandlers } from "./deps.ts";
import { confirmDeviceLogin, pollDeviceLogin, startDeviceLogin } from "./device-login/device-login.ts";
import { acceptInvitation, previewInvitation } from "./invitations/accept-invitation.ts";
import { signInWithInvitation } from "./invitations/sign-in-with-invitation.ts";
import { createInvitation, listInvitations, resendInvitation, revokeInvitation } from "./invitations/invitations.ts";
import { createApiKey, disableServiceAccount, listApiKeys, revokeApiKey } from "./keys/api-keys.ts";
import {
  deleteOrganization,
  undeleteOrganization,
  checkOrganizationName,
  createOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from "./organizations/organizations.ts";
import { finishOidcLogin, startOidcLogin } from "./oidc/sign-in-with-oidc.ts";
import { ensureLocalAccess } from "./organizations/ensure-local-access.ts";
import { createOwnOrganization } from "./organizations/own-organization.ts";
import { createUser, listMemberships, listUsers } from "./organizations/users.ts";
import { getProjection, lookupCredential, recordCredentialUse } from "./projection/projection.ts";
import { addSeat, changeSeat, listSeats, removeSeat } from "./seats/seats.ts";
import { endSession, listSessions, getSession, signOut, switchOrganization } from "./sessions/sessions.ts";
import { getAuthConfig, signInForDevelopment, signInOnce, signInWithApiKey } from "./sessions/sign-in.ts";
import { acknowledgeStop, catchUpRuns, getStopSignal } from "./stops/stop-signal.ts";
import { stopRun, stopRuns } from "./stops/stop-runs.ts";

/** Returns the handlers of all RPCs of the service. */
export function controlHandlers(deps: ControlDeps): ControlHandlers {
  return {
    acceptInvitation: acceptInvitation(deps),
    acknowledgeStop: acknowledgeStop(deps),
    addSeat: addSeat(deps),
    changeSeat: changeSeat(deps),
    removeSeat: removeSeat(deps),
    catchUpRuns: catchUpRuns(deps),
    checkOrganizationName: checkOrganizationName(deps),
    confirmDeviceLogin: confirmDeviceLogin(deps),
    createApiKey: createApiKey(deps),
    createInvitation: createInvitation(deps),
    createOrganization: createOrganization(deps),
    createOwnOrganization: createOwnOrganization(deps),
    createUser: createUser(deps),
    deleteOrganization: deleteOrganization(deps),
    disableServiceAccount: disableServiceAccount(deps),
    finishOidcLogin: finishOidcLogin(deps),
    startOidcLogin: startOidcLogin(deps),
    endSession: endSession(deps),
    ensureLocalAccess: ensureLocalAccess(deps),
    getAuthConfig: getAuthConfig(deps),
    getProjection: getProjection(deps),
    getSession: getSession(deps),
    getStopSignal: getStopSignal(deps),
    listApiKeys: listApiKeys(deps),
    listInvitations: listInvitations(deps),
    listMemberships: listMemberships(deps),
    getOrganization: getOrganization(deps),
    listOrganizations: listOrganizations(deps),
    listSeats: listSeats(deps),
    listSessions: listSessions(deps),
    listAuditEvents: listAuditEvents(deps),
    listUsers: listUsers(deps),
    lookupCredential: lookupCredential(deps),
    pollDeviceLogin: pollDeviceLogin(deps),
    previewInvitation: previewInvitation(deps),
    recordCredentialUse: recordCredentialUse(deps),
    resendInvitation: resendInvitation(deps),
    revokeApiKey: revokeApiKey(deps),
    revokeInvitation: revokeInvitation(deps),
    signInForDevelopment: signInForDevelopment(deps),
    signInOnce: signInOnce(deps),
    signInWithApiKey: signInWithApiKey(deps),
    signInWithInvitation: signInWithInvitation(deps),
    signOut: signOut(deps),
    startDeviceLogin: startDeviceLogin(deps),
    stopRun: stopRun(deps),
    stopRuns: stopRuns(deps),
    switchOrganization: switchOrganization(deps),
    undeleteOrganization: undeleteOrganization(deps),
    updateOrganization: updateOrganization(deps),
  };
}
