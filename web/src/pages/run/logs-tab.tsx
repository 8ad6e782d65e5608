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
import { LogElsewhere } from "../../logs/log-elsewhere.tsx";
import { LogView } from "../../logs/log-view.tsx";
import type { LogLine } from "../../logs/log-windows.ts";
import { mergedLog } from "../../logs/merged-log.ts";
import { attempt } from "../../ui/fault.ts";
import { Button } from "../../ui/button.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { counted } from "../../ui/words.ts";
import { saveFile } from "../../ui/save-file.ts";
import { Snippet } from "../../ui/copy-button.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import type { TabProps } from "./run-actions.ts";

type View = "all" | LogStream;
type Streams = Readonly<Record<View, LogSource>>;

const streamsOf = (source: (stream: LogStream) => LogSource): Streams => {
  const [stdout, stderr] = [source("stdout"), source("stderr")];
  return { all: mergedLog(stdout, stderr), stdout, stderr };
};

/** The console output of a run: both streams by time, or one of them. */
export function LogsTab({ run, changes }: TabProps) {
  const asked = currentLocation.value.query.get("stream");
  const view: View = asked === "stderr" || asked === "stdout" ? asked : "all";
  const logged = useMemo(() => streamsOf((stream) => runLogs(run.id, stream)), [run.id]);
  const log = useLog(logged[view], changes.lines);
  const isEmpty = log.windows !== undefined && log.windows.last < log.windows.first;
  const shared = { view, name: run.name };
  if (isEmpty) return <CapturedLogs key={view} runId={run.id} version={changes.objects} {...shared} />;
  return <Logs key={view} streams={logged} log={log} {...shared} />;
}

/** Console output captured by the published SDK, which arrives as attributes. */
function CapturedLogs({ runId, version, view, name }: { readonly runId: string; readonly version: number } & Shared) {
  const captured = useMemo(() => streamsOf((stream) => consoleAttributes(runId, stream)), [runId]);
  const log = useLog(captured[view], version);
  return <Logs streams={captured} log={log} view={view} name={name} />;
}

type Shared = { readonly view: View; readonly name: string };

const VIEWS = [
  { value: "all", label: "All output by time" },
  { value: "stdout", label: "Output (stdout)" },
  { value: "stderr", label: "Errors (stderr)" },
] as const;

function Logs({ streams, log, view, name }: { readonly streams: Streams; readonly log: Log } & Shared) {
  const source = streams[view];
  const { query } = currentLocation.value;
  const search = query.get("find") ?? "";
  const line = Number.parseInt(query.get("line") ?? "", 10);
  const here = placeOf(query.get("of"));
  const show = (found: LogLine): void =>
    void attempt(async () => {
      const place = (await source.place?.(found, new AbortController().signal)) ?? found.number;
      const of = found.own === undefined ? undefined : `${found.own.stream}:${found.own.number}`;
      setQuery({ line: String(place), of });
    });
  const other = view === "stdout" ? "stderr" : view === "stderr" ? "stdout" : undefined;
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
          value={view}
          options={VIEWS}
          onChange={(value) =>
            setQuery({ stream: value === "all" ? undefined : value, line: undefined, of: undefined })
          }
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
            if (/^\d+$/.test(goTo.trim())) setQuery({ line: goTo.trim(), of: undefined });
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
        <Download source={source} fileName={view === "all" ? `${name}.log` : `${name}-${view}.log`} />
        {windows !== undefined && !isEmpty && view !== "all" && (
          <span class="tm-muted">{counted(windows.last - windows.first + 1, "line")}</span>
        )}
      </div>
      <ErrorNote error={log.error} onRetry={log.retry} />
      {search.trim() !== "" && (
        <LogSearch source={source} text={search} onShow={show} onClose={() => setQuery({ find: undefined })} />
      )}
      {search.trim() !== "" && other !== undefined && (
        <LogElsewhere
          source={streams[other]}
          name={other}
          text={search}
          onShow={() => setQuery({ stream: other, line: undefined })}
        />
      )}
      {windows === undefined && log.error === undefined && <Skeleton lines={12} height="18px" />}
      {isEmpty && (
        <EmptyState
          title={view === "stderr" ? "No errors on the console" : "Nothing on the console yet"}
          icon="terminal"
        >
          <p>Lines appear here as the training writes them.</p>
          <Snippet label="Capture the console" text="run.capture_console()" />
        </EmptyState>
      )}
      {windows !== undefined && !isEmpty && (
        <LogView
          label={view === "all" ? `Console of ${name}` : `Console of ${name}, ${view}`}
          windows={windows}
          need={log.need}
          wrap={query.has("wrap")}
          times={query.has("times")}
          jump={Number.isNaN(line) ? undefined : line}
          here={here}
        />
      )}
    </div>
  );
}

/** Reads the line that an address marks in a merged log. */
function placeOf(text: string | null): LogLine["own"] {
  const [, stream, number] = /^(stdout|stderr):(\d+)$/.exec(text ?? "") ?? [];
  return number === undefined ? undefined : { stream: stream as LogStream, number: Number(number) };
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
