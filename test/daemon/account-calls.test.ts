import { afterAll, expect, test } from 'vitest'
import { signSchemeA } from '../../src/protocol/signing.ts'
import { type IntentdProcess } from './intentd-process.ts'
import { type Project, Projects } from './project.ts'
import { writeStrategy } from '../support/made-limits.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** A strategy in a folder of its own, alone in the daemon. */
function install(
  project: Project,
  { code, file }: { readonly code: string; readonly file: string },
): void {
  project.write('elsewhere/watcher.ts', code)
  project.write(
    'config/strategies/watcher.yaml',
    writeStrategy({
      id: 'watcher',
      module: '../../elsewhere/watcher.ts',
      instruments: ['BTCUSDT'],
      risk: { positionMax: '0.01', orderSizeMax: '0.01', openOrdersMax: 2 },
    }) + file,
  )
  const paper = project.read('config/paper.yaml')
  project.write(
    'config/paper.yaml',
    paper.replace(/^strategies:\n(?: .*\n?)+/m, 'strategies:\n  - strategies/watcher.yaml\n'),
  )
}

/** Looks at its feeds, which nobody can change, and then calls once. */
const WATCHER = `import { defineStrategy, z } from 'intentd/strategy'

export default defineStrategy({
  name: 'watcher',
  params: z.strictObject({}),
  initialState: (): { called: boolean; ratio: string; symbols: number } => ({ called: false, ratio: '', symbols: 0 }),
  decide(snapshot, { state }) {
    const ratio = snapshot.feed('ratio')
    const symbols = snapshot.feed('symbols')
    if (state.called || !ratio || !symbols || ratio.ageMs < 0) return { intents: [], state }
    const rows = ratio.data as { longShortRatio: string }[]
    if (!Object.isFrozen(rows) || !Object.isFrozen(rows[0])) throw new Error('not frozen')
    if (snapshot.feed('trader')) throw new Error('this account is no trader')
    const market = snapshot.instrument('BTCUSDT')
    const intents = [
      market.copySettings({ key: 'open', change: 'ADD', takeProfitRatio: 50 }),
      market.cancelMargin({ key: 'clear', orders: [{ clientOid: 'nobodys' }] }),
    ]
    const seen = { called: true, ratio: rows.at(-1)?.longShortRatio ?? '', symbols: (symbols.data as unknown[]).length }
    return { intents, state: seen }
  },
})
`

const FEEDS = `feeds:
  ratio: { endpoint: longShortRatio, params: { symbol: BTCUSDT }, everyMs: 3600000 }
  symbols: { endpoint: spotSymbols, everyMs: 3600000 }
  trader: { endpoint: copyOrderTotalDetail, everyMs: 3600000 }
`

/** Of calls, in the order of the alphabet: which is answered first is the network's affair. */
function keysOf(run: IntentdProcess, event: string): readonly string[] {
  return run
    .events(event)
    .map(({ key }) => String(key))
    .toSorted()
}

test.concurrent('a strategy sees its feeds and calls the account, once, also after a restart', async () => {
  const project = projects.open()
  install(project, { code: WATCHER, file: FEEDS })

  const run = project.run(['--summary', 'json'])
  const rejected = await run.untilEvent('call.rejected')
  const accepted = await run.untilEvent('call.accepted')
  const failed = await run.untilEvent('read.failed')
  const { code } = await run.stop()
  const again = project.run(['--summary', 'json'])
  await again.untilEvent('daemon.running')
  await again.untilEvent('read.failed')
  await again.stop()

  // The account of the simulator inside is no copy trader: the exchange says so of the feed and of the call.
  expect(failed).toMatchObject({ level: 'warn', what: 'feed copyOrderTotalDetail?' })
  expect(String(failed['reason'])).toMatch(/^refused 31001: /)
  expect(rejected).toMatchObject({ level: 'warn', strategy: 'watcher', key: 'open' })
  expect(String(rejected['reason'])).toMatch(/^31001 /)
  expect(accepted).toMatchObject({ level: 'info', strategy: 'watcher', key: 'clear' })
  expect(keysOf(run, 'call.sent')).toEqual(['clear', 'open'])
  expect([code, run.events('strategy.failed'), run.summary.clean]).toEqual([0, [], true])
  expect(keysOf(again, 'call.sent')).toEqual([])
})

