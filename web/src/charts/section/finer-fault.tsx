import { ErrorNote } from "../../ui/page-states.tsx";
import type { ChartLines } from "./use-lines.ts";

/** Why a chart shows less than was asked for: it draws what it had before. */
export function FinerFault({ data: { lines, error, retry } }: { readonly data: ChartLines }) {
  return lines === undefined ? null : <ErrorNote error={error} onRetry={retry} />;
}
