import { describe, expect, test } from 'vitest'
import { decimal } from '../../../src/lib/decimal.ts'
import { type Capital } from '../../../src/domain/capital.ts'
import { type ExitRules } from '../../../src/domain/exits.ts'
import { strategyScope } from '../../../src/domain/trading-mode.ts'
import { type EngineSettings } from '../../../src/engine/settings.ts'
import { listEmptyUniverses } from '../../../src/views/universe-view.ts'
import { STRATEGY } from '../engine-bench.ts'
import { HOUR, MINUTE, UniverseBench, withExits } from '../universe-bench.ts'

const BY_ANNA = { reason: 'enough', by: 'anna' } as const

/** Ten lots of each of the two members are held. */
function holding(...args: ConstructorParameters<typeof UniverseBench>): UniverseBench {
  const bench = new UniverseBench(...args).start()
  bench.decide(
    { kind: 'target', symbol: 'AUSDT', lots: 10 },
    { kind: 'target', symbol: 'BUSDT', lots: 10 },
  )
  bench.fillBatch()
  bench.fillBatch()
  return bench
}

describe('rules that the exchange has changed since a member joined', () => {
  const changesOf = (bench: UniverseBench) =>
    bench.take('announce').filter(({ event }) => event.startsWith('contract.'))

  test('[DET2] count from the next start on, are said once, and the book is converted', () => {
    const bench = holding()
    const is = { BUSDT: { tickSize: '0.01', minSize: '0.005', status: 'off' } }
    const next = bench.restated(is).start()

    expect(changesOf(next).map(({ event, fields }) => [event, fields['reason']])).toEqual([
      ['contract.changed', 'the exchange has changed tickSize of BUSDT: 0.1 before, 0.01 now'],
      ['contract.changed', 'the exchange has changed minSize of BUSDT: 0.001 before, 0.005 now'],
    ])
    expect(next.engine.settings.instruments.get('BUSDT')).toMatchObject({
      tick: { step: '0.01' },
      lotsMin: 5,
    })
    expect(next.book.grids.get('BUSDT')?.tick).toBe('0.01')
    // Whether it may be traded is judged by two answers.
    const { rules } = next.book.universes.get(STRATEGY)?.members['BUSDT'] ?? {}
    expect(rules).toMatchObject({ tickSize: '0.01', minSize: '0.005' })
    expect(rules?.status).toBeUndefined()
    expect(next.isBookWhole).toBe(true)

    const last = next.restated(is).start()
    expect(changesOf(last)).toEqual([])
    expect(last.engine.settings.instruments.get('BUSDT')?.tick.step).toBe('0.01')
  })

  test('stay where what is held would not convert, and that is said', () => {
    const bench = holding()
    const next = bench.restated({ BUSDT: { lotSize: '0.1', minSize: '0.1' } }).start()

    expect(changesOf(next).map(({ event }) => event)).toEqual([
      'contract.changed',
      'contract.changed',
      'contract.differs',
    ])
    expect(next.engine.settings.instruments.get('BUSDT')?.lot.step).toBe('0.001')
    expect(next.book.holdings.get(`${STRATEGY}|BUSDT`)).toMatchObject({ longLots: 10 })
    expect(next.isBookWhole).toBe(true)
  })
})

