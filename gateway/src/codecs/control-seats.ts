import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AddSeatRequestSchema,
  AddSeatResponse,
  ListSeatsRequestSchema,
  ListSeatsResponse,
} from "@tidemark/proto/control/v1/control";
import type { RouteInput, RouteReply } from "../route.ts";
import { readPage } from "./control-page.ts";
import { seatJson } from "./control-rows.ts";
import { readOptionalText, readText, withFault } from "./fields.ts";
import { requireMessage } from "./runs-message.ts";

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
