// `npm run torture`: every damage of the list on every specimen of a journal, or a share of them, one after the other.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createRandom } from '../../src/lib/random.ts'
import { listDamages } from './damages.ts'
import { makeSpecimens, type Specimen } from './specimen.ts'
import { torture } from './torture.ts'

const HELP = `npm run torture -- [--one-in N] [--seed TEXT]

Journals in a file that ended in different ways are damaged: each truncation and each flipped byte of what the last
records touched, blocks that are zeroed, doubled, stale or garbled, and a sample of flips over the rest. None may open as
anything but what was written. A journal on PostgreSQL, and copies between the two, are not among them: their
tests damage rows (test/journal/postgres/, test/journal/copy/). All of it takes half an hour and more.

  --one-in N   tries one in N of the damages, drawn at random (default 1: all)
  --seed TEXT  draws other damages, and other bytes (default 1)
`

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    'one-in': { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
})
const oneIn = Number(values['one-in'])
if (values.help || !Number.isInteger(oneIn) || oneIn < 1) {
  console.log(HELP)
  process.exit(values.help ? 0 : 64)
}
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
  const random = createRandom(`share ${values.seed} ${specimen.name}`)
  const damages = listDamages(specimen, values.seed).filter(() => random.integer(oneIn) === 0)
  for (const damage of damages) {
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
