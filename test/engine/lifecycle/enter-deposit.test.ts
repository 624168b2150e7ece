import { describe, expect, test } from 'vitest'
import { DEPOSITS_MAX } from '../../../src/domain/deposit.ts'
import { toOrderId } from '../../../src/domain/ids.ts'
import { fromBookRows, toBookRows } from '../../../src/engine/book/book-rows.ts'
import { capitalOf } from '../../../src/engine/book/book.ts'
import type { DepositCommand } from '../../../src/engine/event.ts'
import type { EngineSettings } from '../../../src/engine/settings.ts'
import { decimal } from '../../../src/lib/decimal.ts'
import { mutable } from '../../../src/lib/mutable.ts'
import { EngineBench, SYMBOL } from '../engine-bench.ts'

const BY_ANNA = { reason: 'savings', by: 'anna' } as const
const DRAWDOWN: NonNullable<EngineSettings['losses']> = {
  timeZone: 'UTC',
  coolDownMs: 0,
  limits: new Map([['*', { drawdown: { reducing: 0.5 } }]]),
}

function started(): EngineBench {
  return new EngineBench({ capital: decimal('1000'), losses: DRAWDOWN }).start()
}

type DepositOf = Extract<DepositCommand, { kind: 'deposit' }>

function deposit(bench: EngineBench, amount: string, change: Partial<DepositOf> = {}) {
  const key = `key-${bench.book.deposits.size + 1}`
  return give(bench, { kind: 'deposit', amount, key, ...BY_ANNA, ...change })
}

function correct(bench: EngineBench, id: string) {
  return give(bench, { kind: 'correctDeposit', id, key: `correct-${id}`, ...BY_ANNA })
}

function give(bench: EngineBench, command: DepositCommand) {
  const plan = bench.engine.planByHand(command)
  bench.step({ kind: 'commanded', command })
  return plan
}

const capital = (bench: EngineBench) => capitalOf(bench)?.toString()

interface Stated {
  readonly lastPr: number
  readonly unrealisedProfit: string
}

/** All lots are bought at 10,000; then prices and a reading of the position say this. */
function holding(stated: Stated): EngineBench {
  const bench = started()
  bench.decide({ kind: 'target', symbol: SYMBOL, lots: 100 })
  const batch = bench.grantBatch()
  bench.accept(batch)
  const orderId = toOrderId(`${batch.batchId}001`)
  const fill = bench.fill({ orderId, lots: 100, ticks: 100_000, fee: '0' })
  const reading = { fills: [fill], sinceAt: 0, requestedAt: bench.now, exchangeTime: bench.now }
  bench.step({ kind: 'fillsRead', reading })
  hear(bench, stated)
  return bench
}

function hear(bench: EngineBench, { lastPr, unrealisedProfit }: Stated): void {
  bench.now += 100
  bench.price(10_000, undefined, { lastPr })
  const row = {
    holdSide: 'long',
    lots: 100,
    openPriceAvg: 10_000,
    fundingFee: '',
    markPrice: 10_000,
    liquidationPrice: 0,
    positionMode: 'one_way_mode',
    unrealisedProfit,
  } as const
  const reading = { symbol: SYMBOL, rows: [row], isSilent: false, requestedAt: bench.now }
  bench.step({ kind: 'positionRead', reading: { ...reading, exchangeTime: bench.now } })
}

