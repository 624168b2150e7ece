/**
 * Finds a smallest failing list by delta debugging (Zeller and Hildebrandt, "Simplifying and
 * isolating failure-inducing input", 2002): ever smaller runs of items are removed while it still
 * fails. The result is 1-minimal: it does not fail without any single item, unless `fails` gave up.
 */
export function minimise<Item>(
  items: readonly Item[],
  fails: (kept: readonly Item[]) => boolean,
): readonly Item[] {
  if (items.length === 0 || fails([])) return []
  let kept = items
  for (let size = Math.ceil(kept.length / 2); ; size = Math.max(1, size >> 1)) {
    const before = kept.length
    kept = takeOut(kept, size, fails)
    if (size === 1 && kept.length === before) return kept
  }
}

function takeOut<Item>(
  items: readonly Item[],
  size: number,
  fails: (kept: readonly Item[]) => boolean,
): readonly Item[] {
  let kept = items
  for (let start = 0; start < kept.length;) {
    const without = [...kept.slice(0, start), ...kept.slice(start + size)]
    // The empty list was tried.
    if (without.length > 0 && fails(without)) kept = without
    else start += size
  }
  return kept
}
