const DISTANCE_MAX = 3

/** The table grows with the product of the lengths. */
const LENGTH_MAX = 64

export function didYouMean(word: string, known: readonly string[]): string | undefined {
  if (word.length > LENGTH_MAX) return undefined
  const wanted = word.toLowerCase()
  let best: string | undefined
  let bestDistance = Math.min(DISTANCE_MAX, Math.floor(word.length / 2)) + 1
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

export function didYouMeanEnd(word: string, known: readonly string[]): string {
  const guess = didYouMean(word, known)
  return guess === undefined ? '' : `; did you mean ${guess}?`
}

function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const replaced = from[row - 1] === to[column - 1] ? 0 : 1
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + replaced,
      )
      const isSwap =
        row > 1 &&
        column > 1 &&
        from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1]
      if (isSwap) cost = Math.min(cost, at(beforeLast, column - 2) + 1)
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return at(last, to.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? 0
