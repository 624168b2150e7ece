import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { toOrderId } from '../../src/domain/ids.ts'
import {
  isTerminal,
  OPEN_STATES,
  type Order,
  type OrderState,
  TERMINAL_STATES,
} from '../../src/domain/order.ts'
import {
  applyFillToOrder,
  markAbsent,
  markAccepted,
  markClockRefused,
  markDone,
  markExpired,
  markLost,
  markNotSent,
  markQuarantined,
  markQueuedAgain,
  markRejected,
  markReleased,
  markSentAgain,
  markUnknown,
} from '../../src/execution/order-machine.ts'
import { createRandom } from '../../src/lib/random.ts'
import { madeSent, SENT_AT } from './made-terms.ts'

const ID = toOrderId('77')
const NOW = SENT_AT + 50

/** Everything that an order can hear. */
const HEARINGS: Readonly<Record<string, (order: Order) => Order>> = {
  sentAgain: (order) => markSentAgain(order, NOW),
  accepted: (order) => markAccepted(order, ID, NOW),
  acceptedWithoutId: (order) => markAccepted(order, undefined, NOW),
  rejected: (order) => markRejected(order, 'no'),
  queuedAgain: (order) => markQueuedAgain(order, 'absent'),
  notSent: (order) => markNotSent(order, 'refused'),
  unknown: (order) => markUnknown(order, 'timeout'),
  expired: (order) => markExpired(order, 'late'),
  done: (order) => markDone(order, undefined, 'cancelled'),
  absent: (order) => markAbsent(order, 'no trace'),
}

const retried = markQueuedAgain(markUnknown(madeSent(), '429'), 'absent')
const notSent = markNotSent(madeSent(), 'refused')
const unknown = markUnknown(madeSent(), 'timeout')
const live = markAccepted(madeSent(), ID, NOW)

describe('an order', () => {
  test.each([
    ['sent', 'accepted', madeSent(), 'live'],
    ['sent', 'rejected', madeSent(), 'rejected'],
    ['unknown', 'queuedAgain', unknown, 'queued'],
    ['sent', 'notSent', madeSent(), 'queued'],
    ['sent', 'unknown', madeSent(), 'unknown'],
    ['queued', 'sentAgain', retried, 'sent'],
    ['queued', 'accepted', retried, 'live'],
    ['queued', 'unknown', retried, 'unknown'],
    ['queued and never sent', 'expired', notSent, 'expired'],
    ['queued after an attempt', 'expired', retried, 'queued'],
    ['unknown', 'accepted', unknown, 'live'],
    ['unknown', 'done', unknown, 'done'],
    ['unknown', 'absent', unknown, 'absent'],
    ['live', 'done', live, 'done'],
    ['live', 'absent', live, 'live'],
    ['live', 'rejected', live, 'live'],
    ['unknown', 'rejected', unknown, 'unknown'],
  ])('that is %s hears %s', (_, hearing, order, state) => {
    expect(HEARINGS[hearing]?.(order).state).toBe(state)
  })

  test('[ORD3] that is refused after an earlier attempt is unknown, not rejected', () => {
    expect(markRejected(markSentAgain(retried, NOW), 'no').state).toBe('unknown')
  })

  test('that never left counts no attempt, and starts its window anew', () => {
    const again = markSentAgain(notSent, NOW)

    expect([notSent.attempts, again.attempts, again.firstSentAt]).toEqual([0, 1, NOW])
  })

  test('that had a 429 keeps its first instant: the exchange may have counted it', () => {
    expect(markSentAgain(retried, NOW)).toMatchObject({
      attempts: 2,
      firstSentAt: SENT_AT,
      lastSentAt: NOW,
    })
  })

  test.each(Object.keys(HEARINGS))('hearing %s twice changes nothing more', (name) => {
    for (const order of [madeSent(), retried, notSent, unknown, live]) {
      const once = HEARINGS[name]?.(order)
      if (once && name !== 'sentAgain') expect(HEARINGS[name]?.(once)).toEqual(once)
    }
  })

  test('fills it to its size and no further', () => {
    const part = applyFillToOrder(live, 4)

    expect([part.state, part.filledLots]).toEqual(['live', 4])
    expect(applyFillToOrder(part, 6).state).toBe('filled')
    expect(applyFillToOrder(part, 7).state).toBe('quarantined')
  })

  test('that fills cannot be absent', () => {
    expect(markAbsent(applyFillToOrder(unknown, 1), 'no trace').state).toBe('unknown')
  })

  test('that was called absent and fills all the same was there', () => {
    expect(applyFillToOrder(markAbsent(unknown, 'no trace'), 4)).toMatchObject({
      state: 'done',
      filledLots: 4,
    })
  })

  test('that has ended still learns its id, so that waiting fills find it', () => {
    const ended = markDone(unknown, undefined, 'cancelled')

    expect(markAccepted(ended, ID, NOW)).toEqual({ ...ended, orderId: ID })
  })

  test('that contradicts itself waits for a person, whatever it hears', () => {
    const odd = markQuarantined(live, 'filled beyond its size')

    for (const hear of Object.values(HEARINGS)) expect(hear(odd).state).toBe('quarantined')
  })

  test('never throws, and never comes back from its end, whatever it hears in whatever order', () => {
    const random = createRandom('order-machine')
    const names = Object.keys(HEARINGS)
    for (let run = 0; run < 2000; run++) {
      let order = madeSent()
      for (let step = 0; step < 12; step++) {
        const wasOver = isTerminal(order)
        const hearing = HEARINGS[names[random.integer(names.length)] ?? '']
        order = random.integer(6) === 0 ? applyFillToOrder(order, 1) : (hearing?.(order) ?? order)
        if (wasOver) expect(isTerminal(order) || order.state === 'quarantined').toBe(true)
      }
    }
  })
})

