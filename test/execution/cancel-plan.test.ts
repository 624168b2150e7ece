import { describe, expect, test } from 'vitest'
import {
  type CancelTiming,
  costOfInstrument,
  type InstrumentStakes,
  type Stake,
} from '../../src/execution/cancel-cost.ts'
import { planCancel, type CancelPlan } from '../../src/execution/cancel-plan.ts'
import { createRandom, type Random } from '../../src/lib/random.ts'

const TIMING: CancelTiming = { waitMs: 0, slotMs: 1000, outageMs: 3000 }

/** At the touch, worth 100, for a second, unless told otherwise. */
function stake(change: Partial<Stake> = {}): Stake {
  return { notional: 100, distanceRatio: 0, ageMs: 1000, ...change }
}

function instrument(symbol: string, change: Partial<InstrumentStakes> = {}): InstrumentStakes {
  return {
    symbol,
    rank: undefined,
    isPlacing: false,
    unwanted: [],
    displaced: [],
    missing: [],
    blocked: [],
    ...change,
  }
}

function plan(
  instruments: readonly InstrumentStakes[],
  { mayCancelProduct = true, ...timing }: Partial<CancelTiming> & { mayCancelProduct?: boolean } = {},
): CancelPlan {
  return planCancel({ instruments, timing: { ...TIMING, ...timing }, mayCancelProduct })
}

describe('with one instrument the planner', () => {
  const UNWANTED = [stake()]
  const FAR = stake({ distanceRatio: 0.01 })

  test.each<[string, Partial<InstrumentStakes>, CancelPlan['kind']]>([
    ['does nothing where nothing is wrong', {}, 'keep'],
    ['does nothing where only wanted orders rest', { displaced: [stake()] }, 'keep'],
    ['places what is missing where nothing is unwanted', { missing: [stake()] }, 'placeMissing'],
    ['cancels what nobody wants where nothing else rests', { unwanted: UNWANTED }, 'cancelSymbol'],
    [
      'keeps one unwanted order beside as much that is wanted',
      { unwanted: UNWANTED, displaced: [stake()] },
      'keep',
    ],
    [
      'cancels when it has been wrong for longer than the cancel would be',
      { unwanted: [stake({ ageMs: 4000 })], displaced: [stake()] },
      'cancelSymbol',
    ],
    [
      'keeps it for longer when the wanted order has queued for long',
      { unwanted: [stake({ ageMs: 4000 })], displaced: [stake({ ageMs: 30_000 })] },
      'keep',
    ],
    [
      'minds an unwanted order less the further away it stands',
      { unwanted: [stake({ ageMs: 4000, distanceRatio: 0.01 })], displaced: [stake()] },
      'keep',
    ],
    ['minds a wanted one less too', { unwanted: UNWANTED, displaced: [FAR] }, 'cancelSymbol'],
    [
      'weighs by value: a small unwanted order does not cost a large wanted one its place',
      { unwanted: [stake({ notional: 10, ageMs: 10_000 })], displaced: [stake()] },
      'keep',
    ],
    [
      'keeps and places what has room beside the unwanted order',
      { unwanted: UNWANTED, displaced: [stake()], missing: [stake()] },
      'placeMissing',
    ],
    [
      'cancels sooner when the unwanted order takes the room of wanted ones',
      {
        unwanted: [stake({ ageMs: 2000 })],
        displaced: [FAR],
        blocked: [stake({ notional: 500, ageMs: 4000 })],
      },
      'cancelSymbol',
    ],
    [
      'cancels what must be, whatever it costs',
      { rank: 0, displaced: [stake({ notional: 1e6 })] },
      'cancelSymbol',
    ],
    ['leaves a instrument alone while its batch is out', { unwanted: UNWANTED, isPlacing: true }, 'keep'],
  ])('%s', (_, change, kind) => {
    expect(plan([instrument('A', change)], { mayCancelProduct: false }).kind).toBe(kind)
  })

  test('cancels rather when the call is there than when it has to be waited for', () => {
    const stakes = instrument('A', {
      unwanted: [stake({ ageMs: 1200 })],
      displaced: [stake({ notional: 30 })],
    })

    expect(plan([stakes], { mayCancelProduct: false }).kind).toBe('cancelSymbol')
    expect(plan([stakes], { mayCancelProduct: false, waitMs: 1000 }).kind).toBe('keep')
  })
})

