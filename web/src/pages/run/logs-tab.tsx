import { useMemo, useRef, useState } from "preact/hooks";
import "../../logs/logs.css";
import { currentLocation, setQuery } from "../../app/location.tsx";
import { LogSearch } from "../../logs/log-search.tsx";
import {
  consoleAttributes,
  gatherText,
  runLogs,
  useLog,
  type Log,
  type LogSource,
  type LogStream,
} from "../../logs/log-source.ts";
import { LogView } from "../../logs/log-view.tsx";
import { attempt } from "../../ui/fault.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { counted } from "../../ui/words.ts";
import { saveFile } from "../../ui/save-file.ts";
import { Snippet } from "../../ui/copy-button.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import type { TabProps } from "./run-actions.ts";

/** The console output of a run. */
export function LogsTab({ run, changes }: TabProps) {
  const { query } = currentLocation.value;
  const stream: LogStream = query.get("stream") === "stderr" ? "stderr" : "stdout";
  const logged = useMemo(() => runLogs(run.id, stream), [run.id, stream]);
  const log = useLog(logged, changes.lines);
  const isEmpty = log.windows !== undefined && log.windows.last < log.windows.first;
  const shared = { stream, name: run.name };
  if (isEmpty) return <CapturedLogs key={stream} runId={run.id} version={changes.objects} {...shared} />;
  return <Logs key={stream} source={logged} log={log} {...shared} />;
}

/** Console output captured by the published SDK, which arrives as attributes. */
function CapturedLogs({ runId, version, stream, name }: { readonly runId: string; readonly version: number } & Shared) {
  const source = useMemo(() => consoleAttributes(runId, stream), [runId, stream]);
  const log = useLog(source, version);
  return <Logs source={source} log={log} stream={stream} name={name} />;
}

type Shared = { readonly stream: LogStream; readonly name: string };

const STREAMS = [
  { value: "stdout", label: "Output (stdout)" },
  { value: "stderr", label: "Errors (stderr)" },
] as const;

function Logs({ source, log, stream, name }: { readonly source: LogSource; readonly log: Log } & Shared) {
  const { query } = currentLocation.value;
  const search = query.get("find") ?? "";
  const line = Number.parseInt(query.get("line") ?? "", 10);
  const [goTo, setGoTo] = useState("");
  const { windows } = log;
  const isEmpty = windows !== undefined && windows.last < windows.first;
  const replace = { replace: true } as const;
  return (
    <div class="tm-logs">
      <div class="tm-tools">
        <Select
          label="Stream"
          hideLabel
          value={stream}
          options={STREAMS}
          onChange={(value) => setQuery({ stream: value === "stdout" ? undefined : value, line: undefined })}
        />
        <TextField
          label="Search the log"
          hideLabel
          type="search"
          placeholder="Search the log"
          value={search}
          onInput={(text) => setQuery({ find: text }, replace)}
        />
        <form
          class="tm-form-row"
          onSubmit={(event) => {
            event.preventDefault();
            if (/^\d+$/.test(goTo.trim())) setQuery({ line: goTo.trim() });
          }}
        >
          <TextField
            label="Go to line"
            hideLabel
            placeholder="Line"
            type="number"
            min="0"
            value={goTo}
            onInput={setGoTo}
          />
          <Button type="submit" size="s">
            Go
          </Button>
        </form>
        <Checkbox
          label="Wrap"
          checked={query.has("wrap")}
          onChange={(on) => setQuery({ wrap: on ? "1" : undefined }, replace)}
        />
        <Checkbox
          label="Times"
          checked={query.has("times")}
          onChange={(on) => setQuery({ times: on ? "1" : undefined }, replace)}
        />
        <Download source={source} fileName={`${name}-${stream}.log`} />
        {windows !== undefined && !isEmpty && (
          <span class="tm-muted">{counted(windows.last - windows.first + 1, "line")}</span>
        )}
      </div>
      <ErrorNote error={log.error} onRetry={log.retry} />
      {search.trim() !== "" && (
        <LogSearch
          source={source}
          text={search}
          onShow={(number) => setQuery({ line: String(number) })}
          onClose={() => setQuery({ find: undefined })}
        />
      )}
      {windows === undefined && log.error === undefined && <Skeleton lines={12} height="18px" />}
      {isEmpty && (
        <EmptyState
          title={stream === "stdout" ? "Nothing on the console yet" : "No errors on the console"}
          icon="terminal"
        >
          <p>Lines appear here as the training writes them.</p>
          <Snippet label="Capture the console" text="run.capture_console()" />
        </EmptyState>
      )}
      {windows !== undefined && !isEmpty && (
        <LogView
          label={`Console of ${name}, ${stream}`}
          windows={windows}
          need={log.need}
          wrap={query.has("wrap")}
          times={query.has("times")}
          jump={Number.isNaN(line) ? undefined : line}
        />
      )}
    </div>
  );
}

function Download({ source, fileName }: { readonly source: LogSource; readonly fileName: string }) {
  const [share, setShare] = useState<number>();
  const ending = useRef<AbortController | undefined>(undefined);
  const start = async (): Promise<void> => {
    const own = new AbortController();
    ending.current = own;
    setShare(0);
    await attempt(async () => {
      try {
        saveFile(await gatherText(source, own.signal, setShare), fileName);
      } catch (error) {
        if (!own.signal.aborted) throw error;
      }
    });
    setShare(undefined);
  };
  if (share === undefined) {
    return (
      <Button size="s" icon="download" onClick={() => void start()}>
        Download
      </Button>
    );
  }
  return (
    <Button size="s" icon="close" onClick={() => ending.current?.abort()}>
      {`Cancel (${Math.round(share * 100)} %)`}
    </Button>
  );
}
