import type { BitMasks } from "./bit-masks.ts";
import type { Scan, ScanContext } from "./bit-scan.ts";
import { mayRun, readRuns, resetRuns } from "./run-counters.ts";

/** Adds to the words of `out` what can follow the exceptional positions of word `word`, of which those in `rest` are live. */
function addExceptions(out: Int32Array, { blockOf, followers }: BitMasks, word: number, exceptions: number): void {
  for (let rest = exceptions, block = word * 4; rest !== 0; rest >>>= 8, block++) {
    const own = blockOf[block]! + ((rest & 255) << 3);
    for (let i = 0; i < 8; i++) out[i]! |= followers[own + i]!;
  }
}

/** For sets of up to eight words; as the scan of four, but with no distance built in. */
export function createScanOfEight(masks: BitMasks, { accept, entering, runs }: ScanContext): Scan {
  const special = accept | entering;
  const extra = new Int32Array(8);
  return (live, classes, length, at) => {
    const { stay, step, leaps, distances, groups, groupFollowers, exceptional, reach, restart } = masks;
    const k0 = stay[0]!;
    const k1 = stay[1]!;
    const k2 = stay[2]!;
    const k3 = stay[3]!;
    const k4 = stay[4]!;
    const k5 = stay[5]!;
    const k6 = stay[6]!;
    const k7 = stay[7]!;
    const s0 = step[0]!;
    const s1 = step[1]!;
    const s2 = step[2]!;
    const s3 = step[3]!;
    const s4 = step[4]!;
    const s5 = step[5]!;
    const s6 = step[6]!;
    const s7 = step[7]!;
    const e0 = exceptional[0]!;
    const e1 = exceptional[1]!;
    const e2 = exceptional[2]!;
    const e3 = exceptional[3]!;
    const e4 = exceptional[4]!;
    const e5 = exceptional[5]!;
    const e6 = exceptional[6]!;
    const e7 = exceptional[7]!;
    const r0 = restart[0]!;
    const r1 = restart[1]!;
    const r2 = restart[2]!;
    const r3 = restart[3]!;
    const r4 = restart[4]!;
    const r5 = restart[5]!;
    const r6 = restart[6]!;
    const r7 = restart[7]!;
    let a = live[0]!;
    let b = live[1]!;
    let c = live[2]!;
    let d = live[3]!;
    let e = live[4]!;
    let f = live[5]!;
    let g = live[6]!;
    let h = live[7]!;
    let counting = mayRun(runs, at);
    for (let i = 0; i < length; i++) {
      const cls = classes[i]!;
      const sa = a & s0;
      const sb = b & s1;
      const sc = c & s2;
      const sd = d & s3;
      const se = e & s4;
      const sf = f & s5;
      const sg = g & s6;
      const sh = h & s7;
      let na = r0 | (a & k0) | (sa << 1);
      let nb = r1 | (b & k1) | (sb << 1) | (sa >>> 31);
      let nc = r2 | (c & k2) | (sc << 1) | (sb >>> 31);
      let nd = r3 | (d & k3) | (sd << 1) | (sc >>> 31);
      let ne = r4 | (e & k4) | (se << 1) | (sd >>> 31);
      let nf = r5 | (f & k5) | (sf << 1) | (se >>> 31);
      let ng = r6 | (g & k6) | (sg << 1) | (sf >>> 31);
      let nh = r7 | (h & k7) | (sh << 1) | (sg >>> 31);
      for (let more = 0, own = 0; more < distances.length; more++, own += 8) {
        const far = distances[more]!;
        const rest = 32 - far;
        const fa = a & leaps[own]!;
        const fb = b & leaps[own + 1]!;
        const fc = c & leaps[own + 2]!;
        const fd = d & leaps[own + 3]!;
        const fe = e & leaps[own + 4]!;
        const ff = f & leaps[own + 5]!;
        const fg = g & leaps[own + 6]!;
        const fh = h & leaps[own + 7]!;
        na |= fa << far;
        nb |= (fb << far) | (fa >>> rest);
        nc |= (fc << far) | (fb >>> rest);
        nd |= (fd << far) | (fc >>> rest);
        ne |= (fe << far) | (fd >>> rest);
        nf |= (ff << far) | (fe >>> rest);
        ng |= (fg << far) | (ff >>> rest);
        nh |= (fh << far) | (fg >>> rest);
      }
      for (let own = 0; own < groups.length; own += 8) {
        const some =
          (a & groups[own]!) |
          (b & groups[own + 1]!) |
          (c & groups[own + 2]!) |
          (d & groups[own + 3]!) |
          (e & groups[own + 4]!) |
          (f & groups[own + 5]!) |
          (g & groups[own + 6]!) |
          (h & groups[own + 7]!);
        if (some === 0) continue;
        na |= groupFollowers[own]!;
        nb |= groupFollowers[own + 1]!;
        nc |= groupFollowers[own + 2]!;
        nd |= groupFollowers[own + 3]!;
        ne |= groupFollowers[own + 4]!;
        nf |= groupFollowers[own + 5]!;
        ng |= groupFollowers[own + 6]!;
        nh |= groupFollowers[own + 7]!;
      }
      if (((a & e0) | (b & e1) | (c & e2) | (d & e3) | (e & e4) | (f & e5) | (g & e6) | (h & e7)) !== 0) {
        extra[0] = na;
        extra[1] = nb;
        extra[2] = nc;
        extra[3] = nd;
        extra[4] = ne;
        extra[5] = nf;
        extra[6] = ng;
        extra[7] = nh;
        if ((a & e0) !== 0) addExceptions(extra, masks, 0, a & e0);
        if ((b & e1) !== 0) addExceptions(extra, masks, 1, b & e1);
        if ((c & e2) !== 0) addExceptions(extra, masks, 2, c & e2);
        if ((d & e3) !== 0) addExceptions(extra, masks, 3, d & e3);
        if ((e & e4) !== 0) addExceptions(extra, masks, 4, e & e4);
        if ((f & e5) !== 0) addExceptions(extra, masks, 5, f & e5);
        if ((g & e6) !== 0) addExceptions(extra, masks, 6, g & e6);
        if ((h & e7) !== 0) addExceptions(extra, masks, 7, h & e7);
        na = extra[0]!;
        nb = extra[1]!;
        nc = extra[2]!;
        nd = extra[3]!;
        ne = extra[4]!;
        nf = extra[5]!;
        ng = extra[6]!;
        nh = extra[7]!;
      }
      const own = cls << 3;
      a = na & reach[own]!;
      b = nb & reach[own + 1]!;
      c = nc & reach[own + 2]!;
      d = nd & reach[own + 3]!;
      e = ne & reach[own + 4]!;
      f = nf & reach[own + 5]!;
      g = ng & reach[own + 6]!;
      h = nh & reach[own + 7]!;
      if (counting || (a & special) !== 0) {
        if ((a & accept) !== 0) return true;
        if (!counting) resetRuns(runs, at + i);
        a |= readRuns(runs, cls, at + i, a & entering);
        // To go on counting for a while does no harm.
        counting = (i & 63) !== 0 || mayRun(runs, at + i);
      }
    }
    live.set([a, b, c, d, e, f, g, h]);
    return false;
  };
}