const STATES: readonly OrderState[] = [...OPEN_STATES, ...TERMINAL_STATES]

/** Each function of the table, with fills of every size for the last one. */
const FUNCTIONS: Readonly<Record<string, readonly ((order: Order) => Order)[]>> = {
  markSentAgain: [(order) => markSentAgain(order, NOW)],
  markAccepted: [(order) => markAccepted(order, ID, NOW)],
  markRejected: [(order) => markRejected(order, 'no')],
  markNotSent: [(order) => markNotSent(order, 'refused')],
  markClockRefused: [(order) => markClockRefused(order, '40008')],
  markUnknown: [(order) => markUnknown(order, 'timeout')],
  markExpired: [(order) => markExpired(order, 'late')],
  markDone: [(order) => markDone(order, undefined, 'cancelled')],
  markAbsent: [(order) => markAbsent(order, 'no trace')],
  markQueuedAgain: [(order) => markQueuedAgain(order, 'absent')],
  markQuarantined: [(order) => markQuarantined(order, 'odd')],
  markReleased: [(order) => markReleased(order, undefined, 'looked')],
  markLost: [(order) => markLost(order, 'damaged', NOW)],
  applyFillToOrder: [1, 6, 10, 11].map((lots) => (order: Order) => applyFillToOrder(order, lots)),
}

/** `name: from → to` of each change that the function makes to orders in every state. */
function changesOf(name: string): ReadonlySet<string> {
  const orders = STATES.flatMap((state) =>
    [0, 1, 2].flatMap((attempts) =>
      [0, 4].map((filledLots): Order => ({ ...madeSent(), state, attempts, filledLots })),
    ),
  )
  const changes = orders.flatMap((order) =>
    (FUNCTIONS[name] ?? []).map((apply) => [order.state, apply(order).state] as const),
  )
  return new Set(changes.flatMap(([from, to]) => (from === to ? [] : [`${from} → ${to}`])))
}

/** The same, as the table above the functions says it. */
function readTable(): ReadonlyMap<string, ReadonlySet<string>> {
  const source = new URL('../../src/execution/order-machine.ts', import.meta.url)
  const table = new Map<string, Set<string>>()
  for (const { groups } of readFileSync(source, 'utf8').matchAll(
    /^ \* \| `(?<name>\w+)` +\| (?<from>[\w, ]+?) +\| (?<to>[\w, ]+?) +\|$/gm,
  )) {
    const { name = '', from = '', to = '' } = groups ?? {}
    const changes = table.get(name) ?? new Set()
    for (const one of from === 'any' ? STATES : from.toLowerCase().split(', '))
      for (const other of to.toLowerCase().split(', '))
        if (one !== other) changes.add(`${one} → ${other}`)
    table.set(name, changes)
  }
  return table
}

describe('the table of the states', () => {
  const table = readTable()

  test('names each function', () => {
    expect([...table.keys()].toSorted()).toEqual(Object.keys(FUNCTIONS).toSorted())
  })

  test.each(Object.keys(FUNCTIONS))('says what %s does, and nothing else', (name) => {
    expect([...(table.get(name) ?? [])].toSorted()).toEqual([...changesOf(name)].toSorted())
  })
})
