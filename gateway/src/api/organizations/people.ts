import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AddSeatRequestSchema,
  AddSeatResponse,
  ChangeSeatRequestSchema,
  ChangeSeatResponse,
  RemoveSeatRequestSchema,
  RemoveSeatResponse,
  CreateUserRequestSchema,
  CreateUserResponse,
  ListSeatsRequestSchema,
  ListSeatsResponse,
  ListUsersRequestSchema,
  ListUsersResponse,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply, Schema } from "../../route.ts";
import { object, readField, withFault } from "../fields/field.ts";
import { blankSchema, email, emailSchema, textOrAbsent, textOrEmpty, word, wordForService } from "../fields/text.ts";
import { accountsPage, readPage } from "../parameters.ts";
import { requireMessage } from "../replies.ts";
import { seatJson, userJson } from "./rows.ts";

const address = textOrAbsent();
const otherAddress = email();
const profile = object({ display_name: textOrEmpty(), avatar_url: textOrEmpty() });

/** Body of POST /api/users: the address is `email`, or `primary_email` where that is absent or blank. */
export const createUserSchema: Schema = {
  ...profile.schema,
  properties: {
    email: { description: "An e-mail address." },
    primary_email: { description: "Another name of `email`, read where that is absent or blank." },
    ...(profile.schema["properties"] as object),
  },
  anyOf: [
    { required: ["email"], properties: { email: emailSchema } },
    {
      required: ["primary_email"],
      properties: { primary_email: emailSchema, email: { anyOf: [blankSchema, { type: "null" }] } },
    },
  ],
};

/** POST /api/users. @throws bad_request */
export function decodeCreateUser({ body }: RouteInput): MessageInitShape<typeof CreateUserRequestSchema> {
  return {
    email: readField(address, body, "email") ?? readField(otherAddress, body, "primary_email"),
    ...profile.read(body),
  };
}

/** `{user}`. */
export function encodeCreateUser({ user }: CreateUserResponse): RouteReply {
  return { body: { user: userJson(requireMessage(user)) } };
}

/** GET /api/users. @throws bad_request */
export function decodeListUsers({ query }: RouteInput): MessageInitShape<typeof ListUsersRequestSchema> {
  return { page: readPage(accountsPage, query) };
}

/** `{users}`. */
export function encodeListUsers({ users }: ListUsersResponse): RouteReply {
  return { body: { users: users.map(userJson) } };
}

/** The role of an invited person. */
const invitedRole = wordForService(["admin", "member", "viewer"], "member");

/** Body that names a person and a role. */
export const personBody = object({ email: email(), role: invitedRole });

/** GET /api/orgs/{org_id}/seats. @throws bad_request */
export function decodeListSeats({ params, query }: RouteInput): MessageInitShape<typeof ListSeatsRequestSchema> {
  return { orgId: params["org_id"]!, page: readPage(accountsPage, query) };
}

/** `{seats}`. */
export function encodeListSeats({ seats }: ListSeatsResponse): RouteReply {
  return { body: { seats: seats.map(seatJson) } };
}

/** POST /api/orgs/{org_id}/seats. Faults travel in the message, because a missing organization takes precedence. */
export function decodeAddSeat({ params, body }: RouteInput): MessageInitShape<typeof AddSeatRequestSchema> {
  const { value, fault } = withFault(() => personBody.read(body));
  return { orgId: params["org_id"]!, ...value, bodyFault: fault };
}

/** Body of PATCH /api/orgs/{org_id}/seats/{membership_id}. */
export const seatChangeBody = object({ role: word(["owner", "admin", "member", "viewer"]) });

/** PATCH /api/orgs/{org_id}/seats/{membership_id}. Faults travel in the message, because a missing seat takes precedence. */
export function decodeChangeSeat({ params, body }: RouteInput): MessageInitShape<typeof ChangeSeatRequestSchema> {
  const { value, fault } = withFault(() => seatChangeBody.read(body));
  return { ...seatOf(params), ...value, bodyFault: fault };
}

/** DELETE /api/orgs/{org_id}/seats/{membership_id}. */
export function decodeRemoveSeat({ params }: RouteInput): MessageInitShape<typeof RemoveSeatRequestSchema> {
  return seatOf(params);
}

function seatOf(params: RouteInput["params"]): { readonly orgId: string; readonly membershipId: string } {
  return { orgId: params["org_id"]!, membershipId: params["membership_id"]! };
}

/** `{seat}`. */
export function encodeSeat({ seat }: AddSeatResponse | ChangeSeatResponse | RemoveSeatResponse): RouteReply {
  return { body: { seat: seatJson(requireMessage(seat)) } };
}
