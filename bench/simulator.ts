// How fast the simulator plays recorded prices, in virtual time: steps a second of the market alone, and of the
// exchange over it, beside the market alone in the same round. Candles of a minute, 16 steps each, drawn from a seed.
// `npm run bench:simulator -- [--days 10] [--rounds 5] [--only TEXT]`

import { parseArgs } from 'node:util'
import { createRandom } from '../src/lib/random.ts'
import { createExchangeCore } from '../src/simulator/futures/exchange-core.ts'
import {
  buildInstruments,
  type ListedContract,
  toMarketInstrument,
} from '../src/simulator/futures/instruments/instruments.ts'
import { Exchange } from '../src/simulator/exchange.ts'
import { RecordedMarket } from '../src/simulator/market/recorded/recorded-market.ts'
import { buildPriceFile, parsePriceFile } from '../src/prices/price-file.ts'
import { parseRecording } from '../src/prices/parse-recording.ts'
import { type Recording } from '../src/prices/recording.ts'
import { medianOf } from './figures.ts'

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
  },
})

const START_AT = Date.UTC(2025, 5, 2)
const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const STEPS_A_CANDLE = 16
const days = Number(values.days)
const rounds = Number(values.rounds)

const account = {
  uid: '1',
  label: 'bench',
  key: 'key',
  secret: 'secret',
  passphrase: 'passphrase',
  positionMode: 'one_way_mode',
  role: 'ordinary',
  balances: { USDT: '1000000' },
} as const

const [bitcoin] = buildInstruments(START_AT + 365 * DAY_MS) as [ListedContract]
const eight = Array.from({ length: 8 }, (_, index) => ({
  ...bitcoin,
  symbol: `COIN${'ABCDEFGH'[index]}USDT`,
}))
const one = eight.slice(0, 1)
const recordings = eight.map(({ symbol }) => record(symbol))

/** One line of the table. */
interface Work {
  readonly name: string
  /** @returns how many steps the market had, and how long they took. */
  readonly play: () => { readonly steps: number; readonly seconds: number }
}

const works: readonly Work[] = [
  { name: 'market alone', play: () => playMarket(one) },
  { name: 'futures, no orders', play: () => playCore(one, 'nothing') },
  { name: 'futures, one position, twenty resting orders', play: () => playCore(one, 'orders') },
  { name: 'market alone, 8 instruments', play: () => playMarket(eight) },
  { name: 'futures, 8 instruments, no orders', play: () => playCore(eight, 'nothing') },
  {
    name: 'futures, 8 instruments, a position and twenty orders each',
    play: () => playCore(eight, 'orders'),
  },
  { name: 'whole exchange, no orders', play: () => playExchange('nothing') },
  {
    name: 'whole exchange, one position, twenty resting orders',
    play: () => playExchange('orders'),
  },
  { name: 'futures, four requests a candle', play: playRequests },
]

const chosen = works.filter(({ name }, index) => index === 0 || name.includes(values.only))
const rates = new Map(chosen.map(({ name }) => [name, [] as number[]]))
// The first round is thrown away: its code is not compiled yet.
for (let round = -1; round < rounds; round++) {
  for (const { name, play } of chosen) {
    const { steps, seconds } = play()
    if (round >= 0) rates.get(name)?.push(steps / seconds)
  }
}
printTable()
printEight()
if ('csv'.includes(values.only)) readingRates()

function printTable(): void {
  const alone = rates.get('market alone') ?? []
  console.log(`${days} days of one-minute candles, ${rounds} rounds; steps a second of CPU time`)
  console.log(
    `${'work'.padEnd(58)} ${'median'.padStart(10)}  × market alone (min, median, max of the rounds)`,
  )
  for (const [name, found] of rates) {
    const ratios = found
      .map((rate, round) => rate / (alone[round] ?? Number.NaN))
      .toSorted((a, b) => a - b)
    const [least, middle, most] = [ratios[0], medianOf(ratios), ratios.at(-1)]
    const texts = [least, middle, most].map((ratio) => (ratio ?? Number.NaN).toFixed(2))
    console.log(
      `${name.padEnd(58)} ${Math.round(medianOf(found)).toLocaleString('en').padStart(10)}  ${texts.join('  ')}`,
    )
  }
}

/** What a step of eight instruments costs beside one of one, in the same round. */
function printEight(): void {
  for (const [name, ofEight] of rates) {
    const [before, after] = name.split('8 instruments, ')
    const ofOne = name === 'market alone, 8 instruments' ? 'market alone' : `${before}${after}`
    const rest = rates.get(
      ofOne.replace('a position and twenty orders each', 'one position, twenty resting orders'),
    )
    if (rest === undefined || rest === ofEight) continue
    const ratios = ofEight.map((rate, round) => (rest[round] ?? Number.NaN) / rate)
    console.log(`${name}: ${medianOf(ratios).toFixed(2)} times the cost of one, a step`)
  }
}

/** A year of one-minute candles out of memory, in ms of CPU time: as CSV, and as a price file. */
function readingRates(): void {
  const rows = 525_600
  const bytes = Buffer.from(csv('TEXT', rows))
  const packed = buildPriceFile({
    ...parseRecording({ bytes, source: 'BTCUSDT.csv' }),
    sources: [],
  })
  const found: { csv: number; packed: number }[] = []
  for (let round = 0; round < rounds; round++) {
    found.push({
      csv: 1000 * cpuSeconds(() => parseRecording({ bytes, source: 'BTCUSDT.csv' })),
      packed: 1000 * cpuSeconds(() => parsePriceFile({ bytes: packed, source: 'BTCUSDT.prices' })),
    })
  }
  const [csvMs, packedMs] = [
    medianOf(found.map((read) => read.csv)),
    medianOf(found.map((read) => read.packed)),
  ]
  const ratio = medianOf(found.map((read) => read.csv / read.packed))
  const perSecond = (ms: number) => Math.round((rows / ms) * 1000).toLocaleString('en')
  console.log(
    `a year of candles as CSV, ${bytes.length} bytes: ${csvMs.toFixed(1)} ms, ${perSecond(csvMs)} rows a second`,
  )
  console.log(
    `the same as a price file, ${packed.length} bytes: ${packedMs.toFixed(1)} ms, ${perSecond(packedMs)} rows a second, ${ratio.toFixed(1)} times as fast`,
  )
}

