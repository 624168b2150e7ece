import { afterEach, beforeEach, expect, test } from 'vitest'
import { listContractRemarks, warnOfUnknownAges } from '../../src/config/contract-remarks.ts'
import { mergeContracts } from '../../src/config/kept-contracts.ts'
import { formatProblem } from '../../src/config/yaml/problem.ts'
import type { ContractRules } from '../../src/domain/contract-rules.ts'
import { MAIN, replaceOnce, Workspace } from './workspace.ts'

const BTC: ContractRules = {
  tickSize: '0.10',
  lotSize: '0.001',
  minSize: '0.001',
  minNotional: '5',
  fundingHours: 8,
  leverageMax: 20,
  status: 'normal',
}
const ETH: ContractRules = { ...BTC, tickSize: '0.01', lotSize: '0.01', minSize: '0.01' }

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

const listed = (contracts: Readonly<Record<string, ContractRules>>, readAt: number) =>
  mergeContracts(
    undefined,
    {
      readAt,
      source: 'https://api.example.com',
      productType: 'USDT-FUTURES',
      contracts: new Map(Object.entries(contracts)),
    },
    [],
  )

function remark(answer: Parameters<typeof listContractRemarks>[1], main = MAIN): readonly string[] {
  workspace.fill({ 'config/main.yaml': main })
  const { loaded } = workspace.read()
  if (loaded === undefined) throw new Error('it has problems')
  return listContractRemarks(loaded, answer).map(
    ({ event, problem }) => `${event} ${formatProblem(problem)}`,
  )
}

test('equal rules are no remark, however their digits are written', () => {
  expect(remark({ before: undefined, now: listed({ BTCUSDT: BTC, ETHUSDT: ETH }, 0) })).toEqual([])
  expect(remark(undefined)).toEqual([])
})

test('what is written otherwise, cannot be traded or is not listed is said at its line', () => {
  const levered = replaceOnce(MAIN, 'minNotional: "5" }', 'minNotional: "5", leverage: 25 }')
  const btc = {
    ...BTC,
    tickSize: '0.5',
    fundingHours: 4,
    status: 'limit_open',
    offAt: 1_800_000_000_000,
  }

  expect(remark({ before: undefined, now: listed({ BTCUSDT: btc }, 0) }, levered)).toEqual([
    'contract.differs config/main.yaml:9:24 instruments.BTCUSDT.tickSize: 0.1 here, 0.5 at the exchange, which may reject orders: leave it out, or write what the exchange says',
    'contract.differs config/main.yaml:9:3 instruments.BTCUSDT.fundingHours: funding is paid every 4 h at the exchange, 3 times a day here: write instruments.BTCUSDT.fundingHours: 4',
    'contract.differs config/main.yaml:9:95 instruments.BTCUSDT.leverage: 25 is above the 20 that BTCUSDT has at most at the exchange: no position can have it',
    'contract.differs config/main.yaml:9:3 instruments.BTCUSDT: BTCUSDT can only be closed (limit_open)',
    'contract.differs config/main.yaml:9:3 instruments.BTCUSDT: BTCUSDT is to be removed on 2027-01-15T08:00Z',
    'contract.differs config/main.yaml:10:3 instruments.ETHUSDT: https://api.example.com does not list ETHUSDT among its contracts of USDT-FUTURES: orders would be rejected',
  ])
})

test('a change since the start before is said with both values; silence with what is used', () => {
  const before = listed(
    { BTCUSDT: { ...BTC, minNotional: '6', status: 'maintain' }, ETHUSDT: ETH },
    0,
  )

  expect(remark({ before, now: listed({ BTCUSDT: BTC, ETHUSDT: ETH }, 60_000) })).toEqual([
    'contract.changed config/main.yaml:9:3 instruments.BTCUSDT: the exchange has changed minNotional of BTCUSDT: 6 on 1970-01-01T00:00Z, 5 now',
    'contract.changed config/main.yaml:9:3 instruments.BTCUSDT: the exchange has changed status of BTCUSDT: maintain on 1970-01-01T00:00Z, normal now',
  ])
  const part = replaceOnce(MAIN, 'tickSize: "0.1", ', '')
  expect(remark({ before, reason: 'TIMEOUT' })).toEqual([])
  expect(remark({ before, reason: 'TIMEOUT' }, part)).toEqual([
    'contracts.notRead config/main.yaml:1:1 exchange.beyondDocument: the exchange did not say the rules of its contracts (TIMEOUT): rules that are not written are those of 1970-01-01T00:00Z',
  ])
})

test('a rule by age is warned of while contracts state no listing', () => {
  workspace.fill({
    'config/strategies/grid.yaml': `id: grid
module: ../../strategies/grid.ts
universe: { age: { min: 30d }, top: { count: 2, by: volume } }
risk: { positionNotionalMax: "100", openOrdersMax: 2 }
`,
  })
  const { loaded } = workspace.read()
  if (loaded === undefined) throw new Error('it has problems')
  const said = (btc: ContractRules, eth: ContractRules) =>
    warnOfUnknownAges(loaded, {
      before: undefined,
      now: listed({ BTCUSDT: btc, ETHUSDT: eth, XUSDT: BTC }, 0),
    }).map(formatProblem)

  const dated = { ...BTC, launchedAt: 1 }
  expect(said(BTC, dated)).toEqual([
    expect.stringMatching(
      /grid\.yaml:3:\d+ universe\.age\.min: of 2 contracts 1 state no time of their listing \(BTCUSDT\): .* for 30d they are not chosen/,
    ),
  ])
  expect(said(dated, dated)).toEqual([])
  expect(warnOfUnknownAges(loaded, undefined)).toHaveLength(1)
})
