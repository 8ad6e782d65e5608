import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { session } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { Time } from "../../ui/time.tsx";
import { counted } from "../../ui/words.ts";
import { DataTable } from "./data-table.tsx";

type Party = { readonly type: string; readonly id: string | null };
type Event = {
  readonly id: string;
  readonly at: string;
  readonly actor: Party;
  readonly action: string;
  readonly target: Party;
  readonly request_id: string;
  readonly details?: { readonly runs: number; readonly from_project_id: string };
};
type Answer = { readonly events: readonly Event[]; readonly next_cursor: string | null };

/** Who did what to people, keys and the organization, newest first. */
export function AuditSection() {
  const path = `/api/orgs/${session.value?.organization.id ?? ""}/audit`;
  const [events, setEvents] = useState<readonly Event[]>();
  const [cursor, setCursor] = useState<string | null>(null);
  const [fault, setFault] = useState<unknown>();
  const read = (from: string | null): void => {
    setFault(undefined);
    const query = from === null ? "" : `?cursor=${encodeURIComponent(from)}`;
    call<Answer>(`${path}${query}`).then((answer) => {
      setEvents((before) => (from === null ? answer.events : [...(before ?? []), ...answer.events]));
      setCursor(answer.next_cursor);
    }, setFault);
  };
  useEffect(() => read(null), [path]);
  return (
    <>
      <ErrorNote error={fault} onRetry={() => read(cursor)} />
      {events === undefined && fault === undefined && <Skeleton lines={6} height="28px" />}
      {events?.length === 0 && <EmptyState icon="list" title="No events yet" />}
      {events !== undefined && events.length > 0 && (
        <DataTable label="Audit log" columns={["Time", "Action", "Actor", "Target", "Request"]}>
          {events.map((event) => (
            <tr key={event.id}>
              <td>
                <Time at={event.at} />
              </td>
              <th scope="row">{actionWords(event.action)}</th>
              <td>
                <PartyCell party={event.actor} />
              </td>
              <td>
                <PartyCell party={event.target} />
                {event.details !== undefined && (
                  <div class="tm-hint">
                    {`${counted(event.details.runs, "run")} from `}
                    <span class="tm-mono">{event.details.from_project_id}</span>
                  </div>
                )}
              </td>
              <td class="tm-mono">{event.request_id}</td>
            </tr>
          ))}
        </DataTable>
      )}
      {cursor !== null && <Button onClick={() => read(cursor)}>Show older events</Button>}
    </>
  );
}

function PartyCell({ party: { type, id } }: { readonly party: Party }) {
  return (
    <>
      {type.replaceAll("_", " ")} {id !== null && <span class="tm-hint tm-mono">{id}</span>}
    </>
  );
}

/** Returns an action of the audit log (`api_key.created`) as a person says it (`API key created`). */
function actionWords(action: string): string {
  const text = action.replaceAll(/[._]/g, " ").replace(/^api key/, "API key");
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
