import { equalHashes, parseCredential } from "@tidemark/credentials";
import { AppError } from "@tidemark/errors";
import { pathId } from "@tidemark/requests";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { encodeEmbed } from "./encode-embed.ts";
import { EMBED, findEmbed } from "./embeds.sql.ts";

/** ReportsService.OpenEmbedSession: one refusal for every fault of a token. @throws unauthenticated, not_found for an id that is not a UUID */
export function openEmbed({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["openEmbedSession"] {
  return async (request) => {
    const token = parseCredential(request.token);
    if (token?.kind !== "embed") throw refusal();
    const row = await findEmbed(db, pathId(request.sessionId, EMBED));
    if (row === undefined || row.expired || !equalHashes(token.hash, row.token_hash)) throw refusal();
    return { session: encodeEmbed(row) };
  };
}

function refusal(): AppError {
  return new AppError("unauthenticated", "invalid or expired embed token");
}
