// One part of the bundle.
import "./shared-chunk.ts";
export { ReportPage } from "./reports/report-page.tsx";
export { ReportsPage } from "./reports/reports-page.tsx";
export { SharedReportPage } from "./reports/shared-report-page.tsx";
