import { describe, expect, it } from 'vitest'
import { dueExitOf, type ExitRules, type ExitState, NO_EXITS } from '../../src/domain/exits.ts'
import { FLAT } from '../../src/domain/position.ts'
import { createRandom } from '../../src/lib/random.ts'
import { advanceExits, boundTarget, type ExitMoment } from '../../src/risk/exit-machine.ts'

const MINUTE = 60_000
const share = (millionths: number) => ({ kind: 'share', millionths }) as const
const FLAT_SIDE = { lots: 0, entryTicks: null, openedAt: undefined }

interface Drawn {
  readonly side?: 'long' | 'short'
  readonly lots: number
  readonly entry?: number | null
  readonly at?: number
  readonly openedAt?: number
  readonly prices?: readonly [number, number] | number
  readonly target?: number
  readonly net?: number
  readonly atrTicks?: number
  readonly lotsMin?: number
}

function momentOf(drawn: Drawn): ExitMoment {
  const { side = 'long', lots, entry = 1000, at = 0, prices, target, net = 0, lotsMin = 1 } = drawn
  const held = lots === 0 ? FLAT_SIDE : { lots, entryTicks: entry, openedAt: drawn.openedAt ?? 0 }
  const [low, high] = typeof prices === 'number' ? [prices, prices] : (prices ?? [])
  return {
    at,
    long: side === 'long' ? held : FLAT_SIDE,
    short: side === 'short' ? held : FLAT_SIDE,
    prices: low === undefined || high === undefined ? undefined : { low, high },
    atrTicks: drawn.atrTicks,
    lotsMin,
    target,
    net,
    tradeNet: 0,
    worthOf: (size, ticks) => size * ticks,
  }
}

function play(rules: ExitRules, moments: readonly Drawn[], from = NO_EXITS): ExitState {
  return moments.reduce<ExitState>(
    (state, drawn) => advanceExits(rules, state, momentOf(drawn)),
    from,
  )
}

describe('stops', () => {
  it('are met at the level itself, and only by two prices in a row', () => {
    const rules = { stop: share(50_000) }
    expect(dueExitOf(play(rules, [{ lots: 10, prices: [951, 951] }]))).toBeUndefined()
    expect(dueExitOf(play(rules, [{ lots: 10, prices: [940, 951] }]))).toBeUndefined()
    expect(dueExitOf(play(rules, [{ lots: 10, prices: [940, 950] }]))).toEqual({
      holdSide: 'long',
      kind: 'stop',
      keptLots: 0,
      since: 0,
    })
  })

  it('of a short position are above it', () => {
    const rules = { stop: share(50_000) }
    const short = { side: 'short', lots: 10 } as const
    expect(dueExitOf(play(rules, [{ ...short, prices: [1049, 1060] }]))).toBeUndefined()
    expect(dueExitOf(play(rules, [{ ...short, prices: 1050 }]))?.holdSide).toBe('short')
  })

  it('stay due when the price comes back, and end with the position', () => {
    const rules = { stop: share(50_000) }
    const due = play(rules, [
      { lots: 10, prices: 900 },
      { lots: 4, prices: 1100 },
    ])
    expect(dueExitOf(due)?.kind).toBe('stop')
    expect(play(rules, [{ lots: 0 }], due)).toEqual(NO_EXITS)
  })

  it('trail behind the best price once it has brought enough', () => {
    const rules = { trailing: { after: 20_000, distance: share(10_000) } }
    const below = [
      { lots: 1, prices: 1019 },
      { lots: 1, prices: 1000 },
    ]
    expect(dueExitOf(play(rules, below))).toBeUndefined()
    const above = [
      { lots: 1, prices: 1100 },
      { lots: 1, prices: 1090 },
    ]
    expect(dueExitOf(play(rules, above))).toBeUndefined()
    expect(dueExitOf(play(rules, [...above, { lots: 1, prices: 1089 }]))?.kind).toBe('trailing')
  })

  it('trail at once without `after`, also where the entry is never reached again', () => {
    const rules = { trailing: { after: 0, distance: share(10_000) } }
    const long = [
      { lots: 1, entry: 1002, prices: 1000 },
      { lots: 1, entry: 1002, prices: 991 },
    ]
    expect(dueExitOf(play(rules, long))).toBeUndefined()
    expect(dueExitOf(play(rules, [...long, { lots: 1, entry: 1002, prices: 990 }]))?.kind).toBe(
      'trailing',
    )
    const short = { side: 'short', lots: 1, entry: 998 } as const
    const risen = [
      { ...short, prices: 1000 },
      { ...short, prices: 1010 },
    ]
    expect(dueExitOf(play(rules, risen))?.kind).toBe('trailing')
  })

  it('count the ATR at entry', () => {
    const rules = {
      stop: { kind: 'atr', millionths: 2_500_000 },
      atr: { intervalMs: MINUTE, period: 14 },
    } as const
    const begun = { lots: 1, prices: 1000, atrTicks: 11 }
    expect(dueExitOf(play(rules, [begun, { lots: 1, prices: 973, atrTicks: 1 }]))).toBeUndefined()
    expect(dueExitOf(play(rules, [begun, { lots: 1, prices: 972, atrTicks: 99 }]))?.kind).toBe(
      'stop',
    )
    expect(dueExitOf(play(rules, [{ lots: 1, prices: 1 }]))).toBeUndefined()
  })

  it('after a gap are named by the level that was met first', () => {
    const rules = { stop: share(50_000), breakEven: { after: 10_000, offset: 1000 } }
    const moments = [
      { lots: 1, prices: 1010 },
      { lots: 1, prices: 900 },
    ]
    expect(dueExitOf(play(rules, moments))?.kind).toBe('breakEven')
  })

  it('are not judged without an entry or a price', () => {
    const rules = { stop: share(50_000), timeLimitMs: MINUTE }
    expect(dueExitOf(play(rules, [{ lots: 1, entry: null, prices: 1 }]))).toBeUndefined()
    expect(dueExitOf(play(rules, [{ lots: 1 }]))).toBeUndefined()
    expect(dueExitOf(play(rules, [{ lots: 1, at: MINUTE }]))?.kind).toBe('timeLimit')
  })
})

