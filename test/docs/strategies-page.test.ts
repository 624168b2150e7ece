import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createRandom } from '../../src/lib/random.ts'
import { loadStrategy } from '../../src/strategy/load-strategy.ts'
import { InstrumentView } from '../../src/strategy/instrument-view.ts'
import { SnapshotView } from '../../src/strategy/snapshot-view.ts'
import { runSeries } from '../../src/strategy/testing/testing.ts'

const PAGE = readFileSync(new URL('../../docs/strategies.md', import.meta.url), 'utf8')
const directory = mkdtempSync(join(tmpdir(), 'intentd-page-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** The strategy of that name on the page. */
async function loadExample(name: string) {
  const blocks = [...PAGE.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code)
  const code = blocks.find((block) => block.includes(`name: '${name}'`))
  const file = join(directory, `${name}.mts`)
  writeFileSync(file, code ?? '')
  return loadStrategy(file)
}

const random = createRandom('page')
const prices = Array.from({ length: 600 }, () => 60_000 + random.integer(200))

test('the market maker of the page quotes both sides, and one where it holds as much as it may', async () => {
  const strategy = await loadExample('maker')
  const decisions = runSeries({
    strategy,
    params: { size: '0.01', lotsMax: 50, widthMin: 5 },
    prices,
  })
  const last = decisions.at(-1)?.intents[0]
  expect(last).toMatchObject({ kind: 'quote', levels: [{ side: 'buy' }, { side: 'sell' }] })
  expect(decisions.every(({ denials }) => denials.length === 0)).toBe(true)
})

test('the funding tilt of the page is short in the hour before longs pay, and flat else', async () => {
  const strategy = await loadExample('funding')
  const columns = { fundingRate: 0.001 }
  const decisions = runSeries({
    strategy,
    params: { size: '0.01', rateMin: 0.0005 },
    prices,
    columns,
  })
  const lotsAt = (minute: number) =>
    decisions.find(({ at }) => at === Date.UTC(2024, 0, 1) + minute * 60_000)?.intents[0]
  expect(lotsAt(419)).toMatchObject({ lots: 0 })
  expect(lotsAt(421)).toMatchObject({ lots: -10 })
  expect(lotsAt(481)).toMatchObject({ lots: 0 })
})

test('the page names every property of what a strategy is shown', () => {
  const inner = new Set(['constructor', 'pointAt'])
  const shown = [InstrumentView, SnapshotView].flatMap((view) =>
    Object.getOwnPropertyNames(view.prototype),
  )
  const missing = shown.filter(
    (name) => !inner.has(name) && !new RegExp(`\\b${name}\\b`).test(PAGE),
  )
  expect(missing).toEqual([])
})
