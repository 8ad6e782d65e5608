import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { deleteOrRestore } from "../../api/deletions.ts";
import { setQuery } from "../../app/location.tsx";
import { Button } from "../../ui/button.tsx";
import { faultOf } from "../../ui/fault.ts";
import { Checkbox } from "../../ui/field.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toast.tsx";
import { counted } from "../../ui/words.ts";
import { DataTable } from "./data-table.tsx";

/** A deleted run or project, as the lists return it. */
type Deleted = {
  readonly id: string;
  readonly name: string;
  /** The project of a run. */
  readonly project?: string;
  readonly deleted_at: string | null;
  readonly purge_after: string | null;
};

/** Rows of a request. */
const ROWS = 100;

/** Runs that were deleted themselves, those of one project or of all. */
export function DeletedRuns({ projectId }: { readonly projectId: string | undefined }) {
  const filter = projectId === undefined ? "" : `&project_id=${encodeURIComponent(projectId)}`;
  return (
    <>
      {projectId !== undefined && (
        <div class="tm-settings-bar">
          <p class="tm-muted">Only runs of one project are listed.</p>
          <Button size="s" onClick={() => setQuery({ project_id: undefined }, { replace: true })}>
            Show all projects
          </Button>
        </div>
      )}
      <DeletedList kind="runs" path={`/runs?deleted=true${filter}`} />
    </>
  );
}

/** Deleted projects. */
export function DeletedProjects() {
  return <DeletedList kind="projects" path="/projects?deleted=true" />;
}

/** A list of what was deleted, in which some or all can be selected and restored. */
function DeletedList({ kind, path }: { readonly kind: "runs" | "projects"; readonly path: string }) {
  const word = kind === "runs" ? "run" : "project";
  const [rows, setRows] = useState<readonly Deleted[]>();
  const [hasMore, setMore] = useState(false);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<unknown>();
  const read = (before: readonly Deleted[]): void => {
    setFault(undefined);
    call<Readonly<Record<string, readonly Deleted[]>>>(`${path}&limit=${ROWS}&offset=${before.length}`).then(
      (answer) => {
        const page = answer[kind] ?? [];
        setRows([...before, ...page]);
        setMore(page.length === ROWS);
      },
      setFault,
    );
  };
  useEffect(() => read([]), []);
  const restore = async (some: readonly Deleted[]): Promise<void> => {
    setBusy(true);
    const worked = await deleteOrRestore(
      kind,
      some.map(({ id }) => id),
      "restore",
    );
    setBusy(false);
    const isLeft = ({ id }: Deleted): boolean => !worked.ids.includes(id);
    setRows((before) => before?.filter(isLeft));
    setSelected(new Set());
    const failed = some.filter(isLeft);
    if (worked.ids.length > 0)
      toast(some.length === 1 ? `Restored ${some[0]!.name}.` : `Restored ${counted(worked.ids.length, word)}.`);
    if (failed.length > 0)
      toast(`${counted(failed.length, word)} could not be restored. ${faultOf(worked.fault).text}`, { kind: "bad" });
  };
  const listed = rows ?? [];
  const chosen = listed.filter(({ id }) => selected.has(id));
  const toggle = (id: string, isOn: boolean): void => {
    const next = new Set(selected);
    if (isOn) next.add(id);
    else next.delete(id);
    setSelected(next);
  };
  return (
    <>
      <ErrorNote error={fault} onRetry={() => read(listed)} />
      {rows === undefined && fault === undefined && <Skeleton lines={4} height="28px" />}
      {rows?.length === 0 && <EmptyState icon="trash" title={`No deleted ${word}s`} />}
      {listed.length > 0 && (
        <>
          <div class="tm-settings-bar">
            <Checkbox
              label={chosen.length === 0 ? `Select all ${counted(listed.length, word)}` : `${chosen.length} selected`}
              checked={chosen.length === listed.length}
              mixed={chosen.length > 0 && chosen.length < listed.length}
              onChange={(isOn) => setSelected(new Set(isOn ? listed.map(({ id }) => id) : []))}
            />
            <Button kind="primary" busy={isBusy} disabled={chosen.length === 0} onClick={() => void restore(chosen)}>
              Restore selected
            </Button>
          </div>
          <DataTable
            label={`Deleted ${word}s`}
            columns={[
              "Select",
              "Name",
              ...(kind === "runs" ? ["Project"] : []),
              "Deleted",
              "Removed for good",
              "Actions",
            ]}
          >
            {listed.map((row) => (
              <tr key={row.id}>
                <td>
                  <Checkbox
                    label={`Select ${row.name}`}
                    hideLabel
                    checked={selected.has(row.id)}
                    onChange={(isOn) => toggle(row.id, isOn)}
                  />
                </td>
                <th scope="row">{row.name === "" ? row.id : row.name}</th>
                {row.project !== undefined && <td>{row.project}</td>}
                <td>
                  <Time at={row.deleted_at} />
                </td>
                <td>
                  <Time at={row.purge_after} />
                </td>
                <td>
                  <Button size="s" icon="undo" aria-label={`Restore ${row.name}`} onClick={() => void restore([row])}>
                    Restore
                  </Button>
                </td>
              </tr>
            ))}
          </DataTable>
        </>
      )}
      {hasMore && <Button onClick={() => read(listed)}>Show more</Button>}
    </>
  );
}
