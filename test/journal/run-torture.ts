// `npm run torture`: every damage of the list on every specimen of a journal, one after the other.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { listDamages } from './damages.ts'
import { makeSpecimens, type Specimen } from './specimen.ts'
import { torture } from './torture.ts'

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' } } })
const folder = mkdtempSync(join(tmpdir(), 'torture-'))
try {
  mkdirSync(join(folder, 'damaged'))
  const wrong = makeSpecimens(join(folder, 'made')).map(tortureWhole)
  process.exitCode = wrong.some((count) => count > 0) ? 1 : 0
} finally {
  rmSync(folder, { recursive: true })
}

/** Prints one line a specimen, and each wrong verdict; how many there were. */
function tortureWhole(specimen: Specimen): number {
  const counts = new Map<string, number>()
  for (const damage of listDamages(specimen, values.seed)) {
    const verdict = torture(specimen, damage, join(folder, 'damaged'))
    const name = verdict.kind === 'refused' ? verdict.code : verdict.kind
    counts.set(name, (counts.get(name) ?? 0) + 1)
    if (verdict.kind !== 'wrong') continue
    console.log(`  WRONG ${damage.file} ${damage.what} at ${damage.offset}: ${verdict.why}`)
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const table = [...counts].map(([name, count]) => `${name} ${count}`)
  console.log(`${specimen.name}: ${total} damages: ${table.join(', ')}`)
  return counts.get('wrong') ?? 0
}
