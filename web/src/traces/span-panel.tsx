import { useMemo, useState } from "preact/hooks";
import { valueText, type ExactValue } from "../api/exact-value.ts";
import { Badge } from "../ui/status-badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { absoluteTime } from "../ui/words.ts";
import { configRows, isBranch } from "../pages/run/config/config-rows.ts";
import { kindWords, messagesOf } from "./messages.ts";
import { spanDurationWords, spanStatusKind, type Span } from "./waterfall.ts";

type Group = { readonly [key: string]: ExactValue };

/** The content of a span: its times, attributes, metrics, and its inputs and outputs if they were captured. */
export function SpanPanel({
  span,
  onClose,
}: {
  readonly span: Span;
  /** Undefined: it cannot be closed. */
  readonly onClose: (() => void) | undefined;
}) {
  return (
    <aside class="tm-panel tm-span" aria-label={`Span ${span.name}`}>
      <header>
        <h3>{span.name}</h3>
        <Badge kind={spanStatusKind(span.status)}>{span.status}</Badge>
        {onClose !== undefined && <IconButton icon="close" label="Close the span" size="s" onClick={onClose} />}
      </header>
      <dl class="tm-pairs">
        <Pair name="Kind" value={kindWords(span)} />
        <Pair name="Started" value={absoluteTime(Date.parse(span.started_at))} />
        <Pair name="Duration" value={span.duration_ms === null ? "running" : spanDurationWords(span.duration_ms)} />
        {span.step !== null && <Pair name="Step" value={String(span.step)} />}
        {span.rank !== null && <Pair name="Rank" value={String(span.rank)} />}
        <div>
          <dt>Id</dt>
          <dd>
            <code>{span.span_id}</code> <CopyButton text={span.span_id} label="Copy the id of the span" />
          </dd>
        </div>
      </dl>
      {span.error_type !== null && (
        <Text name={`Error: ${span.error_type}`} text={span.error_preview || "No message was captured."} />
      )}
      {span.input_preview !== "" && <Content name="Input" text={span.input_preview} />}
      {span.output_preview !== "" && <Content name="Output" text={span.output_preview} />}
      <Values name="Metrics" group={span.metrics as Group} />
      <Values name="Attributes" group={span.attributes as Group} />
      {span.truncated && <p class="tm-muted">Some of it was too long and was cut.</p>}
    </aside>
  );
}

function Pair({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Values({ name, group }: { readonly name: string; readonly group: Group }) {
  const rows = configRows(group).filter((row) => !isBranch(row));
  if (rows.length === 0) return null;
  return (
    <>
      <h4>{name}</h4>
      <dl class="tm-pairs">
        {rows.slice(0, 200).map((row) => (
          <Pair key={JSON.stringify(row.path)} name={row.path.join(".")} value={valueText(row.value)} />
        ))}
      </dl>
    </>
  );
}

/** The input or output of a span: its messages, where it is a conversation, and the text that was sent. */
function Content({ name, text }: { readonly name: string; readonly text: string }) {
  const messages = useMemo(() => messagesOf(text), [text]);
  const [isRaw, setRaw] = useState(false);
  if (messages === undefined) return <Text name={name} text={text} />;
  return (
    <>
      <h4>
        {name} <CopyButton text={text} label={`Copy: ${name}`} />
        <Button size="s" kind="quiet" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          JSON
        </Button>
      </h4>
      {isRaw ? (
        <pre class="tm-preview-text" tabIndex={0} role="region" aria-label={name}>
          {text}
        </pre>
      ) : (
        <ol class="tm-messages" aria-label={name}>
          {messages.map(({ role, text: said }, i) => (
            <li key={i}>
              <strong>{role}</strong>
              <p>{said}</p>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

function Text({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <>
      <h4>
        {name} <CopyButton text={text} label={`Copy: ${name}`} />
      </h4>
      <pre class="tm-preview-text" tabIndex={0} role="region" aria-label={name}>
        {text}
      </pre>
    </>
  );
}
