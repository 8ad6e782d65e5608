export { gatewayModule } from "./module.ts";