describe('deposits and withdrawals', () => {
  test('change capital and equity at once, and no drawdown in the margin coin', () => {
    const bench = started()
    expect(bench.engine.equity).toMatchObject({ equity: 1000, drawdown: 0 })

    const { detail } = deposit(bench, '500.25')
    expect(detail).toContain('counted from 1500.25 USDT instead of 1000')
    expect(bench.engine.equity).toEqual({ equity: 1500.25, peak: 1500.25, drawdown: 0 })
    deposit(bench, '-200')
    expect(bench.engine.equity).toEqual({ equity: 1300.25, peak: 1300.25, drawdown: 0 })
    expect([...bench.book.deposits.values()]).toMatchObject([
      { id: '1', amount: '500.25', coin: 'USDT', by: 'anna', note: 'savings', isCapital: true },
      { id: '2', amount: '-200' },
    ])
  })

  test('[DET2] survive a restart, from records and from rows of a checkpoint', () => {
    const bench = started()
    deposit(bench, '12.5')
    deposit(bench, '3', { coin: 'BGB' })
    const again = fromBookRows(toBookRows(bench.book))
    expect(toBookRows(again)).toEqual(toBookRows(bench.book))
    expect(again.deposited).toBe('12.5')
  })

  test('of another coin than the margin coin are kept and change no equity', () => {
    const bench = started()
    expect(deposit(bench, '3', { coin: 'BGB' }).detail).toContain('equity counts USDT alone')
    expect(capital(bench)).toBe('1000')
    expect(bench.book.deposits.get('1')).toMatchObject({ coin: 'BGB', isCapital: false })
  })

  test('are entered once for a key, never for the future, and never leave the account nothing', () => {
    const bench = started()
    deposit(bench, '1', { key: 'same-key' })
    expect(deposit(bench, '1', { key: 'same-key' }).detail).toContain('not entered again')
    expect(deposit(bench, '0').refusal).toContain('zero')
    expect(deposit(bench, '1', { movedAt: bench.now + 1 }).refusal).toContain('in the future')
    expect(deposit(bench, '-1001').refusal).toContain('would leave nothing')
    expect(bench.book.deposits.size).toBe(1)
    expect(capital(bench)).toBe('1001')
  })

  test('are judged by what is known while the own figure is not: the stated loss, and no stated profit', () => {
    const bench = holding({ lastPr: 0, unrealisedProfit: '-300' })
    expect(bench.engine.equity).toBeUndefined()
    expect(deposit(bench, '-50000').refusal).toMatch(
      /not known now, .* our own figure of BTCUSDT .* 700.00 USDT, .* 50000 would leave nothing: enter it again/,
    )
    expect(deposit(bench, '-700').refusal).toContain('would leave nothing')
    expect(bench.book.deposits.size).toBe(0)
    expect(deposit(bench, '-699').refusal).toBeUndefined()

    hear(bench, { lastPr: 0, unrealisedProfit: '1000000' })
    expect(deposit(bench, '-302').refusal).toContain('would leave nothing')
    expect(capital(bench)).toBe('301')
    hear(bench, { lastPr: 10_000, unrealisedProfit: '0' })
    expect(deposit(bench, '-300').refusal).toBeUndefined()
  })

  test('are judged by the worse of two figures that differ', () => {
    const bench = holding({ lastPr: 10_000, unrealisedProfit: '-300' })
    expect(bench.engine.equity).toMatchObject({ equity: 1000 })
    expect(deposit(bench, '-701').refusal).toMatch(/worth 700.00 USDT, .* would leave nothing/)
    expect(deposit(bench, '-699').refusal).toBeUndefined()
  })

  test('are refused while nothing is known, if they take money out', () => {
    const bench = new EngineBench({ capital: decimal('1000'), losses: DRAWDOWN })
    bench.step({ kind: 'clockSynchronised', offsetMs: 0 })
    bench.step({ kind: 'started' })
    const unknown = /worth is not known now, .* BTCUSDT .*`intentd status` shows the equity/
    expect(deposit(bench, '-5').refusal).toMatch(unknown)
    expect(deposit(bench, '5').refusal).toBeUndefined()
    expect(correct(bench, '1').refusal).toMatch(unknown)
    expect(capital(bench)).toBe('1005')

    const lost = holding({ lastPr: 0, unrealisedProfit: '' })
    expect(deposit(lost, '-5').refusal).toMatch(unknown)
    hear(lost, { lastPr: 10_000, unrealisedProfit: '0' })
    expect(deposit(lost, '-5').refusal).toBeUndefined()
  })

  test('are refused where they cannot be counted, alone or together; what was entered can be taken back', () => {
    const bench = started()
    const tooMuch = /is more than can be counted: .* at most 1000000000000 USDT; look at the amount/
    expect(deposit(bench, '99999999999999999999').refusal).toMatch(tooMuch)
    expect(deposit(bench, '-99999999999999999999').refusal).toMatch(tooMuch)
    expect(deposit(bench, '1000000000000').refusal).toBeUndefined()
    expect(deposit(bench, '0.01').refusal).toMatch(tooMuch)
    expect(deposit(bench, '99999999999999999999', { coin: 'PEPE' }).refusal).toBeUndefined()
    for (const amount of ['1e300', '-1e300', '9'.repeat(200), '100000000000000000001'])
      expect(deposit(bench, amount, { coin: 'BTC' }).refusal).toMatch(
        /more than can be counted: an entry is at most 100000000000000000000 BTC/,
      )
    expect(bench.book.deposits.size).toBe(2)
    expect(correct(bench, '1').refusal).toBeUndefined()
    expect(capital(bench)).toBe('1000')
  })

  test('are refused as corrections too where all together could not be counted', () => {
    const bench = started()
    deposit(bench, '1000000000000')
    deposit(bench, '-900000000000')
    deposit(bench, '900000000000')
    expect(correct(bench, '2').refusal).toMatch(
      /deposit of 900000000000 USDT, which takes back entry 2, is more than can be counted: .* take back a deposit first/,
    )
    expect(correct(bench, '3').refusal).toBeUndefined()
    expect(correct(bench, '2').refusal).toBeUndefined()
    expect(bench.book.deposited).toBe('1000000000000')
  })

  test('may be taken back where an earlier version took more than can be counted', () => {
    const bench = started()
    deposit(bench, '1')
    const [entry] = bench.book.deposits.values()
    if (entry === undefined) throw new Error('no entry')
    const amount = '3000000000000'
    mutable(bench.book).deposits = new Map([['1', { ...entry, amount }]])
    mutable(bench.book).deposited = amount
    expect(correct(bench, '1').refusal).toBeUndefined()
    expect(bench.book.deposited).toBe('0')
  })

  test('are refused where they are older than the journal, whose capital has them already', () => {
    const bench = started()
    const { beganAt } = bench.book
    bench.now += 10_000
    expect(deposit(bench, '5', { movedAt: beganAt - 1 }).refusal).toMatch(
      /is before this journal began, at .* UTC: account.capital .* give the time with --at/,
    )
    expect(deposit(bench, '-5', { movedAt: beganAt - 1 }).refusal).toContain('before this journal')
    expect(deposit(bench, '5', { movedAt: beganAt }).refusal).toBeUndefined()
    expect(deposit(bench, '5', { movedAt: beganAt - 1, coin: 'BGB' }).refusal).toBeUndefined()
    expect(capital(bench)).toBe('1005')
    expect(fromBookRows(toBookRows(bench.book)).beganAt).toBe(beganAt)
    bench.restart()
    expect(bench.book.beganAt).toBe(beganAt)
  })

  test('of a journal of which an earlier version wrote the beginning are taken of any time', () => {
    const bench = started()
    mutable(bench.book).beganAt = 0
    expect(deposit(bench, '5', { movedAt: 1 }).refusal).toBeUndefined()
  })

  test('are taken back by an entry of the opposite amount at the same moment, once', () => {
    const bench = started()
    bench.now += 10_000
    deposit(bench, '70', { movedAt: bench.now - 5000 })
    correct(bench, '1')
    const [wrong, correction] = bench.book.deposits.values()
    expect(correction).toMatchObject({ amount: '-70', corrects: '1', movedAt: wrong?.movedAt })
    expect(capital(bench)).toBe('1000')
    const refusalOf = (id: string) =>
      bench.engine.planByHand({ kind: 'correctDeposit', id, key: 'key-again', ...BY_ANNA }).refusal
    expect(refusalOf('1')).toContain('taken back already, by entry 2')
    expect(refusalOf('2')).toContain('enter that amount again')
    expect(refusalOf('9')).toContain('there is no entry 9')
  })

  test('without account.capital are kept, and the equity stays unknown', () => {
    const bench = new EngineBench().start()
    expect(deposit(bench, '10').detail).toContain('account.capital is not set')
    expect(bench.engine.equity).toBeUndefined()
    expect(bench.book.deposits.size).toBe(1)
  })

  test('[BND1] the oldest are forgotten first, and stay part of the capital', () => {
    const bench = started()
    for (let count = 0; count < DEPOSITS_MAX + 3; count++)
      deposit(bench, '1', { key: `many-${count}` })
    expect(bench.book.deposits.size).toBe(DEPOSITS_MAX)
    expect(bench.book.deposits.has('3')).toBe(false)
    expect(capital(bench)).toBe(String(1000 + DEPOSITS_MAX + 3))
  })
})