/** Of CPU time: other work on the machine counts less. */
function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

function csv(seed: string, rows: number): string {
  const random = createRandom(seed)
  const lines = ['ts_ms,open,high,low,close,volume']
  let price = 65_000
  for (let row = 0; row < rows; row++) {
    const open = price
    price = Math.max(1000, price * (1 + 0.0004 * random.normal()))
    const high = Math.max(open, price) * (1 + 0.0002 * random.next())
    const low = Math.min(open, price) * (1 - 0.0002 * random.next())
    const prices = [open, high, low, price].map((each) => each.toFixed(1))
    lines.push([START_AT + row * MINUTE_MS, ...prices, (20 * random.next()).toFixed(3)].join(','))
  }
  return lines.join('\n')
}

function record(symbol: string): Recording {
  return parseRecording({
    bytes: Buffer.from(csv(symbol, days * 1440)),
    source: `${symbol}.csv`,
    symbol,
  })
}

function openMarket(instruments: readonly ListedContract[]) {
  return new RecordedMarket({
    recordings: recordings.slice(0, instruments.length),
    speed: 1,
    startAt: START_AT,
    instruments: instruments.map(toMarketInstrument),
    fallback: { seed: 1 },
  })
}

function timed(instruments: readonly ListedContract[], play: () => void) {
  return { steps: days * 1440 * STEPS_A_CANDLE * instruments.length, seconds: cpuSeconds(play) }
}

function playMarket(instruments: readonly ListedContract[]) {
  const market = openMarket(instruments)
  let seen = 0
  return timed(instruments, () => {
    while (!market.advance(START_AT + days * DAY_MS, () => seen++));
    if (seen < days * 1440 * STEPS_A_CANDLE * instruments.length)
      throw new Error('steps are missing')
  })
}

function openCore(instruments: readonly ListedContract[]) {
  return createExchangeCore({
    instruments,
    accounts: [account],
    market: () => openMarket(instruments),
    seed: 1,
  })
}

type Core = ReturnType<typeof openCore>

/** A position of 0.01 and twenty orders so far away that they rest, of each instrument. */
function placeOrders(core: Core, instruments: readonly ListedContract[]): void {
  core.advance(START_AT + 1000)
  for (const { symbol } of instruments) {
    const common = {
      symbol,
      productType: 'USDT-FUTURES',
      marginMode: 'crossed',
      marginCoin: 'USDT',
    } as const
    const bids = Array.from({ length: 10 }, (_, index) => {
      return {
        side: 'buy',
        orderType: 'limit',
        size: '0.001',
        price: String(20_000 - index * 100),
      } as const
    })
    const asks = Array.from({ length: 10 }, (_, index) => {
      return {
        side: 'sell',
        orderType: 'limit',
        size: '0.001',
        price: String(200_000 + index * 100),
      } as const
    })
    const taken = { side: 'buy', orderType: 'market', size: '0.01' } as const
    const request = { ...common, orderList: [taken, ...bids, ...asks] }
    const reply = core.answer('batchPlaceOrder', account, request, core.now)
    if (!reply.ok || reply.data.failureList.length > 0) throw new Error(JSON.stringify(reply))
  }
}

function playCore(instruments: readonly ListedContract[], what: 'nothing' | 'orders') {
  const core = openCore(instruments)
  if (what === 'orders') placeOrders(core, instruments)
  const played = timed(instruments, () => {
    while (!core.advance(START_AT + days * DAY_MS));
  })
  const { ordersOpen } = core.ledger(account.uid).counts
  if (ordersOpen !== (what === 'orders' ? 20 * instruments.length : 0))
    throw new Error('orders did not rest')
  return played
}

function playExchange(what: 'nothing' | 'orders') {
  const core = openCore(one)
  const exchange = new Exchange({ core, seed: 1, startAt: START_AT })
  if (what === 'orders') placeOrders(core, one)
  return timed(one, () => {
    while (!exchange.advance(START_AT + days * DAY_MS));
  })
}

/** Each minute: the tickers, a position, fills, and an order that takes, bought and sold in turn. */
function playRequests() {
  const core = openCore(one)
  core.advance(START_AT + 1000)
  const { symbol } = one[0] as ListedContract
  const productType = 'USDT-FUTURES'
  return timed(one, () => {
    for (let minute = 1; minute < days * 1440; minute++) {
      const now = START_AT + minute * MINUTE_MS
      while (!core.advance(now));
      core.answer('tickers', account, { productType }, now)
      core.answer('singlePosition', account, { symbol, productType, marginCoin: 'USDT' }, now)
      core.answer('orderFills', account, { productType, limit: '100' }, now)
      const side = minute % 2 === 0 ? 'sell' : 'buy'
      const orderList = [{ side, orderType: 'market', size: '0.01' } as const]
      const request = {
        symbol,
        productType,
        marginMode: 'crossed',
        marginCoin: 'USDT',
        orderList,
      } as const
      core.answer('batchPlaceOrder', account, request, now)
    }
  })
}
