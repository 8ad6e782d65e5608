import type { RunDetail } from "../../../api/run-types.ts";
import { runAddress } from "../../../app/addresses.ts";
import { Link } from "../../../app/location.tsx";
import { CopyButton } from "../../../ui/copy-button.tsx";
import { Time } from "../../../ui/time.tsx";
import { Duration } from "../header/duration.tsx";
import { StopState } from "../header/stop-control.tsx";

/** When a run ran, who started it and what it came from; how it ended, if it was asked to stop. */
export function RunFacts({ run }: { readonly run: RunDetail }) {
  const author = authorOf(run);
  return (
    <section class="tm-panel" aria-labelledby="run-facts">
      <h2 id="run-facts">Run</h2>
      {run.run_control.display_status !== "stopping" && <StopState run={run} />}
      <dl class="tm-pairs">
        <Fact name="Started">
          <Time at={run.started_at} />
        </Fact>
        {run.status === "running" ? (
          <Fact name="Last sign of life">
            <Time at={run.last_seen_at} />
          </Fact>
        ) : (
          <Fact name="Ended">
            <Time at={run.finished_at} fallback="unknown" />
          </Fact>
        )}
        <Fact name="Duration">
          <Duration run={run} />
        </Fact>
        {author !== undefined && <Fact name="Author">{author}</Fact>}
        {run.resume_count > 0 && <Fact name="Resumed">{`${run.resume_count} ×`}</Fact>}
        {run.parent_run_id !== null && (
          <Fact name="Forked from">
            <Link href={runAddress(run.project, run.parent_run_id, "overview")}>{run.parent_run_id.slice(0, 8)}</Link>
            {run.forked_from_step !== null && ` at step ${run.forked_from_step}`}
          </Fact>
        )}
        <Fact name="Id">
          <code>{run.id}</code> <CopyButton text={run.id} label="Copy the id of the run" />
        </Fact>
      </dl>
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Returns who started the run, if its metadata says so. */
function authorOf({ metadata }: RunDetail): string | undefined {
  for (const name of ["author", "user", "username"]) {
    const value = metadata[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}
