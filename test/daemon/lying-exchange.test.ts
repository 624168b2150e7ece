import { afterAll, expect, test } from 'vitest'
import { HostileProxy, type Misanswer } from '../support/hostile-proxy.ts'
import { Projects } from './project.ts'
import { findExchange, startDaemon, startExchange } from './remote-exchange.ts'
import { writeStrategy } from '../support/made-limits.ts'

const projects = new Projects()
afterAll(() => projects.close())

/** What is stated of a liquidation, by the mark price of the row. */
type Lie = (mark: number) => string | null

const LIES: Readonly<Record<string, Lie>> = {
  'far away': () => '1',
  zero: () => '0',
  null: () => null,
  'no number': () => 'NaN',
  'on the other side': (mark) => String(mark * 1.02),
  'ten times the price': (mark) => String(mark * 10),
  'right beside the mark': (mark) => String(mark * 0.995),
}
/** Two readings suffice for every step, and one may have been under way when the lie began. */
const READINGS = 4

/** Rewrites what the exchange says of positions. Nothing else is changed. */
class LiquidationLies {
  lie: Lie = () => null
  #answered = 0
  #waiting: { readonly answered: number; readonly resolve: () => void }[] = []

  readonly misanswer: Misanswer = (answer, response) => {
    const { data, ...rest } = JSON.parse(answer) as { data: { markPrice: string }[] | null }
    const rows = data?.map((row) => ({ ...row, liquidationPrice: this.lie(Number(row.markPrice)) }))
    response.writeHead(200, { 'content-type': 'application/json;charset=UTF-8' })
    response.end(JSON.stringify({ ...rest, data: rows ?? data }))
    if ((rows ?? []).length === 0) return
    this.#answered += 1
    const isDue = ({ answered }: { readonly answered: number }): boolean =>
      answered <= this.#answered
    for (const { resolve } of this.#waiting.filter(isDue)) resolve()
    this.#waiting = this.#waiting.filter((one) => !isDue(one))
  }

  /** A position was read so many times more. */
  async read(times: number): Promise<void> {
    await new Promise<void>((resolve) =>
      this.#waiting.push({ answered: this.#answered + times, resolve }),
    )
  }
}

const HOLDER = `import { defineStrategy, z } from 'intentd/strategy'
export default defineStrategy({
  name: 'holder',
  params: z.strictObject({}).prefault({}),
  initialState: () => ({}),
  decide(snapshot, { state }) {
    const [market] = snapshot.instruments
    return { intents: market.hasPrices ? [market.target(market.lots('0.05'))] : [], state }
  },
})
`
const HOLDER_FILE = writeStrategy({
  id: 'holder',
  module: '../../strategies/holder.ts',
  isolation: 'inline',
  instruments: ['BTCUSDT'],
  risk: { positionMax: '0.05', orderSizeMax: '0.05' },
})

test.concurrent('[MON1] whatever the exchange says of liquidations, nothing is sold for it, and what is near is closed', async () => {
  const project = projects.open()
  project.write('strategies/holder.ts', HOLDER)
  project.write('config/strategies/holder.yaml', HOLDER_FILE)
  const paper = project.read('config/paper.yaml')
  project.write(
    'config/paper.yaml',
    paper
      .replace(/^strategies:\n(?: .*\n)+/m, 'strategies: [strategies/holder.yaml]\n')
      .replace('minNotional: "5" }', 'minNotional: "5", maintenance: [{ rate: 0.004 }] }'),
  )
  const place = await findExchange(project)
  const exchange = startExchange(project, place)
  await exchange.untilEvent('simulator.listening')
  const lies = new LiquidationLies()
  const proxy = await HostileProxy.start({ target: place.url, every: 0, misanswer: lies.misanswer })
  proxy.spoilt.set('single-position', Number.POSITIVE_INFINITY)
  const start = (capital: string) =>
    startDaemon(project, { ...place, url: proxy.url }, [
      '--set',
      `account.capital=${capital}`,
      '--set',
      'polling.positionsMs=250',
    ])
  const codes = (run: ReturnType<typeof start>) =>
    run.events('limits.reached').map(({ code }) => code)

  try {
    // 0.05 BTC at 60,000 on 10,000 have no liquidation at all.
    const rich = start('10000')
    await rich.untilEvent('order.accepted')
    for (const lie of Object.values(LIES)) {
      lies.lie = lie
      await lies.read(READINGS)
    }
    expect(codes(rich)).toEqual([])
    expect(rich.events('order.sent')).toHaveLength(1)
    // Two of the lies are near the mark: they are warned of, and no more.
    expect(rich.events('liquidation.near').map(({ trust }) => trust)).toEqual([
      'disputed',
      'disputed',
    ])
    await rich.stop()

    // On 350 it is 11 % away, whatever is said: that is warned of, and shown.
    lies.lie = () => '0'
    const poor = start('350')
    await poor.untilEvent('liquidation.near')
    const given = ['--set', `exchange.baseUrl=${proxy.url}`, '--set', 'account.capital=350']
    const status = project.start(['status', '-c', 'config/remote.yaml', ...given])
    await status.ended
    const shown = [...status.stdout, ...status.stderr].join('\n')
    expect(shown).toMatch(/BTCUSDT: the long position is 1\d\.\d % from its\s+liquidation/)
    // Zero is no price: ours stands in the row of the position.
    expect(shown).toMatch(/ 5\d{4}(?:\.\d+)?, 1\d\.\d %/)
    expect(codes(poor)).toEqual([])
    await poor.stop()

    // And on 100 it is 3 %.
    lies.lie = () => null
    const broke = start('100')
    await broke.untilEvent('flatten.done')
    expect(codes(broke)).toEqual(['liquidationNear', 'liquidationFlatten'])
    expect(broke.events('order.sent')).toMatchObject([{ action: 'closeLong', size: '0.05' }])
    await broke.stop()
  } finally {
    await exchange.stop()
    await proxy.stop()
  }
})
