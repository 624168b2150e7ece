import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  keepContracts,
  mergeContracts,
  readKeptContracts,
} from '../../src/config/kept-contracts.ts'
import { readConfig } from '../../src/config/load-config.ts'
import { simulatedContracts } from '../../src/config/known-contracts.ts'
import { formatProblem } from '../../src/config/yaml/problem.ts'
import type { ContractRules, ContractsReading } from '../../src/domain/contract-rules.ts'
import { buildInstruments, sizeText } from '../../src/simulator/futures/instruments/instruments.ts'
import { MAIN, replaceOnce, SIMULATOR_SECTION, Workspace } from './workspace.ts'

const SOURCE = 'http://127.0.0.1:9999'
const BTC: ContractRules = {
  tickSize: '0.5',
  lotSize: '0.0001',
  minSize: '0.0002',
  minNotional: '6',
  fundingHours: 4,
  leverageMax: 50,
}
const ETH: ContractRules = { tickSize: '0.05', lotSize: '0.02', minSize: '0.02', minNotional: '7' }

const WRITTEN = MAIN.slice(MAIN.indexOf('instruments:\n'), MAIN.indexOf('polling:'))
const SYMBOLS = 'instruments: [BTCUSDT, ETHUSDT]\n'
const symbolsAlone = replaceOnce(MAIN, WRITTEN, SYMBOLS)
/** At an exchange in another process, with the second table. */
const remote = replaceOnce(
  symbolsAlone,
  SIMULATOR_SECTION,
  `exchange: { baseUrl: "${SOURCE}/", beyondDocument: true }\n`,
)

const reading = (
  contracts: Readonly<Record<string, ContractRules>>,
  readAt = 1000,
): ContractsReading => ({
  readAt,
  source: SOURCE,
  productType: 'USDT-FUTURES',
  contracts: new Map(Object.entries(contracts)),
})

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

const stateOf = () => join(workspace.directory, '.intentd/paper')
const keep = (given: ContractsReading) => {
  mkdirSync(stateOf(), { recursive: true })
  keepContracts(stateOf(), mergeContracts(readKeptContracts(stateOf()), given, []))
}
const instrumentsOf = (main: string, overrides: readonly string[] = []) => {
  workspace.fill({ 'config/main.yaml': main })
  const { loaded, problems } = workspace.read(overrides)
  return loaded?.config.instruments ?? problems.map(formatProblem)
}

