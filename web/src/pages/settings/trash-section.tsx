import { currentLocation, setQuery } from "../../app/location.tsx";
import { TabPanel, Tabs } from "../../ui/tabs.tsx";
import { DeletedProjects, DeletedRuns } from "./deleted-things.tsx";

const TABS = [
  { id: "runs", label: "Runs" },
  { id: "projects", label: "Projects" },
] as const;

/** Deleted items and can be restored: runs, of all projects or of one that the address names, and projects. */
export function TrashSection() {
  const { query } = currentLocation.value;
  const projectId = query.get("project_id") ?? undefined;
  const tab = query.get("tab") === "projects" ? "projects" : "runs";
  return (
    <>
      <p class="tm-muted">
        Deleted items can be restored until the time in the table, and are then removed for good. A project is restored
        with its runs.
      </p>
      <Tabs
        name="trash"
        label="Deleted items"
        tabs={TABS}
        current={tab}
        onSelect={(id) => setQuery({ tab: id === "runs" ? undefined : id, project_id: undefined }, { replace: true })}
      />
      <TabPanel name="trash" current={tab}>
        <div class="tm-settings-part">
          {tab === "runs" ? <DeletedRuns key={projectId} projectId={projectId} /> : <DeletedProjects />}
        </div>
      </TabPanel>
    </>
  );
}