test.concurrent('[CFG1] feeds that cannot be are reported before anything starts', async () => {
  const project = projects.open()
  install(project, {
    code: WATCHER,
    file: `feeds:
  ratio: { endpoint: longShortRate, everyMs: 1000 }
  symbols: { endpoint: spotSymbols, params: { symbol: "?" }, everyMs: 1000 }
`,
  })
  const wrong = project.start(['check'])
  const first = await wrong.ended
  project.edit(
    'config/strategies/watcher.yaml',
    'longShortRate,',
    'longShortRatio, params: { symbol: BTCUSDT },',
  )
  project.edit('config/strategies/watcher.yaml', ' params: { symbol: "?" },', '')
  project.edit('config/strategies/watcher.yaml', 'everyMs: 1000 }', 'everyMs: 500 }')
  const greedy = project.start(['check'])
  const second = await greedy.ended

  expect([first.code, second.code]).toEqual([78, 78])
  expect(wrong.stderr).toEqual(
    expect.arrayContaining([
      'config/strategies/watcher.yaml:6:22 feeds.ratio.endpoint: longShortRate is no endpoint for feeds; did you mean longShortRatio?',
      expect.stringMatching(
        /^config\/strategies\/watcher\.yaml:7:45 feeds\.symbols\.params: symbol: /,
      ),
    ]),
  )
  expect(greedy.stderr[0]).toMatch(
    / strategies: the feeds of longShortRatio ask 2\.0 calls in 1000 ms, the limit is 1$/,
  )
})

/** An account at the exchange that stands alone. */
interface Keys {
  readonly label: string
  readonly key: string
  readonly secret: string
  readonly passphrase: string
}

interface Request {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query?: string
  readonly body?: unknown
}

/** As any client would, with nothing of the daemon but the signature. */
async function askExchange(url: string, keys: Keys, request: Request): Promise<unknown> {
  const { method, path, query = '' } = request
  const timestamp = String(Date.now())
  const body = request.body === undefined ? '' : JSON.stringify(request.body)
  const answer = await fetch(`${url}${path}${query === '' ? '' : `?${query}`}`, {
    method,
    ...(body === '' ? {} : { body }),
    headers: {
      'ACCESS-KEY': keys.key,
      'ACCESS-SIGN': signSchemeA(keys.secret, { timestamp, method, path, query, body }),
      'ACCESS-PASSPHRASE': keys.passphrase,
      'ACCESS-TIMESTAMP': timestamp,
      'Content-Type': 'application/json',
    },
  })
  const { code, msg, data } = (await answer.json()) as { code: string; msg: string; data: unknown }
  if (code !== '00000') throw new Error(`${code} ${msg}`)
  return data
}

const PLAN = {
  planType: 'normal_plan',
  symbol: 'BTCUSDT',
  productType: 'USDT-FUTURES',
  marginMode: 'crossed',
  marginCoin: 'USDT',
  size: '0.01',
  triggerPrice: '50000',
  triggerType: 'mark_price',
  side: 'buy',
  orderType: 'market',
}

const MODIFIER = `import { defineStrategy, z } from 'intentd/strategy'

export default defineStrategy({
  name: 'modifier',
  params: z.strictObject({ orderId: z.string() }),
  initialState: () => ({ called: false }),
  decide(snapshot, { params, state }) {
    if (state.called) return { intents: [], state }
    const market = snapshot.instrument('BTCUSDT')
    const change = market.modifyTrigger({
      key: 'lower',
      orderId: params.orderId,
      triggerTicks: market.ticksBelow(45000.5),
      takeProfitTicks: market.ticksBelow(48000),
    })
    return { intents: [change, market.copySettings({ key: 'open', change: 'ADD' })], state: { called: true } }
  },
})
`

test.concurrent('a trigger order that was placed elsewhere is changed by a strategy', async () => {
  const project = projects.open()
  const simulator = project.start(['simulate', '--port', '0', '--print-accounts'])
  const { url } = await simulator.untilEvent('simulator.listening')
  const keys = (JSON.parse(simulator.stdout[0] ?? '') as Keys[]).find(
    ({ label }) => label === 'cara',
  )
  if (!keys) throw new Error('the simulator has no copy trader')
  const exchange = String(url)
  const path = '/api/v2/mix/order'
  const placed = await askExchange(exchange, keys, {
    method: 'POST',
    path: `${path}/place-plan-order`,
    body: PLAN,
  })
  const { orderId } = placed as { orderId: string }
  install(project, { code: MODIFIER, file: `params: { orderId: "${orderId}" }\n` })
  const paper = project.read('config/paper.yaml')
  project.write('config/remote.yaml', paper.replace(/^simulator:\n(?: .*\n)+/m, ''))

  const args = [
    '-c',
    'config/remote.yaml',
    '--set',
    `exchange.baseUrl=${exchange}`,
    '--summary',
    'json',
  ]
  const daemon = project.run([...args, '--set', 'execution.fillVisibilityMs=600'], {
    INTENTD_API_KEY: keys.key,
    INTENTD_API_SECRET: keys.secret,
    INTENTD_API_PASSPHRASE: keys.passphrase,
  })
  await daemon.untilEvent('call.accepted', 2)
  const { code } = await daemon.stop()
  const pending = await askExchange(exchange, keys, {
    method: 'GET',
    path: `${path}/orders-plan-pending`,
    query: 'planType=normal_plan&productType=USDT-FUTURES',
  })
  await simulator.stop()

  expect(code).toBe(0)
  expect(keysOf(daemon, 'call.accepted')).toEqual(['lower', 'open'])
  expect((pending as { entrustedList: unknown[] }).entrustedList).toMatchObject([
    { orderId, triggerPrice: '45000.5', stopSurplusTriggerPrice: '48000', size: '0.01' },
  ])
})
