import { create } from "@bufbuild/protobuf";
import { IdentitySchema } from "@tidemark/proto/common/v1/common";
import type { DeleteOrganizationResponse, UndeleteOrganizationResponse } from "@tidemark/proto/control/v1/control";
import type { Call } from "@tidemark/rpc";
import type { Clients } from "../../clients.ts";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import {
  deletionJson,
  deletionQuery,
  measureRemoved,
  removedJson,
  withDeletion,
  type Removed,
} from "../deletion/deletion.ts";
import { pathId } from "../path-id.ts";
import { requireMessage } from "../replies.ts";
import { organizationJson, organizationSchema } from "./rows.ts";

/** An organization that says whether it is deleted. */
export const deletableOrganizationSchema: Schema = withDeletion(organizationSchema);

/** DELETE /api/orgs/{org_id}. @throws bad_request */
export function decodeDeleteOrganization(input: RouteInput): { orgId: string; dryRun: boolean } {
  return { orgId: pathId(input, "org_id"), dryRun: deletionQuery.read(input.query).dryRun };
}

/** Deletes an organization, or measures what would be removed. */
export async function deleteOrganization(
  clients: Clients,
  request: { readonly orgId: string; readonly dryRun: boolean },
  call: Call,
): Promise<DeleteOrganizationResponse | Removed> {
  const deleted = await clients.control.deleteOrganization(request, call);
  if (!request.dryRun) return deleted;
  // An operator belongs to no organization, but was granted access to this one.
  const identity = create(IdentitySchema, { kind: call.identity!.kind, orgId: request.orgId });
  return measureRemoved(clients, {}, { ...call, identity });
}

/** `{organization}`, or `{counts, bytes}` of a dry run. */
export function encodeDeleteOrganization(reply: DeleteOrganizationResponse | Removed): RouteReply {
  return "points" in reply ? { body: removedJson(reply) } : encodeRestoreOrganization(reply);
}

/** POST /api/orgs/{org_id}/restore. */
export function decodeRestoreOrganization(input: RouteInput): { orgId: string } {
  return { orgId: pathId(input, "org_id") };
}

/** `{organization}`. */
export function encodeRestoreOrganization({
  organization,
}: DeleteOrganizationResponse | UndeleteOrganizationResponse): RouteReply {
  const row = requireMessage(organization);
  return { body: { organization: { ...organizationJson(row), ...deletionJson(row.deletion) } } };
}