describe('a drawdown of a strategy whose universe is empty', () => {
  /** It is reached by what members of before have lost, and the process begins again. */
  function reached(): UniverseBench {
    const next = begun().start()
    expect(next.members).toEqual([])
    expect(next.engine.restrictions.map(({ code }) => code)).toEqual(['drawdown'])
    return next
  }

  function begun(): UniverseBench {
    const scope = strategyScope(STRATEGY)
    const limits = new Map([[scope, { drawdown: { reducing: 50 } }]])
    const losses = { timeZone: 'UTC', coolDownMs: 0, limits }
    const exclude = ['AUSDT', 'BUSDT', 'CUSDT']
    const bench = new UniverseBench({ exclude }, { losses, capital: decimal('1000') })
    const source = { at: bench.now, reason: 'lost', by: 'loss limits' }
    bench.records.push(
      {
        kind: 'watermark',
        at: bench.now,
        watermarks: [{ scope, dayFrom: bench.now, dayNet: 80, peak: 80 }],
      },
      { kind: 'restricted', scope, mode: 'reducing', code: 'drawdown', ...source },
    )
    return bench.reborn()
  }

  test('is unknown until this run has read the fills', () => {
    const { engine } = begun()
    const command = { kind: 'release', scope: strategyScope(STRATEGY), ...BY_ANNA } as const
    expect(engine.usedLossNow(strategyScope(STRATEGY))).toBeUndefined()
    expect(engine.objectToRelease(command)).toMatch(/is not known now/)
  })

  test.each([[undefined], [true]])('can be released, with a new peak: %s', (newPeak) => {
    const bench = reached()
    const command = {
      kind: 'release',
      scope: strategyScope(STRATEGY),
      ...BY_ANNA,
      newPeak,
    } as const
    expect(bench.engine.objectToRelease(command)).toBeUndefined()
    expect(bench.engine.planPeakRelease(command)).toMatchObject({
      from: '80.00000000',
      to: '0.00000000',
      below: '80.00000000',
    })
    bench.step({ kind: 'commanded', command })
    expect(bench.engine.restrictions).toEqual([])
  })

  test('is shown', () => {
    expect(reached().engine.usedLossNow(strategyScope(STRATEGY))).toMatchObject({
      net: 0,
      dayLoss: 80,
      drawdown: 80,
      peak: 80,
    })
  })
})

describe('pauses after exits', () => {
  const coolDown: ExitRules = { timeLimitMs: 1000, coolDownMs: 12 * HOUR }
  const guarded: ExitRules = {
    timeLimitMs: 1000,
    protections: {
      lowProfit: { trades: 1, withinMs: 3 * HOUR, below: 1_000_000, pauseMs: 6 * HOUR },
    },
  }
  const stateOf = ({ book }: UniverseBench) => book.exitStates.get(`${STRATEGY}|BUSDT`)

  /** An exit closes what is held of the second contract, and others pass it. */
  function exitedAndLeft(exits: ExitRules): UniverseBench {
    const bench = new UniverseBench({}, withExits(exits)).start()
    bench.decide({ kind: 'target', symbol: 'BUSDT', lots: 10 })
    bench.fillBatch()
    bench.fillBatch()
    expect(stateOf(bench)?.pause).not.toBeNull()
    rotate(bench)
    expect(bench.members).toEqual(['AUSDT', 'CUSDT'])
    return bench
  }

  /** It is chosen again, and wanted. */
  function isEntered(bench: UniverseBench): boolean {
    bench.volumes.set('CUSDT', 1)
    bench.nextHour()
    expect(bench.members).toEqual(['AUSDT', 'BUSDT'])
    bench.take('askGrant')
    bench.decide({ kind: 'target', symbol: 'BUSDT', lots: 10 })
    return bench.take('askGrant').some(({ endpoint }) => endpoint === 'batchPlaceOrder')
  }

  test.each([
    ['a cool-down', coolDown, 'coolDown'],
    ['too little profit', guarded, 'lowProfit'],
  ] as const)('%s goes on while the instrument is out of the universe', (_, exits, cause) => {
    const bench = exitedAndLeft(exits)
    expect(stateOf(bench)).toMatchObject({ long: null, lock: null, pause: { cause } })
    expect(stateOf(bench)?.ended).toHaveLength(cause === 'lowProfit' ? 1 : 0)

    expect(isEntered(bench)).toBe(false)
    expect(bench.isBookWhole).toBe(true)
  })

  test('also through a restart', () => {
    const left = exitedAndLeft(coolDown)
    const next = left.reborn().start()
    expect(stateOf(next)).toEqual(stateOf(left))
    expect(isEntered(next)).toBe(false)
  })

  test('[BND1] and is forgotten when it is over', () => {
    const bench = exitedAndLeft(coolDown)
    for (let hour = 0; hour < 12; hour++) bench.goOn(HOUR)
    expect(stateOf(bench)).toBeUndefined()
    expect(bench.isBookWhole).toBe(true)
    expect(isEntered(bench)).toBe(true)
  })
})

