import type { DaemonConfig } from '../../config/load-config.ts'
import { type Instrument, notionalOf } from '../../domain/instrument.ts'
import type { Clock } from '../../lib/clock.ts'
import { formatOnGrid, stepBelow } from '../../lib/grid.ts'
import { type CheckFinding, finding, ok } from '../process/finding.ts'
import { type AccountProbe, StepFailure, toFailure, type WantedOrder } from './account-probe.ts'

export interface AcceptanceOptions {
  readonly probe: AccountProbe
  readonly config: Pick<DaemonConfig, 'account' | 'instruments'>
  readonly isTrading: boolean
  readonly clock: Clock
  readonly isStopped: () => boolean
  readonly onStep: (step: CheckFinding) => void
}

export interface Acceptance {
  readonly hasFailed: boolean
  readonly isClean: boolean
  readonly steps: readonly CheckFinding[]
}

/** Exchanges accept an order this far below the best price, and do not fill it. */
const FAR = 0.05

const CLEAR_TRIES = 3
const CLEAR_AGAIN_MS = 2000

interface AcceptanceStep {
  readonly what: string
  readonly take: () => Promise<string>
}

export async function runAcceptance(options: AcceptanceOptions): Promise<Acceptance> {
  const steps: CheckFinding[] = []
  const note = (step: CheckFinding): void => {
    steps.push(step)
    options.onStep(step)
  }
  for (const { what, take } of listSteps(options)) {
    const step = options.isStopped()
      ? finding('fail', what, 'not done: it was stopped', 'run it again')
      : await takeStep(what, take)
    note(step)
    if (step.state !== 'ok') break
  }
  const cleared = await clear(options.probe)
  note(cleared)
  const hasFailed = steps.some(({ state }) => state !== 'ok')
  return { hasFailed, isClean: cleared.state === 'ok', steps }
}

async function takeStep(what: string, take: AcceptanceStep['take']): Promise<CheckFinding> {
  try {
    return ok(what, await take())
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error
    return finding('fail', what, error.message, error.advice)
  }
}

async function clear(probe: AccountProbe): Promise<CheckFinding> {
  for (let tries = 1; ; tries++) {
    const cleared = await takeStep('nothing left', async () => {
      await probe.clear()
      return 'nothing of this run rests or is held'
    })
    if (cleared.state === 'ok' || tries === CLEAR_TRIES) return cleared
    await probe.pause(CLEAR_AGAIN_MS)
  }
}

function listSteps(options: AcceptanceOptions): readonly AcceptanceStep[] {
  const { probe, isTrading } = options
  const { instrument } = probe
  const resting = createResting(options)
  return [
    { what: 'prices', take: () => showPrices(probe) },
    { what: 'account', take: () => assertFlat(options) },
    { what: 'place', take: resting.place },
    { what: 'same name', take: resting.repeat },
    { what: 'open', take: resting.cancel },
    { what: 'gone', take: resting.proveGone },
    ...(isTrading ? [{ what: 'trade', take: () => trade(options) }] : []),
    { what: 'kill', take: () => proveKill(options, instrument) },
  ]
}

async function showPrices(probe: AccountProbe): Promise<string> {
  const { bid, ask } = await probe.readPrices()
  return `${probe.instrument.symbol} ${bid} to ${ask}`
}

async function assertFlat({ probe, config }: AcceptanceOptions): Promise<string> {
  const { rows } = await probe.readPosition()
  const other = rows.find(({ positionMode: mode }) => mode && mode !== config.account.positionMode)
  if (other)
    throw new StepFailure(
      `the account is in ${other.positionMode}`,
      'set account.positionMode as it is at the exchange',
    )
  const { marginMode: wanted } = config.account
  const mode = rows.find(({ marginMode }) => marginMode && marginMode !== wanted)?.marginMode
  if (mode)
    throw new StepFailure(
      `the position in ${probe.instrument.symbol} is ${mode}, account.marginMode is ${wanted}`,
      'close it, and set the margin mode at the exchange or account.marginMode',
    )
  if (rows.some(({ lots }) => lots > 0)) {
    throw new StepFailure(
      `a position in ${probe.instrument.symbol} is held`,
      'close it first, or name another instrument with --symbol',
    )
  }
  return `the keys are taken; nothing is held in ${probe.instrument.symbol}`
}

