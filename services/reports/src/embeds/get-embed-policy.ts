import { notFound } from "@tidemark/errors";
import { pathId } from "@tidemark/requests";
import type { ReportsDeps, ReportsHandlers } from "../deps.ts";
import { encodeEmbed } from "./encode-embed.ts";
import { EMBED, findEmbed } from "./embeds.sql.ts";

/** ReportsService.GetEmbedPolicy. @throws not_found */
export function getEmbedPolicy({ db }: Pick<ReportsDeps, "db">): ReportsHandlers["getEmbedPolicy"] {
  return async (request) => {
    const row = await findEmbed(db, pathId(request.sessionId, EMBED));
    if (row === undefined) throw notFound(EMBED);
    return { session: encodeEmbed({ ...row, run_ids: [] }), expired: row.expired };
  };
}
