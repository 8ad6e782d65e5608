import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateUserRequestSchema,
  CreateUserResponse,
  ListUsersRequestSchema,
  ListUsersResponse,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply } from "../route.ts";
import { readPage } from "./control-page.ts";
import { userJson } from "./control-rows.ts";
import { readOptionalText, readText } from "./fields.ts";
import { requireMessage } from "./runs-message.ts";

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
