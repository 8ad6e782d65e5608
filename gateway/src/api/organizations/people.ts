import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AddSeatRequestSchema,
  AddSeatResponse,
  CreateUserRequestSchema,
  CreateUserResponse,
  ListSeatsRequestSchema,
  ListSeatsResponse,
  ListUsersRequestSchema,
  ListUsersResponse,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { readOptionalText, readText, withFault } from "../fields/index.ts";
import { readPage } from "../page.ts";
import { requireMessage } from "../replies.ts";
import { textOrNullSchema, textSchema } from "../schemas.ts";
import { seatJson, userJson } from "./rows.ts";

/** Body of POST /api/users. */
export const createUserSchema: Schema = {
  type: "object",
  properties: {
    email: textOrNullSchema,
    primary_email: { ...textOrNullSchema, description: "Another name of `email`." },
    display_name: textOrNullSchema,
    avatar_url: textOrNullSchema,
  },
};

/** POST /api/users; the address comes as `email` or `primary_email`. @throws bad_request */
export function decodeCreateUser({ body }: RouteInput): MessageInitShape<typeof CreateUserRequestSchema> {
  return {
    email: readOptionalText(body, "email", { blank: "absent" }) ?? readText(body, "primary_email"),
    displayName: readOptionalText(body, "display_name", { blank: "absent" }) ?? "",
    avatarUrl: readOptionalText(body, "avatar_url", { blank: "absent" }) ?? "",
  };
}

/** `{user}`. */
export function encodeCreateUser({ user }: CreateUserResponse): RouteReply {
  return { body: { user: userJson(requireMessage(user)) } };
}

/** GET /api/users. @throws bad_request */
export function decodeListUsers({ query }: RouteInput): MessageInitShape<typeof ListUsersRequestSchema> {
  return { page: readPage(query) };
}

/** `{users}`. */
export function encodeListUsers({ users }: ListUsersResponse): RouteReply {
  return { body: { users: users.map(userJson) } };
}

export const invitedRoleSchema: Schema = {
  type: ["string", "null"],
  enum: ["admin", "member", "viewer", null],
  default: "member",
};

/** Body that names a person and a role. */
export const personSchema: Schema = {
  type: "object",
  required: ["email"],
  properties: { email: textSchema, role: invitedRoleSchema },
};

/** GET /api/orgs/{org_id}/seats. @throws bad_request */
export function decodeListSeats({ params, query }: RouteInput): MessageInitShape<typeof ListSeatsRequestSchema> {
  return { orgId: params["org_id"]!, page: readPage(query) };
}

/** `{seats}`. */
export function encodeListSeats({ seats }: ListSeatsResponse): RouteReply {
  return { body: { seats: seats.map(seatJson) } };
}

/** POST /api/orgs/{org_id}/seats. Faults travel in the message, because a missing organization goes before them. */
export function decodeAddSeat({ params, body }: RouteInput): MessageInitShape<typeof AddSeatRequestSchema> {
  const { value, fault } = withFault(() => ({
    email: readText(body, "email"),
    role: readOptionalText(body, "role", { blank: "absent" }) ?? "",
  }));
  return { orgId: params["org_id"]!, ...value, bodyFault: fault };
}

/** `{seat}`. */
export function encodeAddSeat({ seat }: AddSeatResponse): RouteReply {
  return { body: { seat: seatJson(requireMessage(seat)) } };
}