/** Twelve instruments, the first eight held. */
function holdingMany(rule: ConstructorParameters<typeof UniverseBench>[0] = {}): UniverseBench {
  const bench = new UniverseBench({ top: { count: 8, by: 'volume', order: 'highest' }, ...rule })
  bench.volumes.clear()
  for (let index = 0; index < 12; index++) bench.volumes.set(`C${index + 10}USDT`, 9000 - index)
  bench.start()
  bench.decide(...bench.members.map((symbol) => ({ kind: 'target', symbol, lots: 10 }) as const))
  for (const _ of bench.members) bench.fillBatch()
  expect(bench.members).toHaveLength(8)
  return bench
}

function refusalsOf(bench: UniverseBench) {
  return bench.take('announce').filter(({ event }) => event === 'universe.refused')
}

describe('[MON1] one wrong answer makes no member leave', () => {
  const falsify = {
    'rows are missing': (bench: UniverseBench, symbol: string) =>
      bench.stated.set(symbol, undefined),
    'it states a delivery': (bench: UniverseBench, symbol: string) =>
      bench.stated.set(symbol, { deliveryTime: 1_800_000_000_000 }),
    'no volume is stated': (bench: UniverseBench, symbol: string) =>
      bench.stated.set(symbol, { usdtVolume: Number.NaN }),
    'others state an absurd volume': (bench: UniverseBench) => {
      for (const symbol of [...bench.volumes.keys()].slice(8))
        bench.stated.set(symbol, { usdtVolume: 1e15 })
    },
  }

  test.each(Object.keys(falsify) as (keyof typeof falsify)[])('where %s', (name) => {
    const bench = holdingMany()
    const members = [...bench.members]
    for (const symbol of members.slice(0, 4)) falsify[name](bench, symbol)
    bench.goOn(HOUR)
    expect(bench.book.leavings.size).toBe(0)
    expect(Object.values(bench.book.universes.get(STRATEGY)?.verdicts ?? {})).toContainEqual(
      expect.objectContaining({ isIn: true, reason: 'unconfirmed' }),
    )

    bench.stated.clear()
    bench.goOn(MINUTE)
    bench.goOn(MINUTE)
    expect(bench.members).toEqual(members)
    expect(bench.recordsOf('universe').flatMap(({ left }) => left)).toEqual([])
    expect(bench.isBookWhole).toBe(true)
  })

  test.each([
    ['lacks', undefined],
    ['states otherwise', { status: 'off' }],
    ['quotes in another coin', { quoteCoin: 'EUR' }],
  ] as const)('where the list of contracts %s some, until the next one', (_, stated) => {
    const bench = holdingMany({ quote: 'USDT' })
    const members = [...bench.members]
    const wrong = Object.fromEntries(members.slice(0, 4).map((symbol) => [symbol, stated]))
    bench.readContracts(wrong)
    bench.goOn(HOUR)
    bench.goOn(MINUTE)
    bench.goOn(MINUTE)
    bench.readContracts()
    bench.goOn(HOUR)
    bench.goOn(MINUTE)

    expect(bench.members).toEqual(members)
    expect(bench.recordsOf('universe').flatMap(({ left }) => left)).toEqual([])
  })

  test('the same holds for the first list after a restart', () => {
    const bench = holdingMany()
    const members = [...bench.members]
    const next = bench.reborn()
    next.step({ kind: 'clockSynchronised', offsetMs: 0 })
    next.step({ kind: 'started' })
    const lacking = Object.fromEntries(members.slice(0, 4).map((symbol) => [symbol, undefined]))
    next.readContracts(lacking)
    next.pass(3000)
    next.goOn(HOUR)
    next.goOn(MINUTE)
    expect(next.members).toEqual(members)

    next.readContracts(lacking)
    next.goOn(HOUR)
    next.goOn(MINUTE)
    expect(next.book.leavings.size).toBe(4)
  })

  test('two answers in a row do, also with a restart between them', () => {
    const bench = holdingMany()
    const [first = ''] = bench.members
    bench.stated.set(first, undefined)
    bench.goOn(HOUR)
    expect(bench.book.leavings.size).toBe(0)

    const next = bench.reborn()
    next.stated.set(first, undefined)
    next.start()
    next.goOn(MINUTE)
    expect([...next.book.leavings.keys()]).toEqual([`${STRATEGY}|${first}`])
  })

  test('no second answer is needed for what the operator excludes', () => {
    const bench = holdingMany()
    const [first = ''] = bench.members
    const next = bench
      .reborn({ top: { count: 8, by: 'volume', order: 'highest' }, exclude: [first] })
      .start()
    expect([...next.book.leavings.keys()]).toEqual([`${STRATEGY}|${first}`])
  })
})

