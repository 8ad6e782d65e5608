export { importsExportModule } from "./module.ts";
