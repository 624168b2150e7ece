import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Instrument, InstrumentSteps } from '../../domain/instrument.ts'
import { writeDurably } from '../../lib/durable-file.ts'
import { createGrid } from '../../lib/grid.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

const GRIDS_FILE = 'instruments.json'

/** With these, journal entries of former instruments are shown in coins. */
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
  return toGrids(steps)
}

export function readGrids(directory: string): ReadonlyMap<string, InstrumentSteps> {
  return toGrids(readSteps(join(directory, GRIDS_FILE)))
}

function toGrids(
  steps: Iterable<readonly [string, { readonly tick: string; readonly lot: string }]>,
): ReadonlyMap<string, InstrumentSteps> {
  return new Map(
    [...steps].map(([symbol, { tick, lot }]) => [
      symbol,
      { tick: createGrid(tick), lot: createGrid(lot) },
    ]),
  )
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

/** On a full disk nothing is kept; configured instruments do not need it. */
function attempt(work: () => void): void {
  try {
    work()
  } catch {}
}