describe('[MON1] where most of the list is missing', () => {
  test('nothing is decided, it is said once, and a full answer is evaluated', () => {
    const bench = holdingMany()
    const members = [...bench.members]
    const before = bench.recordsOf('universe').length
    for (const symbol of [...bench.volumes.keys()].slice(2)) bench.stated.set(symbol, undefined)
    bench.goOn(HOUR)
    for (let minute = 0; minute < 10; minute++) bench.goOn(MINUTE)

    expect(bench.recordsOf('universe')).toHaveLength(before)
    expect(refusalsOf(bench)).toMatchObject([
      { level: 'warn', fields: { strategy: STRATEGY, missing: 10, known: 12 } },
    ])
    expect(bench.engine.whyNotEvaluated(STRATEGY)).toMatch(/^most of the list: 10 of 12 /)

    bench.stated.clear()
    bench.goOn(MINUTE)
    expect(bench.recordsOf('universe')).toHaveLength(before + 1)
    expect(bench.engine.whyNotEvaluated(STRATEGY)).toBeUndefined()
    expect(bench.members).toEqual(members)
  })

  test('it is believed when it has lasted for an hour', () => {
    const bench = holdingMany()
    for (const symbol of [...bench.volumes.keys()].slice(2)) bench.stated.set(symbol, undefined)
    bench.goOn(HOUR)
    for (let minute = 0; minute < 59; minute++) bench.goOn(MINUTE)
    expect(bench.book.leavings.size).toBe(0)

    bench.goOn(HOUR)
    expect(bench.book.leavings.size).toBe(0)
    bench.goOn(MINUTE)
    expect(bench.book.leavings.size).toBe(6)
  })
})

/** The third contract passes the second one. */
function rotate(bench: UniverseBench): void {
  bench.volumes.set('CUSDT', 9000)
  bench.nextHour()
}

function ordersOf(bench: UniverseBench) {
  return [...bench.book.orders.values()].map(({ terms, state }) => ({ ...terms, state }))
}

