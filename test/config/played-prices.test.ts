import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { withRecorded } from '../../src/assembly/instruments/played-request.ts'
import { readConfig } from '../../src/config/load-config.ts'
import { loadSimulatorConfig } from '../../src/config/load-simulator-config.ts'
import { writeRisk, writeStrategy } from '../support/made-limits.ts'

const directory = mkdtempSync(join(tmpdir(), 'wt-market-played-'))
afterAll(() => rmSync(directory, { recursive: true }))

const INSTRUMENT = '{ tickSize: "0.1", lotSize: "0.001", minSize: "0.001", minNotional: "5" }'

function write(name: string, text: string): string {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}

const main = write(
  'main.yaml',
  `name: own
environment: simulator
account: { productType: USDT-FUTURES, marginCoin: USDT, marginMode: crossed, positionMode: one_way_mode }
instruments: { SOLUSDT: ${INSTRUMENT} }
${writeRisk()}state: { directory: state }
simulator: { seed: 1, startingBalance: "10000", market: {} }
strategies: [s.yaml]
`,
)
write('s.ts', '')
write('s.yaml', writeStrategy({ id: 's', module: 's.ts', instruments: ['SOLUSDT'] }))
const prices = write(
  'SOLUSDT-1m.csv',
  'ts_ms,open,high,low,close,volume\n1748822400000,1,1,1,1,1\n',
)

const messages = async (market: readonly string[]): Promise<readonly string[]> => {
  const request = await withRecorded({ file: main, cwd: directory }, { market })
  return readConfig(request).problems.map(({ message }) => message)
}

test('an instrument whose file is given needs no start price', async () => {
  expect(await messages([prices])).toEqual([])
  expect(await messages([`SOLUSDT=${prices}`])).toEqual([])
})

test.each([[[]], [['seeded']]])('without a file (%j) it needs one', async (market) => {
  expect(await messages(market)).toEqual([
    'SOLUSDT has neither a start price nor a recording: write simulator.market.startPrices.SOLUSDT, give its prices with --market, or take it out of instruments',
  ])
})

test('a command that plays nothing asks for no prices', () => {
  expect(readConfig({ file: main, cwd: directory }).problems).toEqual([])
})

test('simulate takes the file in place of a start price, too', async () => {
  const file = write(
    'simulator.yaml',
    `seed: 1
market: {}
instruments: { SOLUSDT: ${INSTRUMENT} }
accounts: [{ name: a, productType: USDT-FUTURES, marginCoin: USDT, marginMode: crossed, positionMode: one_way_mode, startingBalance: "100" }]
`,
  )
  const request = { file, cwd: directory }

  expect(
    loadSimulatorConfig(await withRecorded(request, { market: [prices] })).instruments,
  ).toHaveProperty('SOLUSDT')
  const without = await withRecorded(request, { market: [] })
  expect(() => loadSimulatorConfig(without)).toThrow('neither a start price nor a recording')
})
