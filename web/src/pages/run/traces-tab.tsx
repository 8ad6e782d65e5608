import "../shared-chunk.ts";
import { addressWith, currentLocation, setQuery } from "../../app/location.tsx";
import { filtersOf } from "../../traces/trace-list.ts";
import { TraceBrowser } from "../../traces/trace-browser.tsx";
import { TraceView } from "../../traces/trace-view.tsx";
import { useTraceList } from "../../traces/use-trace-list.ts";
import type { TabProps } from "./run-actions.ts";

/** The traces of a run, or one of them as a waterfall. */
export function TracesTab(props: TabProps) {
  const traceId = currentLocation.value.query.get("trace");
  if (traceId === null) return <RunTraces {...props} />;
  return (
    <TraceView
      runId={props.run.id}
      traceId={traceId}
      onClose={() => setQuery({ trace: undefined, span: undefined, spans: undefined })}
    />
  );
}

function RunTraces({ run, changes }: TabProps) {
  const scope = { runId: run.id };
  const filters = filtersOf(currentLocation.value.query, scope);
  const list = useTraceList(scope, filters, changes.objects);
  return <TraceBrowser list={list} filters={filters} addressOf={({ trace_id: id }) => addressWith({ trace: id })} />;
}