function createResting({ probe, clock }: AcceptanceOptions) {
  let placed: Awaited<ReturnType<AccountProbe['place']>> | undefined
  let placedAt = 0
  const given = () => {
    if (placed === undefined) throw new Error('unreachable: the step before has placed it')
    return placed
  }
  return {
    place: async () => {
      const wanted = await farOrder(probe)
      placedAt = clock.now()
      placed = await probe.place(wanted)
      return `${describe(probe.instrument, wanted)} was taken as ${placed.orderId}`
    },
    repeat: async () => {
      const { terms, orderId } = given()
      const outcome = await probe.send(terms)
      const isSame = outcome.outcome === 'accepted' && outcome.orderId === orderId
      if (outcome.outcome === 'accepted' && !isSame)
        throw new StepFailure(
          `the exchange made a second order, ${outcome.orderId ?? 'without an orderId'}, of one clientOid`,
          'do not trade here: a repeated request would double an order',
        )
      if (isSame || outcome.outcome === 'exists')
        return 'sent again under its clientOid it makes no second order'
      throw toFailure(outcome)
    },
    cancel: async () => {
      const { orderId } = given()
      const listed = await probe.cancelAll()
      const others = listed.filter((one) => one !== orderId).length
      if (!listed.includes(orderId))
        throw new StepFailure(
          `the cancel-all does not name ${orderId} among ${listed.length} orders`,
          'look at the order at the exchange: was it filled, or cancelled by somebody else?',
        )
      return `the cancel-all found it${others === 0 ? '' : `, and ${others} that others had placed`}`
    },
    proveGone: async () => {
      const { orderId } = given()
      await assertNothingRests(probe)
      const fills = await probe.readFills(placedAt - CLOCKS_DIFFER_MS)
      if (fills.some((fill) => fill.orderId === orderId) || (await probe.readHeldLots()) > 0)
        throw new StepFailure(
          'it was filled, far from the price',
          'look at the order book of the exchange',
        )
      return 'a second cancel-all finds nothing, no fill is read, and nothing is held'
    },
  }
}

const CLOCKS_DIFFER_MS = 60_000

async function assertNothingRests(probe: AccountProbe): Promise<void> {
  const still = await probe.cancelAll()
  if (still.length === 0) return
  throw new StepFailure(
    `a second cancel-all still finds ${still.length} orders`,
    'end what else trades this account, and run it again',
  )
}

async function trade({ probe, clock }: AcceptanceOptions): Promise<string> {
  const startedAt = clock.now() - CLOCKS_DIFFER_MS
  const { lots } = await farOrder(probe)
  const opened = await probe.place({ action: 'openLong', lots })
  if (!(await probe.until(async () => (await probe.readHeldLots()) === lots)))
    throw new StepFailure(
      'the position does not show what was bought',
      'look at the order at the exchange',
    )
  const closed = await probe.place({ action: 'closeLong', lots })
  if (!(await probe.until(async () => (await probe.readHeldLots()) === 0)))
    throw new StepFailure(
      'the position is still there after the close',
      'look at the order at the exchange',
    )
  const orderIds = new Set([opened.orderId, closed.orderId])
  const isRead = await probe.until(async () => {
    const own = (await probe.readFills(startedAt)).filter(({ orderId }) => orderIds.has(orderId))
    return own.reduce((sum, fill) => sum + fill.lots, 0) === lots * 2
  })
  if (!isRead)
    throw new StepFailure(
      'its fills cannot be read',
      'raise execution.fillVisibilityMs, and run it again',
    )
  const size = formatOnGrid(probe.instrument.lot, lots)
  return `${size} bought and sold at the market; position and fills say so`
}

/**
 * An exclusive account is cancelled by product type, as by a kill. A second cancel-all is the
 * proof.
 */
async function proveKill(
  { probe, config }: AcceptanceOptions,
  instrument: Instrument,
): Promise<string> {
  const wanted = await farOrder(probe)
  const { orderId } = await probe.place(wanted)
  const found = config.account.exclusive ? await probe.cancelProduct() : await probe.cancelAll()
  if (!found.includes(orderId))
    throw new StepFailure(
      `the cancel-all does not name ${orderId}`,
      'look at the open orders at the exchange',
    )
  await assertNothingRests(probe)
  if ((await probe.readHeldLots()) > 0)
    throw new StepFailure('a position is held', 'look at the order at the exchange')
  return config.account.exclusive
    ? 'one cancel-all took everything of the product type; a second one finds nothing'
    : `a cancel-all took everything of ${instrument.symbol}; a second one finds nothing`
}

async function farOrder(probe: AccountProbe): Promise<Required<WantedOrder>> {
  const { instrument } = probe
  const { bid } = await probe.readPrices()
  const ticks = stepBelow(instrument.tick, bid * (1 - FAR))
  let lots = Math.max(1, instrument.lotsMin)
  const lotValue = notionalOf(instrument, ticks, 1)
  if (lotValue.times(String(lots)).lt(instrument.notionalMin))
    lots = Math.ceil(Number(instrument.notionalMin.toString()) / Number(lotValue.toString()))
  return { action: 'openLong', lots, ticks }
}

function describe(
  { symbol, tick, lot }: Instrument,
  { lots, ticks }: Required<WantedOrder>,
): string {
  return `${symbol} buy ${formatOnGrid(lot, lots)} at ${formatOnGrid(tick, ticks)}`
}
