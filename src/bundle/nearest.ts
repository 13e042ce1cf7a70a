const LONGEST_WORD = 64;
const MOST_CANDIDATES = 500;

/** The candidate that `word` is most likely a slip of: at most two letters away, or the same but for case. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LONGEST_WORD) return undefined;
  const allowed = Math.min(2, Math.floor(word.length / 3));
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  let looked = 0;
  for (const candidate of candidates) {
    if (++looked > MOST_CANDIDATES) break;
    if (candidate === word || candidate.length > LONGEST_WORD) continue;
    const distance = candidate.toLowerCase() === word.toLowerCase() ? 0 : editDistance(word, candidate);
    if (distance <= allowed && (best === undefined || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate;
}

/** Letters to insert, delete, replace or swap with the next (optimal string alignment). */
function editDistance(left: string, right: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const current = [i];
    for (let j = 1; j <= right.length; j++) {
      const cost = left[i - 1] === right[j - 1] ? 0 : 1;
      let least = Math.min((previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1, (previous[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        least = Math.min(least, (beforePrevious[j - 2] ?? 0) + 1);
      }
      current.push(least);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[right.length] ?? 0;
}
