import type { RunDetail } from "../../../api/run-types.ts";
import { useAnswer } from "../../../api/use-answer.ts";
import { runAddress } from "../../../app/addresses.ts";
import { Link } from "../../../app/location.tsx";
import { plainText } from "../../../logs/ansi.ts";
import { consoleAttributes, runLogs } from "../../../logs/log-source.ts";
import type { LogLine } from "../../../logs/log-windows.ts";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { Skeleton } from "../../../ui/spinner.tsx";

/** Lines of standard error that are shown, and line numbers in which they are looked for: progress bars take many. */
const LINES_SHOWN = 15;
const LINES_READ = 200;

/** Why a run failed, as far as it is known: its exit code and the end of its standard error. */
export function FailurePanel({ run, exitCode }: { readonly run: RunDetail; readonly exitCode: string | undefined }) {
  const { data: lines, error } = useAnswer(`failure of ${run.id}`, (signal) => lastErrors(run.id, signal));
  const address = `${runAddress(run.project, run.id, "logs")}?stream=stderr`;
  const first = lines?.[0]?.number;
  return (
    <section class="tm-panel tm-failure" aria-labelledby="run-failure">
      <header>
        <h2 id="run-failure">{exitCode === undefined ? "Failed" : `Failed with exit code ${exitCode}`}</h2>
        {first !== undefined && <Link href={`${address}&line=${first}`}>Show in Logs</Link>}
      </header>
      <ErrorNote error={error} />
      {lines === undefined && error === undefined && <Skeleton lines={4} height="18px" />}
      {lines?.length === 0 && <p class="tm-muted">This run wrote nothing to standard error.</p>}
      {lines !== undefined && lines.length > 0 && (
        <pre ref={showEnd} class="tm-preview-text" tabIndex={0} role="region" aria-label="End of standard error">
          {lines.map(({ text }) => plainText(text)).join("\n")}
        </pre>
      )}
    </section>
  );
}

/** The error itself is at the end. */
function showEnd(element: HTMLElement | null): void {
  if (element !== null) element.scrollTop = element.scrollHeight;
}

/** Reads the last lines of standard error that a run logged, or that the SDK captured as attributes. */
async function lastErrors(runId: string, signal: AbortSignal): Promise<readonly LogLine[]> {
  for (const source of [runLogs(runId, "stderr"), consoleAttributes(runId, "stderr")]) {
    const ends = await source.ends(signal);
    if (ends === undefined) continue;
    const lines = await source.lines(Math.max(ends.first, ends.last - LINES_READ + 1), ends.last, signal);
    return lines.slice(-LINES_SHOWN);
  }
  return [];
}
