// Charts of a project that few look at first, as one file of the bundle.
import "../shared-chunk.ts";
import "../../charts/index.ts";

export { ColumnCharts } from "./by-column/column-charts.tsx";
export { ProjectPanels } from "./panels/project-panels.tsx";
