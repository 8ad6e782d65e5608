import { planOf, type Plans } from "@tidemark/plans";
import type { RateClass } from "../route.ts";
import type { Rate } from "./token-bucket.ts";

/**
 * The rate of a class of routes under a plan; an unknown plan counts as the smallest. Ingest bursts
 * are five seconds of its rate, within the general burst. Stop polling has a floor, so that even
 * the smallest plan can watch many runs.
 */
export function rateOf(plans: Plans, planTier: string, rateClass: Exclude<RateClass, "none">): Rate {
  const plan = planOf(plans, planTier);
  switch (rateClass) {
    case "general":
      return { perSecond: plan.rate_limit_rps, burst: plan.rate_limit_burst };
    case "ingest":
    case "import":
      return {
        perSecond: plan.ingest_rate_limit_rps,
        burst: Math.max(1, Math.min(5 * plan.ingest_rate_limit_rps, plan.rate_limit_burst)),
      };
    case "control_poll":
      return { perSecond: Math.max(10, plan.rate_limit_rps), burst: Math.max(100, plan.rate_limit_burst) };
  }
}
