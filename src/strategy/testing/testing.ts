import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { SeriesDecision } from './run-series.ts'

export { runSeries } from './run-series.ts'
export type { SeriesDecision, SeriesOptions, TestCandle, TestInstrument } from './run-series.ts'

/**
 * The file has a line for each decision that said something. A missing file is written; to accept
 * another run, remove it. @throws Error with the first line that differs
 */
export function matchGolden(file: string, decisions: readonly SeriesDecision[]): void {
  const lines = decisions
    .filter(({ intents, denials }) => intents.length + denials.length > 0)
    .map(({ at, price, intents, denials }) => {
      const said = {
        at: new Date(at).toISOString(),
        price,
        intents,
        ...(denials.length > 0 && { denials }),
      }
      return JSON.stringify(said)
    })
  const text = `${lines.join('\n')}\n`
  if (!existsSync(file)) return writeFileSync(file, text)
  const kept = readFileSync(file, 'utf8').split('\n')
  const found = text.split('\n')
  const index = found.findIndex((line, at) => line !== kept[at])
  if (index < 0 && found.length === kept.length) return
  const place = index < 0 ? found.length : index
  throw new Error(
    `line ${place + 1} of ${file} says otherwise\n  kept   ${kept[place] ?? '(nothing)'}\n  found  ${found[place] ?? '(nothing)'}`,
  )
}
