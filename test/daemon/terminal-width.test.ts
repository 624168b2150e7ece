import { expect, test } from 'vitest'
import { printTerminalLine, toTerminalLine } from '../../src/logging/terminal.ts'
import { buildEventDocs } from '../docs/event-docs.ts'

const AT = new Date(2026, 0, 2, 13, 50, 10, 27).toISOString()
const HERE = '/srv/intentd'
const COLUMNS = 80

const REASON = 'unknown: no whole answer came before the deadline'
const CLIENT_OID = 't7mc4a4ryoklvnz7gnipi37e6xy-0'
const ENDS = 'an operator has compared orders and position, and releases it'

/** What is usual in each field; a new one is added here. */
const USUAL: Readonly<Record<string, unknown>> = {
  accounts: ['alice', 'bob', 'cara', 'dave'],
  seed: 1,
  speed: 60,
  gatewayUrl: 'http://127.0.0.1:38291',
  requests: 12_345,
  refusals: { 22001: 3 },
  faults: {},
  tooManyRequests: 0,
  endpoint: 'batchPlaceOrder',
  fault: 'delayedAnswer',
  uid: '1000001',
  strategy: 'trend-btc',
  symbol: 'BTCUSDT',
  side: 'sell',
  price: '60001.8',
  size: '0.012',
  action: 'closeShort',
  purpose: 'target',
  force: 'post_only',
  clientOid: CLIENT_OID,
  batchId: 12_345,
  orderId: '1234567890123456789',
  tradeId: '1234567890123456789',
  fee: '0.0300188',
  profit: '-12.345678',
  lines: 12_345,
  orderIds: ['1234567890123456789'],
  filled: '0.012',
  settled: 16,
  levels: 16,
  key: 'entry',
  orders: 16,
  answer: 'unknown',
  code: '45110',
  message: 'less than the minimum amount 5 USDT',
  detail: 'the position would be 0.012, the limit is 0.01',
  sinceLastLogged: 12,
  denials: { POSITION_LIMIT: 3 },
  symbols: ['BTCUSDT', 'ETHUSDT'],
  takesProduct: true,
  cancelled: 16,
  failed: 0,
  cause: 'unwanted',
  order: ['BTCUSDT', 'ETHUSDT'],
  unknown: 1,
  waitMs: 35_000,
  sinceMs: 10_000,
  phase: 'confirming',
  longLots: '0.012',
  shortLots: '0',
  knownLongLots: '0.01',
  knownShortLots: '0',
  isConfirmed: false,
  holdSide: 'long',
  change: '-0.0123',
  at: 1_767_361_810_027,
  lost: 3,
  step: 12_345,
  steps: 12_345,
  version: '0.1.0',
  environment: 'simulator',
  exchange: 'http://127.0.0.1:38291',
  embedded: true,
  strategies: ['grid-btc', 'grid-eth', 'trend-btc', 'trend-eth'],
  onRestart: 'adopt',
  epoch: 12,
  openOrders: 32,
  unknownOrders: 0,
  waitingOrders: 0,
  strategyStates: 4,
  warmingUp: ['my-rsi BTCUSDT: 17 of 57 candles of 1m, all at 2026-01-02T14:30:00.000Z'],
  restrictions: [{ scope: 'BTCUSDT', mode: 'halted', reason: REASON, at: 1_767_361_810_027 }],
  positions: { BTCUSDT: '0.012', ETHUSDT: '-0.2' },
  policy: 'leave',
  why: 'SIGINT',
  clean: true,
  cycles: 140,
  ordersSent: 50,
  rateLimited: 0,
  unknowns: 0,
  exchangeAgrees: true,
  fills: 20,
  fees: '1.16347004',
  realisedProfit: '0.451666666667',
  unrealisedProfit: '-0.0748',
  funding: '0',
  differences: [],
  freeBytes: 104_857_600,
  before: '2026-01-01',
  end: 'cancelled',
  reason: REASON,
  hint: 'look at the exchange: cancel by hand what rests there',
  ends: ENDS,
  beyondLimit: REASON,
  by: 'anna@office',
  scope: 'BTCUSDT',
  scopes: ['*', 'BTCUSDT', 'ETHUSDT'],
  restricted: ['BTCUSDT'],
  mode: 'halted',
  ordered: 'reducing',
  movedMs: 300_000,
  offsetMs: -12,
  was: 'the machine slept',
  stillHeld: { BTCUSDT: 'long 0.012' },
  givenAt: AT,
  isOfRunBefore: true,
  target: 'phone',
  alerts: 12,
  because: 'nothing is in the way',
  body: '{"orderList":[…]}',
  requestId: 'f00ba4f00ba4',
  result: 'BTCUSDT is held reducing',
  address: '127.0.0.1:8790',
  pricesAgeMs: 120,
  accountAgeMs: 640,
  ageMs: 12_000,
  hungMs: 10_000,
  loop: 'positions',
  started: ['grid-eth'],
  stopped: ['trend-eth'],
  settings: ['risk.openOrdersMax: 100 -> 60'],
  problems: ['config/paper.yaml:12:3 no such key'],
  everyMs: 4286,
  dataAgeMaxMs: 2000,
  advice: 'set risk.dataAgeMaxMs to 4500 at least',
  off: ['risk.losses.daily', 'risk.leverageMax'],
  leftMs: 600_000,
  until: '2026-01-02T13:50:10.027Z',
  url: 'postgres://intentd@db.example.com/intentd',
  abandoned: false,
  schema: 'paper',
  holder: `paper on machine-a, pid 4711, ${HERE}/.intentd/paper`,
  behind: 2,
  socket: `${HERE}/.intentd/paper/control.sock`,
  token: `${HERE}/.intentd/paper/control.token`,
  readToken: `${HERE}/.intentd/paper/control.read.token`,
  proved: 12,
  instruments: 200,
  reading: 120,
  resolving: 30,
  checking: 38,
  madeUp: ['ETHUSDT'],
  rows: 12,
  lotsMax: 1e10,
  inRow: 2,
  times: 12,
  failedTimes: 12,
  what: 'position BTCUSDT',
  restMs: 1000,
  tookMs: 81,
  elapsedMs: 81,
  cpuMs: 12,
  removed: 2,
  commitMs: 1800,
  waitedMs: 4180,
  mostMs: 3500,
  batches: 12,
  forMs: 61_000,
  afterMs: 4200,
  file: `${HERE}/.intentd/paper/operator/1767361810027-release.json`,
  directory: `${HERE}/.intentd/paper`,
  aheadMs: 12_000,
  machine: '2026-01-02T13:50:10.027Z',
  net: '-12.375697',
  uncounted: '+ 0.011 BGB not counted',
  unproved: ['BTCUSDT'],
  unread: ['BTCUSDT'],
  last: 65_000.1,
  missingSince: AT,
  figure: 'unrealised',
  lastedMs: 1250,
  ours: '-0.01',
  theirs: '-999.97',
  amount: '0.011',
  coin: 'BGB',
  setting: 'account.feeCoins',
  kind: 'liquidation',
  tradeIds: ['1234567890123456789'],
  set: '64000',
  otherFees: 'BGB 0.011',
  source: 'SYS',
  word: 'melt_close_long',
  missing: ['fee', 'profit'],
  stated: 'profit -3000, by our own count -0.03',
  records: 12_345,
  copy: `${HERE}/.intentd/paper/journal.sqlite.layout-6`,
  account: ['leverageMax'],
  others: 28,
  lasts: true,
  is: '20',
  row: 'fill 1234567890123456789 of order 1234567890123456789',
  unanswered: 120,
  found: { absent: 2, filled: 1 },
  calls: ['cancel-alls', 'fills'],
  below: '12.40',
  limits: ['drawdownReduce at 9500.00', 'drawdown at 9200.00'],
  names: ['t7mc4a4ryoklvnz7gnipi37e6xy-0'],
  strategyId: 'grid-btc',
  long: '0.012',
  short: '0',
  changed: ['simulator.seed'],
  differs: ['settings', 'code of grid-btc'],
  takesOver: false,
}

