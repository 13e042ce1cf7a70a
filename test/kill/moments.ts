/** When a command is killed: so many milliseconds after something has happened. */
export interface Moment {
  /** `spawn` of the command; `start` and `end` of the run tool, as the tool itself tells. */
  readonly after: 'spawn' | 'start' | 'end';
  readonly ms: number;
}

/** How long an undisturbed run takes; milliseconds. */
export interface Timeline {
  /** From the spawn of the command to the start of the run tool. */
  readonly untilStart: number;
  /** From there to its end. */
  readonly running: number;
  /** From there to the end of the command. */
  readonly settling: number;
}

/** Numbers from 0 to below 1 that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Spread over the whole life of a run: the first 300 ms, the way to the start, the run, and most of all its end, where outputs
 * travel and the record is written. The moments are bound to what happens, so a busy machine does not push them off.
 */
export function drawMoment({ untilStart, running, settling }: Timeline, random: () => number): Moment {
  const part = random();
  const within = (from: number, to: number): number => Math.round(from + random() * Math.max(1, to - from));
  if (part < 0.15) return { after: 'spawn', ms: within(0, 300) };
  if (part < 0.35) return { after: 'spawn', ms: within(300, untilStart) };
  if (part < 0.55) return { after: 'start', ms: within(0, running) };
  return { after: 'end', ms: within(0, settling) };
}