describe('profits', () => {
  const table = [
    { fromMs: 0, least: 40_000 },
    { fromMs: 30 * MINUTE, least: 20_000 },
    { fromMs: 120 * MINUTE, least: 0 },
  ]

  it('of the table fall with the time held', () => {
    const kindAt = (minutes: number, prices: number) =>
      dueExitOf(play({ profitTable: table }, [{ lots: 1, at: minutes * MINUTE, prices }]))?.kind
    expect([kindAt(29, 1039), kindAt(29, 1040)]).toEqual([undefined, 'profitTable'])
    expect([kindAt(30, 1019), kindAt(30, 1020)]).toEqual([undefined, 'profitTable'])
    expect([kindAt(120, 999), kindAt(120, 1000)]).toEqual([undefined, 'profitTable'])
  })

  const parts = {
    takeProfits: [
      { at: 20_000, close: 500_000 },
      { at: 40_000, close: 250_000 },
    ],
  }

  it('close parts of the largest size, each once, and hold a target down to the rest', () => {
    const first = play(parts, [{ lots: 10, prices: 1020, target: 10 }])
    expect(dueExitOf(first)).toMatchObject({ kind: 'takeProfit', keptLots: 5 })
    const done = play(parts, [{ lots: 5, prices: 1030, target: 10 }], first)
    expect(dueExitOf(done)).toBeUndefined()
    expect(boundTarget(done, 10, { longLots: 5, shortLots: 0 })).toBe(5)
    expect(boundTarget(done, 3, { longLots: 5, shortLots: 0 })).toBe(3)
    const second = play(parts, [{ lots: 5, prices: 1040 }], done)
    expect(dueExitOf(second)).toMatchObject({ keptLots: 3 })
    expect(dueExitOf(play(parts, [{ lots: 3, prices: 1100 }], second))).toBeUndefined()
  })

  it('of several parts at once are one exit, and a rest that is too small goes along', () => {
    expect(dueExitOf(play(parts, [{ lots: 10, prices: 1040 }]))).toMatchObject({ keptLots: 3 })
    const small = play(parts, [{ lots: 10, prices: 1020, lotsMin: 6 }])
    expect(dueExitOf(small)).toMatchObject({ keptLots: 0 })
  })

  it('give way to a stop while a part is due', () => {
    const rules = { ...parts, stop: share(50_000) }
    const state = play(rules, [
      { lots: 10, prices: 1020 },
      { lots: 8, prices: 950 },
    ])
    expect(dueExitOf(state)).toMatchObject({ kind: 'stop', keptLots: 0 })
  })
})