/** Of these the same name holds other values. */
const OF_EVENT: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'daemon.opened': { state: `${HERE}/.intentd/paper/one-way-seed-1-x60-7041992a` },
  'journal.migrated': { from: 6, to: 7 },
  'limits.peakMoved': { from: '10000.00', to: '9987.60' },
  'limits.notReleased': { from: '10000.00', to: '9100.00', closesBelow: '9200.00' },
  'trading.notReleased': {
    orderedAgain: {
      BTCUSDT: 'no strategy holds long 0.012, and trend-btc wants long 0.012 and has none',
    },
  },
  'limits.alone': { without: ['longShortRatio'] },
  'limits.shared': { members: 4 },
  'simulator.listening': { state: 'exchange.sqlite' },
  'simulator.otherAccount': {
    directory: '/var/lib/intentd/paper/one-way-seed-1-x60-b665b048',
    before: '/var/lib/intentd/paper/one-way-seed-1-x60-dbb8fee6',
  },
  'simulator.opened': { run: 'demonstration', prices: 'seed 1', fills: 'default' },
  'simulator.settingsKept': { settings: ['market.startPrices.BTCUSDT: 60000, configured: 1000'] },
  'prices.back': { url: 'https://api.example.com', afterMs: 65_000 },
  'prices.missing': { url: 'https://api.example.com' },
  'standby.tookOver': { from: `paper on machine-a, pid 4711, ${HERE}/.intentd/paper` },
  'liquidation.judgedAlone': { holdSide: 'short' },
  'liquidation.near': { holdSide: 'long', trust: 'agreed' },
  'worstCase.near': { reason: 'BTCUSDT down 12 % would take 8012.41 of 10000.00, 80.1 %' },
  'position.reducing': {
    holdSide: 'long',
    size: '0.024',
    reason: 'BTCUSDT down 12 % would take 8012.41 of 10000.00, 80.1 %',
  },
  'order.displacedLate': { orders: ['quote:BTCUSDT:17'] },
  'call.accepted': { reason: '' },
}

