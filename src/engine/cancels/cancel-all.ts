import { planCancel } from '../../execution/cancel-plan.ts'
import { type CancelAllRequest } from '../../protocol/futures/cancel-all-orders.ts'
import { stakesNow, timingOf } from './cancel-stakes.ts'
import { tellPlan } from './cancel-told.ts'
import {
  askForCancel,
  hasResting,
  hasUnknown,
  isUnderCancel,
  RECEIVE_WINDOW_MS,
} from '../state/open-cancels.ts'
import { doubtCopies } from '../resolution/copy-unknown.ts'
import {
  announce,
  type CancelOnWire,
  type Core,
  exchangeNow,
  instrumentOf,
  laneOf,
  record,
} from '../state/core.ts'
import { startFence } from '../resolution/resolution.ts'
import { type FenceCause, type Lane } from '../state/instrument-state.ts'

/**
 * A cancel-all was granted: everything that could use it is weighed anew, on what is known now (late binding),
 * and the call goes to the lane that loses most by waiting, or to all of them. Given back when it is worth
 * nothing any more. A kill goes before everything.
 */
export function sendCancel(core: Core): void {
  if (core.kill?.phase === 'cutting') return sendCut(core)
  const lanes = [...core.lanes.values()].filter((lane) => !isUnderCancel(core, lane.symbol))
  const wishing = lanes.filter(isWishing)
  // With a cancel-all of the product on the wire no lane is left: one at a time.
  const mayCancelProduct = isOursAlone(core) && lanes.length === core.lanes.size && lanes.length > 1
  if (wishing.length === 0) return giveBack(core)
  const weighed = mayCancelProduct ? lanes : wishing
  const plan = planCancel({
    lanes: weighed.map((lane) => stakesNow(core, lane)),
    timing: { ...timingOf(core), waitMs: 0 },
    mayCancelProduct,
  })
  tellPlan(core, plan)
  for (const lane of wishing) lane.wantsCancel = false
  if (plan.kind === 'cancelProduct') return cancelProduct(core, 'planned')
  if (plan.kind !== 'cancelSymbol') return giveBack(core)
  const [first, ...others] = plan.order
  if (first === undefined) return giveBack(core)
  cancelSymbol(core, laneOf(core, first))
  for (const symbol of others) laneOf(core, symbol).wantsCancel = laneOf(core, symbol).state === 'idle'
  if (others.length > 0) askForCancel(core)
}

/** A kill takes everything of the product type away, whoever's it is; a stop that leaves takes no more than it must. */
function isOursAlone(core: Core): boolean {
  if (core.mode === 'killed') return true
  return core.settings.isExclusive && core.stop?.policy !== 'leave'
}

/**
 * What a kill does at once, whatever is on the wire: a lane whose batch is out is fenced again when that is
 * answered.
 */
function sendCut(core: Core): void {
  cancelProduct(core, 'kill')
  if (core.kill) core.kill.phase = 'draining'
}

function isWishing(lane: Lane): boolean {
  return lane.fence?.stage === 'cancelling' || (lane.wantsCancel && lane.state === 'idle')
}

function giveBack(core: Core): void {
  core.effects.push({ kind: 'returnGrant', endpoint: 'cancelAllOrders' })
}

/** One call for one lane. */
function cancelSymbol(core: Core, lane: Lane): void {
  const { cancelId, cancel } = register(core, { symbols: [lane.symbol], takesProduct: false })
  if (lane.state === 'idle') startFence(core, lane, 'unwanted')
  if (lane.fence?.stage === 'cancelling') cancel.joined.push(lane.symbol)
  send(core, cancelId, cancel, lane.fence?.cause ?? 'command')
}

/**
 * One call for every instrument: it takes every order of the product type away, ours or not. Each lane on
 * which something may rest is fenced behind it, and the others stay closed until it cannot arrive any more.
 */
function cancelProduct(core: Core, cause: 'planned' | 'kill'): void {
  const { cancelId, cancel } = register(core, { symbols: [...core.lanes.keys()], takesProduct: true })
  for (const lane of core.lanes.values()) if (joinSweep(core, lane)) cancel.joined.push(lane.symbol)
  send(core, cancelId, cancel, cause)
}

/**
 * The exchange has closed something of the account by itself, and may have cancelled what rested without a word:
 * every lane on which something may rest is closed as behind a cancel-all that came by. Written down before the
 * fills that tell of it: a life that ended between the two would know them, and believe in what rests.
 */
export function distrustResting(core: Core): void {
  for (const symbol of core.lanes.keys()) doubtCopies(core, symbol)
  const lanes = [...core.lanes.values()].filter(
    ({ symbol, state }) => state !== 'idle' || hasResting(core, symbol) || hasUnknown(core, symbol),
  )
  if (lanes.length === 0) return
  const symbols = lanes.map(({ symbol }) => symbol)
  const requestAt = exchangeNow(core)
  record(core, { kind: 'cancel', at: core.now, symbols, requestAt, cause: 'liquidation' }, true)
  announce(core, 'warn', 'resting.distrusted', { symbols })
  // A start fences by itself what is not fenced yet.
  const joining = core.mode === 'starting' ? lanes.filter(({ state }) => state !== 'idle') : lanes
  for (const lane of joining) joinSweep(core, lane)
}

/** Closes a lane behind a cancel-all of the product. True when the call is what its fence has waited for. */
function joinSweep(core: Core, lane: Lane): boolean {
  if (lane.state === 'idle') startFence(core, lane, 'swept')
  const { fence } = lane
  // A lane that is placing is fenced once its batch is answered: the book says that it was swept.
  if (!fence) return false
  const rests = hasResting(core, lane.symbol)
  if (rests && !fence.cancels) {
    fence.cancels = true
    core.stop?.cancelled.add(lane.symbol)
    // It was only waiting for readings of what cannot rest; now more of it is in question.
    if (fence.stage === 'settling') Object.assign(fence, UNPROVED)
  }
  return fence.stage === 'cancelling'
}

const UNPROVED = { stage: 'cancelling', fillsReads: 0, fillsReadAt: 0, positionRead: false } as const

/** On the wire from here on, so that no fence that begins now asks for a call of its own. */
function register(
  core: Core,
  scope: Pick<CancelOnWire, 'symbols' | 'takesProduct'>,
): { readonly cancelId: number; readonly cancel: CancelOnWire } {
  const cancel: CancelOnWire = { ...scope, joined: [], requestAt: exchangeNow(core) }
  core.cancelId += 1
  core.cancelSentAt = core.now
  core.cancels.set(core.cancelId, cancel)
  return { cancelId: core.cancelId, cancel }
}

/** Writes the call down, which is durable before its first byte, and lets it go. */
function send(
  core: Core,
  cancelId: number,
  cancel: CancelOnWire,
  cause: FenceCause | 'planned' | 'kill',
): void {
  const { symbols, takesProduct, requestAt } = cancel
  record(core, { kind: 'cancel', at: core.now, symbols, requestAt, cause }, true)
  announce(core, 'info', 'cancelAll.sent', { symbols, takesProduct, cause })
  const [symbol = ''] = symbols
  const { productType, marginCoin } = instrumentOf(core, symbol)
  const body: CancelAllRequest = {
    ...(takesProduct ? {} : { symbol }),
    productType,
    marginCoin,
    requestTime: String(Math.round(requestAt)),
    receiveWindow: String(RECEIVE_WINDOW_MS),
  }
  core.effects.push({ kind: 'sendCancelAll', cancelId, body: JSON.stringify(body) })
}
