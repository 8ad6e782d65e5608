import { runProcess } from "@tidemark/host";
import { gatewayModule } from "./module.ts";

await runProcess({ name: "gateway", modules: [gatewayModule], alsoKnown: [] });