describe('a universe', () => {
  test('begins with what its rule chooses, each proved before it is shown', () => {
    const bench = new UniverseBench().start()

    expect(bench.members).toEqual(['AUSDT', 'BUSDT'])
    expect(bench.engine.phase).toBe('running')
    expect(bench.engine.unproved).toEqual([])
    const shown = bench.take('decide').at(-1)?.snapshot.instruments
    expect(shown?.map(({ instrument }) => instrument.symbol)).toEqual(['AUSDT', 'BUSDT'])
    expect(bench.recordsOf('universe')[0]).toMatchObject({
      joined: [{ symbol: 'AUSDT' }, { symbol: 'BUSDT' }],
      verdicts: { CUSDT: { isIn: false, reason: 'outranked', value: 3, limit: 2 } },
    })
    expect(bench.isBookWhole).toBe(true)
  })

  test('waits for the contracts of the exchange', () => {
    const bench = new UniverseBench()
    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
    bench.step({ kind: 'started' })
    bench.pass(3000)
    expect(bench.recordsOf('universe')).toEqual([])

    bench.readContracts()
    bench.pass(3000)

    expect(bench.members).toEqual(['AUSDT', 'BUSDT'])
  })

  test('is evaluated once in its interval, and at once when the rule has changed', () => {
    const bench = new UniverseBench().start()
    bench.pass(5000)
    expect(bench.recordsOf('universe')).toHaveLength(1)
    bench.nextHour()
    expect(bench.recordsOf('universe')).toHaveLength(2)

    const same = bench.reborn().start()
    expect(same.recordsOf('universe')).toHaveLength(2)
    const other = bench.reborn({ exclude: ['A*'] }).start()

    expect(other.recordsOf('universe')).toHaveLength(3)
    other.pass(2000)
    expect(other.members).toEqual(['BUSDT', 'CUSDT'])
  })

  test('reads no more instruments than can be read in time', () => {
    const roster = {
      frame: { productType: 'USDT-FUTURES', marginCoin: 'USDT' },
      fixed: new Set<string>(),
      readMax: 1,
    } as const
    const bench = new UniverseBench({}, { roster }).start()

    expect(bench.members).toEqual(['AUSDT'])
    expect(bench.book.universes.get(STRATEGY)?.verdicts['BUSDT']).toMatchObject({
      reason: 'noRoom',
      value: 1,
      limit: 1,
    })
  })

  test('takes none in whose smallest order no limit would let through', () => {
    const bench = new UniverseBench()
    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
    bench.step({ kind: 'started' })
    bench.readContracts({ AUSDT: { minSize: '100' } })
    bench.pass(3000)

    expect(bench.members).toEqual(['BUSDT', 'CUSDT'])
    expect(bench.book.universes.get(STRATEGY)?.verdicts['AUSDT']).toMatchObject({
      reason: 'orderTooLarge',
      limit: 100_000,
    })
  })

  test('takes none in that the gross limit or the capital of its strategy has no room for', () => {
    const { settings } = new UniverseBench()
    const [id, strategy] = [...settings.strategies][0] ?? []
    if (id === undefined || !strategy) throw new Error('no strategy')
    const verdictOf = (change: Partial<EngineSettings>) => {
      const bench = new UniverseBench({}, change)
      bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
      bench.step({ kind: 'started' })
      bench.readContracts({ AUSDT: { minSize: '0.01' } })
      bench.pass(3000)
      return bench.book.universes.get(STRATEGY)?.verdicts['AUSDT']
    }
    const withCapital = (capital: Capital): Partial<EngineSettings> => ({
      capital: decimal('200'),
      strategies: new Map([[id, { ...strategy, capital }]]),
    })

    // Its smallest order is worth 100.
    expect(verdictOf({ limits: { ...settings.limits, grossNotionalMax: 99 } })).toMatchObject({
      isIn: false,
      reason: 'orderTooLarge',
      limit: 99,
    })
    expect(verdictOf({ limits: { ...settings.limits, grossNotionalMax: 101 } })).toMatchObject({
      isIn: true,
    })
    expect(verdictOf(withCapital({ kind: 'share', share: 0.4 }))).toMatchObject({
      isIn: false,
      reason: 'marginTooLarge',
      limit: 80,
    })
    expect(verdictOf(withCapital({ kind: 'amount', amount: 101 }))).toMatchObject({ isIn: true })
  })
})

