export { ingestModule, ingestReadModule } from "./module.ts";
