import type { OrderTerms } from '../../../src/domain/order.ts'
import { isClosing, tradesAs } from '../../../src/domain/order-action.ts'
import { netLots, type PositionReading } from '../../../src/domain/position.ts'
import { type EngineEvent } from '../../../src/engine/event.ts'
import { holdingOf, pairKey } from '../../../src/engine/book/book.ts'
import { type World, type WorldWatcher, violate } from '../world/world.ts'

export const SETTINGS = ['positionMode', 'marginMode', 'leverage'] as const
/** Beyond this error an answer's time is useless, and proves nothing here. */
const TIME_OFF_MS = 1500

/**
 * Two answers about a position, the second requested after the first arrived, that name another
 * margin mode, leverage or position mode than configured, restrict the instrument; two that agree
 * end it.
 */
export function watchSettings(world: World): WorldWatcher {
  const seen = new Map<
    string,
    { readonly isWrong: boolean; readonly at: number; readonly times: number }
  >()
  return {
    onBirth: () => seen.clear(),
    afterStep(event, effects, now) {
      const { engine } = world.process
      if (event.kind !== 'positionRead' || engine === undefined) return
      // Its own clock was wrong: it said so, and believed nothing of the answer.
      if (effects.some((effect) => effect.kind === 'announce' && effect.event === 'read.failed'))
        return
      const { reading } = event
      if (Math.abs(reading.exchangeTime - world.time.now) > TIME_OFF_MS) return
      // A closed position takes its margin mode with it.
      if (reading.rows.length === 0) return void seen.delete(pairKey(reading.symbol, 'marginMode'))
      for (const setting of SETTINGS) {
        const isWrong = namesAnother(world, reading, setting)
        if (isWrong === undefined) continue
        const key = pairKey(reading.symbol, setting)
        const before = seen.get(key)
        const isSame = before?.isWrong === isWrong
        const times = isSame ? before.times + Number(reading.requestedAt >= before.at) : 1
        seen.set(key, { isWrong, at: now, times })
        const isHeld = engine.book.restrictions.has(key)
        if (times >= 2 && isHeld !== isWrong)
          violate(
            world,
            'RSK2',
            `${key} is ${isWrong ? 'wrong' : 'right'} in ${times} answers, and ${isHeld ? 'is' : 'not'} restricted`,
          )
      }
    },
  }
}

/** Undefined if the rows name no value. */
export function namesAnother(
  { settings }: World,
  { rows, symbol }: PositionReading,
  setting: (typeof SETTINGS)[number],
): boolean | undefined {
  const wanted =
    setting === 'leverage' ? settings.instruments.get(symbol)?.leverage : settings[setting]
  const said = rows.map((row) => row[setting]).filter((value) => value !== undefined)
  return said.length === 0 ? undefined : said.some((value) => value !== wanted)
}

/** Codes for orders off the grid. */
const GRID_CODES = ['45115', '22038']
/** Wait after the second refusal; it doubles each time. */
const FIRST_WAIT_MS = 250
/** Answers before the waits begin, with one on either edge. */
const AT_ONCE = 4

/**
 * While the exchange accepts coarser prices or sizes, adding orders there are refused ever more
 * rarely, however many others are accepted. Refusals are read from the wire.
 */
export function watchRefusals(world: World): WorldWatcher {
  const counts = new Map<string, { readonly since: number; times: number }>()
  const answered = new Set<number>()
  const countAnswer = (event: Extract<EngineEvent, { kind: 'batchAnswered' }>): void => {
    const { answer, batchId } = event
    if (answer.kind !== 'accepted' || answered.has(batchId)) return
    answered.add(batchId)
    const refused = answer.data.failureList.filter(({ errorCode }) =>
      GRID_CODES.includes(errorCode ?? ''),
    )
    const names = refused.flatMap(({ clientOid, errorCode }) => {
      const terms = clientOid ? termsOf(world, clientOid) : undefined
      return terms && adds(world, terms) ? [`${terms.strategyId} ${terms.symbol} ${errorCode}`] : []
    })
    for (const name of new Set(names)) {
      const symbol = name.split(' ')[1] ?? ''
      const change = world.exchange.settingChanges.of(symbol)
      if (change?.is.priceSteps === undefined && change?.is.sizeSteps === undefined)
        counts.delete(name)
      else {
        const known = counts.get(name)
        const count = known?.since === change.since ? known : { since: change.since, times: 0 }
        counts.set(name, count)
        count.times += 1
        const lasted = Math.max(1, (world.time.now - change.since) / FIRST_WAIT_MS)
        const allowed = AT_ONCE + Math.ceil(Math.log2(lasted))
        if (count.times > allowed)
          violate(
            world,
            'WISH',
            `${name} is refused ${count.times} times, ${allowed} are the most by then`,
          )
      }
    }
  }
  return {
    onBirth() {
      counts.clear()
      answered.clear()
    },
    // After a release everything is tried again.
    onRecord(record) {
      if (record.kind === 'released' && record.code === undefined) counts.clear()
    },
    afterStep(event) {
      if (event.kind === 'batchAnswered') countAnswer(event)
    },
  }
}

function termsOf({ process }: World, clientOid: string): OrderTerms | undefined {
  return [...(process.engine?.book.orders.values() ?? [])].find(
    ({ terms }) => terms.clientOid === clientOid,
  )?.terms
}

/** The order certainly adds to its strategy's holding. */
function adds(
  { process, plan }: World,
  { action, purpose, strategyId, symbol }: OrderTerms,
): boolean {
  const { book } = process.engine ?? {}
  if (!book || purpose === 'flatten' || isClosing(action)) return false
  if (plan.positionMode === 'hedge_mode') return true
  const net = netLots(holdingOf(book, strategyId, symbol))
  return tradesAs(action) === 'sell' ? net <= 0 : net >= 0
}