describe('a member that leaves', () => {
  test('is gone in the same moment where nothing of it is open or held', () => {
    const bench = new UniverseBench().start()

    rotate(bench)

    expect(bench.members).toEqual(['AUSDT', 'CUSDT'])
    expect(bench.symbols).toEqual(['AUSDT', 'CUSDT'])
    expect(bench.recordsOf('departed')).toMatchObject([{ symbol: 'BUSDT' }])
    expect([...bench.engine.settings.instruments.keys()]).toEqual(['AUSDT', 'CUSDT'])
    // A reading that was on its way finds nobody.
    bench.answerPosition('BUSDT')
    expect(bench.isBookWhole).toBe(true)
  })

  test('is nobody to a reading that arrives when the account has stopped trading', () => {
    const bench = new UniverseBench().start()
    rotate(bench)
    bench.step({ kind: 'commanded', command: { kind: 'stop', policy: 'leave' } })

    expect(() => bench.answerPosition('BUSDT')).not.toThrow()
    expect(bench.symbols).toEqual(['AUSDT', 'CUSDT'])
  })

  test('close: the position is closed, and nothing else is taken from the strategy', () => {
    const bench = holding()

    rotate(bench)
    expect(bench.members).toEqual(['AUSDT', 'BUSDT', 'CUSDT'])
    bench.decide({ kind: 'target', symbol: 'BUSDT', lots: 20 })
    bench.fillBatch()

    expect(ordersOf(bench).at(-1)).toMatchObject({ symbol: 'BUSDT', action: 'closeLong', lots: 10 })
    expect(bench.members).toEqual(['AUSDT', 'CUSDT'])
    expect(bench.book.holdings.get(`${STRATEGY}|AUSDT`)).toMatchObject({ longLots: 10 })
    expect(bench.isBookWhole).toBe(true)
  })

  test('close: both sides of a hedged position', () => {
    const bench = holding({}, {}, 'hedge_mode')

    rotate(bench)
    bench.fillBatch()

    expect(bench.members).toEqual(['AUSDT', 'CUSDT'])
  })

  test('close: a resting order is cancelled first', () => {
    const bench = new UniverseBench().start()
    bench.decide({
      kind: 'quote',
      symbol: 'BUSDT',
      levels: [{ side: 'buy', ticks: 99_000, lots: 4 }],
    })
    bench.accept(bench.grantBatch())
    bench.pass(2000)

    rotate(bench)
    expect(bench.members).toContain('BUSDT')
    const { cancelId, body } = bench.grantCancel()
    expect(body).toContain('BUSDT')
    bench.answerCancel(cancelId, {
      kind: 'accepted',
      data: { successList: [{ orderId: '1001', clientOid: '' }], failureList: [] },
      receivedAt: 0,
    })
    bench.pass(5000)

    expect(bench.members).toEqual(['AUSDT', 'CUSDT'])
    expect(bench.engine.unproved).toEqual([])
  })

  test('[ORD3] an unknown order keeps it until it is known what became of it', () => {
    const bench = new UniverseBench().start()
    bench.decide({ kind: 'target', symbol: 'BUSDT', lots: 10 })
    const { batchId } = bench.grantBatch()
    bench.answer(batchId, {
      kind: 'unknown',
      cause: 'timeout',
      code: '',
      message: '',
      status: undefined,
      receivedAt: 0,
    })

    rotate(bench)
    bench.pass(20_000)

    // It cannot rest, so fills and position prove that nothing came of it.
    expect(bench.states()).toEqual(['absent'])
    expect(bench.members).toEqual(['AUSDT', 'CUSDT'])
    expect(bench.isBookWhole).toBe(true)
  })

  test('keep: the strategy sees it on, may only reduce, and it is gone when it is flat', () => {
    const bench = holding({ leaving: 'keep' })

    rotate(bench)
    const shown = bench.take('decide').at(-1)?.snapshot.instruments
    expect(shown?.map(({ instrument, isLeaving }) => [instrument.symbol, isLeaving])).toEqual([
      ['AUSDT', undefined],
      ['BUSDT', true],
      ['CUSDT', undefined],
    ])
    bench.take('askGrant')
    bench.decide({ kind: 'target', symbol: 'BUSDT', lots: 20 })
    expect(bench.take('askGrant')).toEqual([])
    bench.pass(1000)
    bench.decide({ kind: 'target', symbol: 'BUSDT', lots: 0 })
    bench.fillBatch()

    expect(bench.members).toEqual(['AUSDT', 'CUSDT'])
  })

  test('handBack: its orders end, and what it holds stays, with a warning', () => {
    const bench = holding({ leaving: 'handBack' }, { capital: decimal('1000') })

    rotate(bench)
    bench.pass(5000)

    expect(bench.members).toEqual(['AUSDT', 'CUSDT'])
    expect(bench.book.account.get('BUSDT')).toMatchObject({ longLots: 10 })
    expect(bench.take('announce')).toContainEqual(
      expect.objectContaining({
        event: 'universe.handedBack',
        fields: {
          strategy: STRATEGY,
          symbol: 'BUSDT',
          policy: 'handBack',
          longLots: 10,
          shortLots: 0,
        },
      }),
    )
    // Its results stay those of the account.
    expect(bench.engine.equity).toBeDefined()
  })

  test('comes back when it is chosen again before it has left', () => {
    const bench = holding({ leaving: 'keep' })

    rotate(bench)
    bench.volumes.set('CUSDT', 1)
    bench.nextHour()

    expect(bench.members).toEqual(['AUSDT', 'BUSDT'])
    expect(bench.book.leavings.size).toBe(0)
    expect(bench.isBookWhole).toBe(true)
  })

  test.each(['close', 'keep', 'handBack'] as const)(
    '[DET2] %s: a restart in the middle goes on where it was',
    (leaving) => {
      const bench = holding({ leaving })
      bench.volumes.set('CUSDT', 9000)
      bench.goOn(HOUR)
      bench.now = Math.ceil(bench.now / MINUTE) * MINUTE
      bench.price()
      expect(bench.book.leavings.size).toBe(1)

      const next = bench.reborn().start()

      expect(next.isBookWhole).toBe(true)
      if (leaving === 'close') next.fillBatch()
      if (leaving !== 'keep') return expect(next.members).toEqual(['AUSDT', 'CUSDT'])
      next.decide({ kind: 'target', symbol: 'BUSDT', lots: 0 })
      next.fillBatch()
      return expect(next.members).toEqual(['AUSDT', 'CUSDT'])
    },
  )

  test('[RSK3] a kill meanwhile is proved like any other, and the leaving goes on after it', () => {
    const bench = holding()
    rotate(bench)

    bench.step({ kind: 'commanded', command: { kind: 'kill', ...BY_ANNA } })
    for (let round = 0; round < 8; round++) {
      for (const _ of bench.take('askGrant')) {
        bench.step({ kind: 'granted', endpoint: 'cancelAllOrders' })
        for (const { cancelId } of bench.take('sendCancelAll'))
          bench.answerCancel(cancelId, {
            kind: 'accepted',
            data: { successList: [], failureList: [] },
            receivedAt: 0,
          })
      }
      bench.pass(2000)
    }
    expect(bench.members).toContain('BUSDT')
    expect(bench.take('announce').map(({ event }) => event)).toContain('kill.clean')
    bench.step({ kind: 'commanded', command: { kind: 'releaseKill', ...BY_ANNA } })
    bench.pass(2000)
    bench.fillBatch()

    expect(bench.members).toEqual(['AUSDT', 'CUSDT'])
  })

  test('a flatten of its instrument keeps it until it is released', () => {
    const bench = holding()
    bench.volumes.set('CUSDT', 9000)
    bench.step({ kind: 'commanded', command: { kind: 'flatten', scope: 'BUSDT', ...BY_ANNA } })
    bench.fillBatch()
    bench.nextHour()
    expect(bench.members).toContain('BUSDT')

    bench.step({ kind: 'commanded', command: { kind: 'release', scope: 'BUSDT', ...BY_ANNA } })
    bench.pass(2000)

    expect(bench.members).toEqual(['AUSDT', 'CUSDT'])
  })

  test('a strategy without a universe hands all members back, and their orders are cancelled', () => {
    const bench = holding()

    const next = bench.withoutUniverse().start()
    next.pass(5000)

    expect(next.members).toEqual([])
    expect(next.symbols).toEqual([])
    expect(next.book.account.get('BUSDT')).toMatchObject({ longLots: 10 })
  })
})

test('a universe that has chosen nothing is in the way, with the reasons of most', () => {
  const said = (bench: UniverseBench) => [...listEmptyUniverses(bench.engine)]
  const young = new UniverseBench({ ageMinMs: 30 * 86_400_000 })
  expect(said(young)).toEqual([
    expect.stringContaining(`universe of ${STRATEGY}: it was not evaluated`),
  ])
  young.start()
  expect(said(young)).toEqual([
    `universe of ${STRATEGY}: 0 of 2 chosen: 3 out like AUSDT (first seen now, younger than 30 d) (intentd universe names each)`,
  ])
  expect(said(new UniverseBench().start())).toEqual([])
})