describe('symbols without rules', () => {
  it('get those of the simulator inside the daemon, as a list, without a value, or in part', () => {
    const btc = { tickSize: '0.1', lotSize: '0.001', minSize: '0.001', minNotional: '5' }
    const eth = { tickSize: '0.01', lotSize: '0.01', minSize: '0.01', minNotional: '5' }
    const nothing = 'instruments:\n  BTCUSDT:\n  ETHUSDT: {}\n'
    const part = 'instruments:\n  BTCUSDT: { minNotional: 9, leverage: 3 }\n  ETHUSDT:\n'

    expect(instrumentsOf(symbolsAlone)).toEqual({ BTCUSDT: btc, ETHUSDT: eth })
    expect(instrumentsOf(replaceOnce(MAIN, WRITTEN, nothing))).toEqual({
      BTCUSDT: btc,
      ETHUSDT: eth,
    })
    expect(instrumentsOf(replaceOnce(MAIN, WRITTEN, part))).toEqual({
      BTCUSDT: { ...btc, minNotional: '9', leverage: 3 },
      ETHUSDT: eth,
    })
    expect(instrumentsOf(symbolsAlone, ['instruments.BTCUSDT.tickSize=0.2'])).toMatchObject({
      BTCUSDT: { ...btc, tickSize: '0.2' },
    })
    expect(instrumentsOf(MAIN, ['instruments=[BTCUSDT, ETHUSDT]'])).toMatchObject({ BTCUSDT: btc })
  })

  it('are refused with their place and what to do where nothing knows them', () => {
    const unknown = replaceOnce(symbolsAlone, '[BTCUSDT, ETHUSDT]', '[BTCUSDT, ETHUSDT, SOLUSDT]')
    const closed = remote.replace(', beyondDocument: true', '')

    expect(instrumentsOf(unknown)).toContain(
      'config/main.yaml:8:33 instruments.SOLUSDT: SOLUSDT has no tickSize, lotSize, minSize, minNotional, and the simulator inside the daemon has only BTCUSDT, ETHUSDT of its own: write them',
    )
    expect(instrumentsOf(closed)).toEqual([
      expect.stringMatching(/^config\/main.yaml:8:15 .*set exchange.beyondDocument: true$/),
      expect.stringMatching(/^config\/main.yaml:8:24 instruments.ETHUSDT: /),
    ])
    expect(instrumentsOf(remote)).toEqual([
      expect.stringContaining('no start has read them yet: intentd instruments reads and keeps'),
      expect.stringContaining('instruments.ETHUSDT'),
    ])
    expect(
      instrumentsOf(replaceOnce(MAIN, WRITTEN, 'instruments: [BTCUSDT, BTCUSDT]\n')),
    ).toContain('config/main.yaml:8:24 instruments.BTCUSDT: this key is written twice')
  })

  it('get what was kept; the configuration goes before the exchange, the exchange before that', () => {
    keep(reading({ BTCUSDT: BTC, ETHUSDT: ETH }))
    const { fundingHours, leverageMax: _most, ...btc } = BTC
    expect(instrumentsOf(remote)).toEqual({ BTCUSDT: { ...btc, fundingHours }, ETHUSDT: ETH })

    const now = mergeContracts(
      readKeptContracts(stateOf()),
      reading({ BTCUSDT: { ...BTC, tickSize: '1', minNotional: '8' } }, 2000),
      ['BTCUSDT', 'ETHUSDT'],
    )
    const part = replaceOnce(
      remote,
      SYMBOLS,
      'instruments:\n  BTCUSDT: { tickSize: 2 }\n  ETHUSDT:\n',
    )
    workspace.fill({ 'config/main.yaml': part })
    const file = join(workspace.directory, 'config/main.yaml')
    const contracts = new Map([[file, { before: readKeptContracts(stateOf()), now }]])
    const { loaded } = readConfig({ file, cwd: workspace.directory, contracts })
    expect(loaded?.config.instruments).toEqual({
      BTCUSDT: { ...btc, fundingHours, tickSize: '2', minNotional: '8' },
      ETHUSDT: ETH,
    })
  })

  it('get nothing that was kept of another exchange, and nothing of a broken file', () => {
    keep({ ...reading({ BTCUSDT: BTC, ETHUSDT: ETH }), source: 'https://other.example' })
    expect(instrumentsOf(remote)).toHaveLength(2)

    workspace.write('.intentd/paper/contracts.json', '{"readAt": 1, "contracts": ')
    expect(readKeptContracts(stateOf())).toBeUndefined()
    expect(instrumentsOf(remote)).toHaveLength(2)
  })
})

describe('what is kept', () => {
  it('has a configured contract that is listed no more with its own time, and no unusable rules', () => {
    const first = mergeContracts(
      undefined,
      reading({ BTCUSDT: BTC, ETHUSDT: ETH, OLDUSDT: ETH }),
      [],
    )
    const next = reading({ BTCUSDT: BTC, BADUSDT: { ...ETH, tickSize: '0' } }, 2000)
    const kept = mergeContracts(first, next, ['BTCUSDT', 'ETHUSDT'])

    keep(reading({}))
    keepContracts(stateOf(), kept)

    expect(readKeptContracts(stateOf())).toEqual(kept)
    expect([...kept.contracts].map(([symbol, { readAt }]) => [symbol, readAt])).toEqual([
      ['ETHUSDT', 1000],
      ['BTCUSDT', 2000],
    ])
  })
})

describe('the rules of the simulator inside the daemon', () => {
  it('are those of its perpetual contracts', () => {
    const listed = buildInstruments()
    const types = [...new Set(listed.map(({ productType }) => productType))]
    const rules = listed.map((one): [string, ContractRules] => [
      one.symbol,
      {
        tickSize: one.priceGrid.step,
        lotSize: one.sizeGrid.step,
        minSize: sizeText(one, one.lotsMin),
        minNotional: one.notionalMin,
        leverageMax: one.leverageMax,
      },
    ])
    expect(types.flatMap((type) => [...simulatedContracts(type)])).toEqual(rules)
  })
})