const ROUTINE_LEVELS = ['debug', 'info']

/** What tells so much takes more lines, as a warning or an error with its reason may. */
const MORE_THAN_A_LINE = [
  'clock.machineAgrees',
  'control.commanded',
  'control.listening',
  'daemon.heartbeat',
  'daemon.killed',
  'daemon.opened',
  'daemon.running',
  'daemon.stopped',
  'equity.agreed',
  'exchange.answers',
  'fill.delivered',
  'fill.exit',
  'intent.denied',
  'journal.migrated',
  'journal.opened',
  'recording.started',
  'recovery.progress',
  'recovery.started',
  'reload.begun',
  'rows.readable',
  'run.summary',
  'simulator.opened',
  'simulator.listening',
  'standby.agrees',
  'standby.following',
  'standby.tookOver',
]

interface Row {
  readonly event: string
  readonly levels: readonly string[]
  readonly fields: readonly string[]
}

/** Every event of the catalogue, as `docs/log-events.md` has it. */
function listEvents(): readonly Row[] {
  const rows = buildEventDocs().matchAll(/^\| `([\w.]+)` \| ([a-z, ]+) \| .* \| ([^|]*) \|$/gm)
  return Array.from(rows, ([, event = '', levels = '', fields = '']) => ({
    event,
    levels: levels.split(', '),
    fields: [...fields.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  }))
}

function valueOf(event: string, field: string): unknown {
  const value = OF_EVENT[event]?.[field] ?? (field === 'state' ? 'partiallyFilled' : USUAL[field])
  if (value === undefined) throw new Error(`say what is usual in ${field} of ${event}`)
  return value
}

test('every event of the catalogue, with usual values, has lines of at most eighty columns', () => {
  const events = listEvents()
  const printed = events.flatMap(({ event, levels, fields }) =>
    levels.map((level) => {
      const values = fields.map((field) => [field, valueOf(event, field)] as const)
      const logged = { level, time: AT, event, ...Object.fromEntries(values) }
      return {
        event,
        level,
        lines: printTerminalLine(
          toTerminalLine(logged, { columns: COLUMNS, directory: HERE }),
        ).split('\n'),
      }
    }),
  )

  expect(events.length).toBeGreaterThan(90)
  expect(printed.flatMap(({ lines }) => lines).filter((line) => line.length > COLUMNS)).toEqual([])
  const long = printed.filter(
    ({ level, lines }) => lines.length > 1 && ROUTINE_LEVELS.includes(level),
  )
  expect(long.map(({ event }) => event)).toEqual(MORE_THAN_A_LINE)
})
