import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRandom } from '../../src/lib/random.ts'
import { IS_WHOLE } from '../support/share.ts'
import { listDamages } from './damages.ts'
import { LAST_RECORDS, makeSpecimens, type Specimen } from './specimen.ts'
import { torture, type Verdict } from './torture.ts'

/** Of each specimen; `npm run torture` tries every one. */
const SAMPLE = IS_WHOLE ? 250 : 100

let folder: string
let specimens: readonly Specimen[]

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'torture-'))
  specimens = makeSpecimens(join(folder, 'made'))
  mkdirSync(join(folder, 'damaged'))
})

afterAll(() => rmSync(folder, { recursive: true }))

function verdictsOn(specimen: Specimen | undefined): readonly Verdict[] {
  if (!specimen) throw new Error('no such specimen')
  const damages = listDamages(specimen, 'sample')
  const random = createRandom(`sample of ${specimen.name}`)
  return Array.from({ length: SAMPLE }, () => {
    const damage = damages[random.integer(damages.length)]
    if (!damage) throw new Error('unreachable: the list is long')
    const verdict = torture(specimen, damage, join(folder, 'damaged'))
    if (verdict.kind !== 'wrong') return verdict
    throw new Error(
      `${specimen.name}, ${damage.file} ${damage.what} at ${damage.offset}: ${verdict.why}`,
    )
  })
}

test.each([
  ['was killed', 0],
  ['was closed', 1],
])(
  '[ORD5] a journal that %s and damaged: everything that was acknowledged, or a refusal',
  (_, index) => {
    const verdicts = verdictsOn(specimens[index])

    const kinds = new Set(verdicts.map(({ kind }) => kind))
    expect([...kinds].toSorted()).toEqual(['refused', 'whole'])
  },
)

test('[ORD5] a journal that was cut off with its mark: an exact prefix down to the mark, or a refusal', () => {
  const specimen = specimens[2]
  const verdicts = verdictsOn(specimen)

  const lengths = verdicts.flatMap((verdict) =>
    verdict.kind === 'prefix' ? [verdict.records] : [],
  )
  expect(Math.min(...lengths)).toBe((specimen?.history.length ?? 0) - LAST_RECORDS)
})

test('[ORD5] a lost tail is refused however its mark is damaged', () => {
  const killed = specimens[0]
  if (!killed) throw new Error('no such specimen')
  const lost: Specimen = { ...killed, after: { ...killed.before, mark: killed.after.mark } }
  const ofMark = listDamages(lost, 'mark').filter(({ file }) => file === 'mark')

  const kinds = new Set(ofMark.map((damage) => torture(lost, damage, join(folder, 'damaged')).kind))

  expect([...kinds]).toEqual(['refused'])
})

test('[ORD5] packed records of which any byte is wrong: everything else is there, and who reads them is refused', () => {
  const closed = specimens[1]
  if (!closed) throw new Error('no such specimen')
  const [start, end] = packedBytes(join(folder, 'made', 'closed.sqlite'), closed.after.main)
  const flips = listDamages(closed, 'packed').filter(
    ({ file, offset, what }) =>
      file === 'main' && offset >= start && offset < end && what.startsWith('flipped'),
  )

  const sample = flips.filter((_, index) => index % 4 === 0)
  const verdicts = sample.map((damage) => torture(closed, damage, join(folder, 'damaged')))

  expect(sample.length).toBeGreaterThan(40)
  const refused = { kind: 'refused', code: 'JOURNAL_CORRUPT, when records were read' }
  expect(verdicts.filter((verdict) => !isDeepStrictEqual(verdict, refused))).toEqual([])
})

/** Where the block of the specimen stands in its file. */
function packedBytes(file: string, main: Buffer): readonly [start: number, end: number] {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const body = Buffer.from(
      database.prepare('SELECT body FROM record_blocks').get()?.['body'] as Uint8Array,
    )
    const start = main.indexOf(body)
    if (start < 0) throw new Error('the block goes over several pages')
    return [start, start + body.length]
  } finally {
    database.close()
  }
}
