import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import { useAnswer, type Answered } from "../../api/use-answer.ts";
import { readSharedData, type SharedData } from "./grid-runs.ts";

/** Milliseconds after which the data of running runs are read again. */
const AGAIN_MS = 60_000;

/** Reads the data that a share link opens, again each minute while a run goes on, the page is visible, and they are not frozen. */
export function useSharedData(token: string | undefined, isFrozen: boolean): Answered<SharedData> {
  const read = useAnswer(token, async (signal) => {
    const path = `/api/reports/share/${encodeURIComponent(token!)}/view-data`;
    return readSharedData(await call<Parameters<typeof readSharedData>[0]>(path, { body: {}, signal }));
  });
  const { data, reload } = read;
  const isLive =
    !isFrozen && data !== undefined && [...data.grids.values()].some(({ runs }) => runs.some(({ running }) => running));
  useEffect(() => {
    if (!isLive) return undefined;
    const timer = setInterval(() => document.visibilityState === "visible" && reload(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [isLive, reload]);
  return read;
}
