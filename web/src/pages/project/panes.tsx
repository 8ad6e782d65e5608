import type { ComponentChildren } from "preact";
import { TabPanel, Tabs } from "../../ui/tabs.tsx";
import { Split } from "./split.tsx";
import { useIsNarrow } from "../../ui/use-is-narrow.ts";
import type { View } from "./view/use-view.ts";

/** The table next to the charts; on phones, one of them at a time. */
export function Panes({
  view: { state, change },
  table,
  charts,
}: {
  readonly view: View;
  readonly table: ComponentChildren;
  readonly charts: ComponentChildren;
}) {
  const isNarrow = useIsNarrow();
  if (!isNarrow) {
    return (
      <Split
        percent={state.split}
        onChange={(split) => change({ split }, { replace: true })}
        start={table}
        end={charts}
      />
    );
  }
  return (
    <>
      <Tabs
        name="project"
        label="Parts of the project"
        tabs={[
          { id: "table", label: "Table" },
          { id: "charts", label: "Charts" },
        ]}
        current={state.tab}
        onSelect={(tab) => change({ tab }, { replace: true })}
      />
      <TabPanel name="project" current={state.tab}>
        {state.tab === "table" ? table : charts}
      </TabPanel>
    </>
  );
}
