import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Instrument, InstrumentSteps } from '../../domain/instrument.ts'
import { writeDurably } from '../../lib/durable-file.ts'
import { createGrid } from '../../lib/grid.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

const GRIDS_FILE = 'instruments.json'

/** Journal entries of former instruments can then be shown in their coin. */
export function keepGrids(
  directory: string,
  configured: ReadonlyMap<string, Instrument>,
): ReadonlyMap<string, InstrumentSteps> {
  const file = join(directory, GRIDS_FILE)
  const before = readSteps(file)
  const steps = new Map(before)
  for (const [symbol, { tick, lot }] of configured)
    steps.set(symbol, { tick: tick.step, lot: lot.step })
  const text = JSON.stringify(Object.fromEntries(steps))
  if (text !== JSON.stringify(Object.fromEntries(before))) attempt(() => writeDurably(file, text))
  const grids = [...steps].map(
    ([symbol, { tick, lot }]) =>
      [symbol, { tick: createGrid(tick), lot: createGrid(lot) }] as const,
  )
  return new Map(grids)
}

function readSteps(file: string): readonly (readonly [string, { tick: string; lot: string }])[] {
  try {
    const read = parseBoundedJson(readFileSync(file, 'utf8')) as Record<
      string,
      { tick: string; lot: string }
    >
    // Throws here if the steps are invalid.
    for (const { tick, lot } of Object.values(read))
      for (const step of [tick, lot]) createGrid(step)
    return Object.entries(read)
  } catch {
    return []
  }
}

/** A full disk does not matter for configured instruments. */
function attempt(work: () => void): void {
  try {
    work()
  } catch {}
}
