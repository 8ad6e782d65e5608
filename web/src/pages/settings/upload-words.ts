import type { Sent } from "../../api/upload.ts";
import { byteWords } from "../../ui/words.ts";

/** Whether all has left the browser, so that the server has the rest of the work. */
export function isSent({ sent, total }: Sent): boolean {
  return sent >= total;
}

/** Says how far an upload is. A percentage is full only at the end. */
export function uploadWords(progress: Sent): string {
  const { sent, total } = progress;
  if (isSent(progress)) return `All ${byteWords(total)} are sent; the server works on them.`;
  return `${byteWords(sent)} of ${byteWords(total)} sent (${Math.floor((100 * sent) / total)}%).`;
}

/** Says what a canceled upload has left behind: until its end is there, an archive shows nothing. */
export function canceledWords(progress: Sent): string {
  const { sent, total } = progress;
  if (isSent(progress))
    return "The file was sent as a whole, so the server goes on with it; this page does not wait any more.";
  return `Canceled after ${byteWords(sent)} of ${byteWords(total)}. Nothing was imported.`;
}