describe('after an exit', () => {
  const rules = { stop: share(50_000), coolDownMs: 10 * MINUTE }

  it('nothing is entered before the cool-down ends, and then the target counts again', () => {
    const exited = play(rules, [
      { lots: 10, prices: 950, target: 10 },
      { lots: 0, at: MINUTE, target: 10 },
    ])
    expect(exited).toMatchObject({
      lock: 'long',
      pause: { cause: 'coolDown', untilAt: 11 * MINUTE },
    })
    expect(boundTarget(exited, 10, FLAT)).toBe(0)
    expect(boundTarget(exited, -10, FLAT)).toBe(0)
    const over = play(rules, [{ lots: 0, at: 11 * MINUTE, target: 10 }], exited)
    expect(over).toMatchObject({ lock: null, pause: null })
    expect(boundTarget(over, 10, FLAT)).toBe(10)
  })

  it('without a cool-down the target waits until it was something else', () => {
    const { coolDownMs: _, ...plain } = rules
    const exited = play(plain, [
      { lots: 10, prices: 950, target: 10 },
      { lots: 0, at: 1, target: 10 },
      { lots: 0, at: 1000 * MINUTE, target: 12 },
    ])
    expect(boundTarget(exited, 12, FLAT)).toBe(0)
    expect(boundTarget(exited, -5, FLAT)).toBe(-5)
    const free = play(plain, [{ lots: 0, at: 1001 * MINUTE, target: 0 }], exited)
    expect(boundTarget(free, 10, FLAT)).toBe(10)
  })

  it('a trade that the strategy closed itself pauses nothing', () => {
    expect(
      play(rules, [
        { lots: 10, prices: 1000, target: 10 },
        { lots: 0, target: 0 },
      ]),
    ).toEqual(NO_EXITS)
  })

  it('what is left and cannot be closed is no trade any more', () => {
    const state = play({ stop: share(50_000) }, [
      { lots: 10, prices: 950, lotsMin: 5 },
      { lots: 3, prices: 950, lotsMin: 5 },
      { lots: 3, prices: 950, lotsMin: 5 },
    ])
    expect(dueExitOf(state)).toBeUndefined()
    expect(state.long).toBeNull()
  })

  it.each(['long', 'short'] as const)(
    'a %s trade upon a rest that could not be closed counts from its own opening',
    (side) => {
      const limited = {
        timeLimitMs: 30 * MINUTE,
        protections: {
          lowProfit: { trades: 2, withinMs: 600 * MINUTE, below: 0, pauseMs: MINUTE },
        },
      }
      const here = { side, lotsMin: 5, openedAt: 0 } as const
      const exited = play(limited, [
        { ...here, lots: 10, at: 0 },
        { ...here, lots: 10, at: 30 * MINUTE },
        { ...here, lots: 3, at: 31 * MINUTE, net: -70 },
      ])
      expect(exited).toMatchObject({ [side]: null, rests: { [side]: -70 } })
      expect(exited.ended).toMatchObject([{ net: -70 }])

      const entered = play(limited, [{ ...here, lots: 12, at: 41 * MINUTE, net: -71 }], exited)
      expect(entered[side]).toMatchObject({ openedAt: 41 * MINUTE, netBefore: -70, due: null })
      expect(entered.rests).toBeUndefined()
      const later = play(limited, [{ ...here, lots: 12, at: 71 * MINUTE, net: -71 }], entered)
      expect(dueExitOf(later)?.kind).toBe('timeLimit')
      expect(play(limited, [{ ...here, lots: 0, at: 42 * MINUTE, net: -70 }], exited).rests).toBe(
        undefined,
      )
    },
  )

  it('a trade that the strategy itself reduced to such a rest has ended too', () => {
    const here = { lotsMin: 5, openedAt: 0 }
    const state = play({ timeLimitMs: 30 * MINUTE }, [
      { ...here, lots: 10 },
      { ...here, lots: 3, at: MINUTE },
      { ...here, lots: 10, at: 40 * MINUTE },
    ])
    expect(dueExitOf(state)).toBeUndefined()
    expect(state.long).toMatchObject({ openedAt: 40 * MINUTE })
  })

  it('stops at a loss pause entries when they come too often', () => {
    const guarded = {
      stop: share(50_000),
      protections: { stops: { count: 2, withinMs: 60 * MINUTE, pauseMs: 240 * MINUTE } },
    }
    const trade = (at: number, net: number): Drawn[] => [
      { lots: 10, at, openedAt: at, prices: 950, net: net + 50 },
      { lots: 0, at: at + MINUTE, net },
    ]
    const one = play(guarded, trade(0, -50))
    expect(one.pause).toBeNull()
    const two = play(guarded, trade(10 * MINUTE, -100), one)
    expect(two.pause).toEqual({ cause: 'stops', untilAt: 251 * MINUTE })
    expect(play(guarded, trade(70 * MINUTE, -100), one).pause).toBeNull()
  })

  it('so does too little profit of trades that ended in any way', () => {
    const guarded = {
      protections: {
        lowProfit: { trades: 2, withinMs: 60 * MINUTE, below: 1000, pauseMs: 5 * MINUTE },
      },
    }
    const after = (net: number) =>
      play(guarded, [
        { lots: 10, net: 0 },
        { lots: 0, net: net / 2 },
        { lots: 10, net: net / 2, at: 1, openedAt: 1 },
        { lots: 0, net, at: 2 },
      ]).pause
    expect(after(20)).toBeNull()
    expect(after(19)).toEqual({ cause: 'lowProfit', untilAt: 2 + 5 * MINUTE })
  })
})

