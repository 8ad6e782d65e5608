import type { BitMasks } from "./bit-masks.ts";
import type { Scan, ScanContext } from "./bit-scan.ts";
import { mayRun, readRuns, resetRuns } from "./run-counters.ts";

/**
 * For sets of up to four words, with one distance built in. Everything that a step needs is a local variable, for that
 * is three times as fast as arrays: the words stay in registers.
 */
export function createScanOfFour(masks: BitMasks, { accept, entering, runs }: ScanContext): Scan {
  const special = accept | entering;
  return (live, classes, length, at) => {
    const { stay, step, leaps, distances, groups, groupFollowers, exceptional, blockOf, followers, reach, restart } =
      masks;
    const near = distances[0] ?? 2;
    const back = 32 - near;
    const k0 = stay[0]!;
    const k1 = stay[1]!;
    const k2 = stay[2]!;
    const k3 = stay[3]!;
    const s0 = step[0]!;
    const s1 = step[1]!;
    const s2 = step[2]!;
    const s3 = step[3]!;
    const l0 = leaps[0] ?? 0;
    const l1 = leaps[1] ?? 0;
    const l2 = leaps[2] ?? 0;
    const l3 = leaps[3] ?? 0;
    const e0 = exceptional[0]!;
    const e1 = exceptional[1]!;
    const e2 = exceptional[2]!;
    const e3 = exceptional[3]!;
    const r0 = restart[0]!;
    const r1 = restart[1]!;
    const r2 = restart[2]!;
    const r3 = restart[3]!;
    let a = live[0]!;
    let b = live[1]!;
    let c = live[2]!;
    let d = live[3]!;
    let counting = mayRun(runs, at);
    for (let i = 0; i < length; i++) {
      const cls = classes[i]!;
      const sa = a & s0;
      const sb = b & s1;
      const sc = c & s2;
      const sd = d & s3;
      const la = a & l0;
      const lb = b & l1;
      const lc = c & l2;
      const ld = d & l3;
      let na = r0 | (a & k0) | (sa << 1) | (la << near);
      let nb = r1 | (b & k1) | (sb << 1) | (lb << near) | (sa >>> 31) | (la >>> back);
      let nc = r2 | (c & k2) | (sc << 1) | (lc << near) | (sb >>> 31) | (lb >>> back);
      let nd = r3 | (d & k3) | (sd << 1) | (ld << near) | (sc >>> 31) | (lc >>> back);
      for (let more = 1, own = 4; more < distances.length; more++, own += 4) {
        const far = distances[more]!;
        const rest = 32 - far;
        const fa = a & leaps[own]!;
        const fb = b & leaps[own + 1]!;
        const fc = c & leaps[own + 2]!;
        const fd = d & leaps[own + 3]!;
        na |= fa << far;
        nb |= (fb << far) | (fa >>> rest);
        nc |= (fc << far) | (fb >>> rest);
        nd |= (fd << far) | (fc >>> rest);
      }
      for (let own = 0; own < groups.length; own += 4) {
        const some = (a & groups[own]!) | (b & groups[own + 1]!) | (c & groups[own + 2]!) | (d & groups[own + 3]!);
        if (some === 0) continue;
        na |= groupFollowers[own]!;
        nb |= groupFollowers[own + 1]!;
        nc |= groupFollowers[own + 2]!;
        nd |= groupFollowers[own + 3]!;
      }
      for (let rest = a & e0, block = 0; rest !== 0; rest >>>= 8, block++) {
        const own = blockOf[block]! + ((rest & 255) << 2);
        na |= followers[own]!;
        nb |= followers[own + 1]!;
        nc |= followers[own + 2]!;
        nd |= followers[own + 3]!;
      }
      for (let rest = b & e1, block = 4; rest !== 0; rest >>>= 8, block++) {
        const own = blockOf[block]! + ((rest & 255) << 2);
        na |= followers[own]!;
        nb |= followers[own + 1]!;
        nc |= followers[own + 2]!;
        nd |= followers[own + 3]!;
      }
      for (let rest = c & e2, block = 8; rest !== 0; rest >>>= 8, block++) {
        const own = blockOf[block]! + ((rest & 255) << 2);
        na |= followers[own]!;
        nb |= followers[own + 1]!;
        nc |= followers[own + 2]!;
        nd |= followers[own + 3]!;
      }
      for (let rest = d & e3, block = 12; rest !== 0; rest >>>= 8, block++) {
        const own = blockOf[block]! + ((rest & 255) << 2);
        na |= followers[own]!;
        nb |= followers[own + 1]!;
        nc |= followers[own + 2]!;
        nd |= followers[own + 3]!;
      }
      const own = cls << 2;
      a = na & reach[own]!;
      b = nb & reach[own + 1]!;
      c = nc & reach[own + 2]!;
      d = nd & reach[own + 3]!;
      if (counting || (a & special) !== 0) {
        if ((a & accept) !== 0) return true;
        if (!counting) resetRuns(runs, at + i);
        a |= readRuns(runs, cls, at + i, a & entering);
        // To go on counting for a while does no harm.
        counting = (i & 63) !== 0 || mayRun(runs, at + i);
      }
    }
    live.set([a, b, c, d]);
    return false;
  };
}
