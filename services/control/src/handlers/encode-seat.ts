import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SeatSchema } from "@tidemark/proto/control/v1/control";
import type { SeatRow } from "../store/list-seats.ts";
import { encodeMembership } from "./encode-organization.ts";

export function encodeSeat(row: SeatRow): MessageInitShape<typeof SeatSchema> {
  return {
    membership: encodeMembership(row),
    user: {
      id: row.user_id,
      primaryEmail: row.email,
      displayName: row.display_name ?? "",
      avatarUrl: row.avatar_url ?? "",
    },
  };
}