describe('with several instruments the planner', () => {
  const must = (symbol: string, change: Partial<InstrumentStakes> = {}): InstrumentStakes =>
    instrument(symbol, { rank: 2, unwanted: [stake()], ...change })

  test('gives the first call to whoever loses most by waiting', () => {
    const instruments = [must('A'), must('B', { unwanted: [stake({ notional: 500 })] }), must('C')]

    expect(plan(instruments, { mayCancelProduct: false })).toMatchObject({ order: ['B', 'A', 'C'] })
  })

  test('gives it to a command before all', () => {
    const instruments = [must('A', { unwanted: [stake({ notional: 500 })] }), must('B', { rank: 0 })]

    expect(plan(instruments, { mayCancelProduct: false })).toMatchObject({ order: ['B', 'A'] })
  })

  test('cancels the product when several need it and nothing that is wanted rests', () => {
    expect(plan([must('A'), must('B'), must('C'), instrument('D')]).kind).toBe('cancelProduct')
  })

  test('cancels by name when elsewhere more is wanted than is won', () => {
    const busy = instrument('D', { displaced: [stake({ notional: 1000 })] })

    expect(plan([must('A'), must('B'), busy]).kind).toBe('cancelSymbol')
  })

  test('minds a batch on the wire twice: what it carries has to be cancelled again', () => {
    const busy = (isPlacing: boolean): InstrumentStakes =>
      instrument('D', { isPlacing, displaced: [stake({ notional: 60 })] })
    const instruments = [must('A'), must('B')]

    expect(plan([...instruments, busy(false)]).kind).toBe('cancelProduct')
    expect(plan([...instruments, busy(true)]).kind).toBe('cancelSymbol')
  })

  test('never cancels the product where orders may be somebody else’s', () => {
    const { kind, costs } = plan([must('A'), must('B')], { mayCancelProduct: false })

    expect([kind, costs.product]).toEqual(['cancelSymbol', Number.POSITIVE_INFINITY])
  })

  test('keeps what is not worth its place in the queue, and cancels the rest', () => {
    const small = instrument('B', {
      unwanted: [stake({ notional: 10, ageMs: 1040 })],
      blocked: [stake({ ageMs: 900 })],
      displaced: [],
    })

    const instruments = [must('A', { unwanted: [stake({ notional: 900 })] }), small]
    expect(plan(instruments, { mayCancelProduct: false })).toMatchObject({ order: ['A'] })
  })

  test('weighs a bounded number of them', () => {
    const instruments = Array.from({ length: 150 }, (_, index) => must(`S${index}`))

    expect(plan(instruments, { mayCancelProduct: false })).toMatchObject({ order: { length: 60 } })
  })
})

describe('the chosen plan never costs more than another one by the model', () => {
  const seeds = Array.from({ length: 300 }, (_, index) => index)

  test('of all choices and orders of up to four instruments', () => {
    for (const seed of seeds) {
      const random = createRandom(`cancel-plan/${seed}`)
      const instruments = Array.from({ length: 1 + random.integer(4) }, (_, index) =>
        drawLane(random, `S${index}`),
      )
      const timing = { ...TIMING, waitMs: random.integer(1500) }
      const chosen = planCancel({ instruments, timing, mayCancelProduct: random.integer(2) === 0 })
      const paid =
        chosen.kind === 'cancelSymbol'
          ? costOfCalls(instruments, chosen.order, timing)
          : chosen.kind === 'cancelProduct'
            ? chosen.costs.product
            : costOfCalls(instruments, [], timing)

      const cheapest = Math.min(
        chosen.costs.product,
        ...arrangements(instruments.filter((one) => !one.isPlacing)).map((order) =>
          costOfCalls(instruments, order, timing),
        ),
      )
      expect(paid, `seed ${seed}`).toBeLessThanOrEqual(cheapest * (1 + 1e-9))
    }
  })
})

/** The model spelled out: what one call after the other costs, and what is kept. */
function costOfCalls(
  instruments: readonly InstrumentStakes[],
  order: readonly string[],
  timing: CancelTiming,
): number {
  return instruments.reduce((sum, one) => {
    if (one.isPlacing || (one.unwanted.length === 0 && one.rank === undefined)) {
      return sum + (order.includes(one.symbol) ? Number.POSITIVE_INFINITY : 0)
    }
    const cost = costOfInstrument(one, timing)
    const place = order.indexOf(one.symbol)
    if (place < 0) return sum + cost.keep
    return sum + cost.call + cost.cancel + cost.cancelPerMs * (timing.waitMs + place * timing.slotMs)
  }, 0)
}

/** Every choice of the instruments in every order in which what must be cancelled goes first. */
function arrangements(instruments: readonly InstrumentStakes[]): readonly string[][] {
  const firsts = instruments.some(({ rank }) => rank !== undefined)
    ? instruments.filter(({ rank }) => rank !== undefined)
    : instruments
  return [
    [],
    ...firsts.flatMap((first) =>
      arrangements(instruments.filter((other) => other !== first)).map((rest) => [first.symbol, ...rest]),
    ),
  ]
}

function drawLane(random: Random, symbol: string): InstrumentStakes {
  const draw = (most: number): Stake[] =>
    Array.from({ length: random.integer(most + 1) }, () =>
      stake({
        notional: 1 + random.integer(500),
        distanceRatio: random.integer(30) / 10_000,
        ageMs: random.integer(20_000),
      }),
    )
  return instrument(symbol, {
    rank: random.integer(4) === 0 ? 2 : undefined,
    isPlacing: random.integer(6) === 0,
    unwanted: draw(3),
    displaced: draw(4),
    missing: draw(2),
    blocked: draw(1),
  })
}