/** An independent count: every level as a fraction of whole numbers, from the whole history at each step. */
function judgeSlowly(
  rules: ExitRules,
  entry: readonly [bigint, bigint],
  history: readonly Drawn[],
) {
  const million = 1_000_000n
  const isLong = history[0]?.side === 'long'
  const [worst, better] = isLong ? [0, 1] : [1, 0]
  const pairs = history.map(({ prices }) => prices as readonly [number, number])
  const gainIs = (ticks: number, from: readonly [bigint, bigint], least: number): boolean => {
    const [n, d] = from
    const moved = BigInt(ticks) * d - n
    return (isLong ? moved : -moved) * million >= BigInt(least) * n
  }
  const lossIs = (ticks: number, from: readonly [bigint, bigint], most: number): boolean => {
    const [n, d] = from
    const moved = BigInt(ticks) * d - n
    return (isLong ? -moved : moved) * million >= BigInt(most) * n
  }
  for (const [index, { at = 0 }] of history.entries()) {
    const pair = pairs[index] as readonly [number, number]
    const seen = pairs.slice(0, index + 1).map((one) => one[worst] as number)
    const best = isLong ? Math.max(...seen) : Math.min(...seen)
    const now = pair[better] as number
    const { stop, trailing, breakEven, profitTable = [], timeLimitMs = Infinity } = rules
    const hits: string[] = []
    if (stop?.kind === 'share' && lossIs(now, entry, stop.millionths)) hits.push('stop')
    if (
      trailing?.distance.kind === 'share' &&
      (trailing.after === 0 || gainIs(best, entry, trailing.after)) &&
      lossIs(now, [BigInt(best), 1n], trailing.distance.millionths)
    )
      hits.push('trailing')
    if (breakEven && gainIs(best, entry, breakEven.after) && lossIs(now, entry, -breakEven.offset))
      hits.push('breakEven')
    if (hits.length > 0) return { at, kinds: hits }
    if (at >= timeLimitMs) return { at, kinds: ['timeLimit'] }
    const rows = profitTable.filter(({ fromMs }) => at >= fromMs)
    const row = rows.at(-1)
    if (row && gainIs(pair[worst] as number, entry, row.least))
      return { at, kinds: ['profitTable'] }
  }
  return undefined
}

describe('over drawn prices with gaps', () => {
  it('every exit comes when an independent count over the whole history says so', () => {
    const kinds = new Set<string | undefined>()
    for (let seed = 0; seed < 3000; seed++) {
      const random = createRandom(`exits-${seed}`)
      const draw = (least: number, most: number): number =>
        least + Math.floor(random.next() * (most - least + 1))
      const side = draw(0, 1) === 0 ? 'long' : 'short'
      const whole = draw(100, 100_000)
      const entry = [BigInt(whole * 2 + draw(0, 1)), 2n] as const
      const maybe = <Value>(value: Value): Value | undefined =>
        draw(0, 1) === 0 ? value : undefined
      const rules = Object.fromEntries(
        Object.entries({
          stop: maybe(share(draw(1, 100_000))),
          trailing: maybe({
            after: draw(0, 2) * draw(0, 25_000),
            distance: share(draw(1, 50_000)),
          }),
          breakEven: maybe({ after: draw(10_000, 50_000), offset: draw(0, 9000) }),
          timeLimitMs: maybe(draw(1, 60) * 1000),
          profitTable: maybe([
            { fromMs: 0, least: draw(20_000, 90_000) },
            { fromMs: draw(1, 30) * 1000, least: draw(0, 20_000) },
          ]),
        }).filter(([, value]) => value !== undefined),
      ) as ExitRules
      let price = whole
      let before = whole
      const history = Array.from({ length: 40 }, (_, index): Drawn => {
        const jump = draw(0, 9) === 0 ? 0.06 : 0.004
        before = price
        price = Math.max(1, Math.round(price * (1 + (random.next() - 0.5) * 2 * jump)))
        const prices = [Math.min(before, price), Math.max(before, price)] as const
        return { side, lots: 5, entry: Number(entry[0]) / 2, at: index * 1000, prices }
      })
      const expected = judgeSlowly(rules, entry, history)
      let state: ExitState = NO_EXITS
      for (const drawn of history) {
        state = advanceExits(rules, state, momentOf(drawn))
        if (dueExitOf(state)) break
      }
      const due = dueExitOf(state)
      expect({ seed, at: due?.since }).toEqual({ seed, at: expected?.at })
      if (due)
        expect({ seed, kinds: expected?.kinds }).toEqual({
          seed,
          kinds: expect.arrayContaining([due.kind]),
        })
      kinds.add(due?.kind)
    }
    expect(kinds.size).toBe(6)
  })
})
