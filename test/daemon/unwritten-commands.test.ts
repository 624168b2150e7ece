import { expect, test } from 'vitest'
import { AnsweredRequests } from '../../src/control/answered-requests.ts'
import type { ControlAnswer, ControlRequest } from '../../src/control/commands.ts'
import {
  DaemonControl,
  type DaemonControlOptions,
} from '../../src/daemon/control/daemon-control.ts'
import { MANUAL } from '../../src/domain/hand-order.ts'
import type { EngineCommand } from '../../src/engine/event.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine/engine-bench.ts'

const LIMITS = new Map([[SYMBOL, { positionMax: 1000, orderSizeMax: 100, openOrdersMax: 100 }]])
const ORDER = { kind: 'order', symbol: SYMBOL, side: 'buy', size: '0.01', price: '9999' } as const
const HALT = { kind: 'restrict', scope: '*', mode: 'halted' } as const
const PLACED = `buy 0.01 ${SYMBOL} at 9999 (gtc)`

interface Logged {
  readonly level: string
  readonly event: string
  readonly result: unknown
}

function tradingByHand(): EngineBench {
  const common = { symbols: [SYMBOL], feeds: new Map(), limits: LIMITS }
  const strategies = new Map([
    [STRATEGY, { id: STRATEGY, ...common }],
    [MANUAL, { id: MANUAL, isByHand: true as const, ...common }],
  ])
  return new EngineBench({ strategies }).start()
}

/** An account whose records are written, or lost, when the test says so. */
class Accounted {
  readonly bench = tradingByHand()
  readonly shown: { state: 'begun' | 'atRest'; fatal: unknown; retreat?: 'left' | 'cancelled' }
  /** Where a kill is written. Undefined: no file can be. */
  killFile: string | undefined
  breaksNow = false
  readonly #waiting: ((isWritten: boolean) => void)[] = []

  constructor(name: string) {
    const { bench } = this
    const shown = {
      config: { name },
      settings: bench.settings,
      book: bench.book,
      engine: bench.engine,
      trusted: { clock: { now: () => bench.now } },
      state: 'begun' as const,
      fatal: undefined,
    }
    this.shown = shown
  }

  break(): void {
    this.shown.state = 'atRest'
    this.shown.fatal = new Error('a defect')
    this.settle(false)
  }

  command(command: EngineCommand): unknown {
    if (this.breaksNow) this.break()
    if (this.shown.state === 'atRest') return undefined
    const plan =
      command.kind === 'order' ? this.bench.engine.planByHand(command) : { detail: undefined }
    this.bench.step({ kind: 'commanded', command })
    const held = [...this.bench.book.restrictions.values()]
    return { ...plan, held, lifted: [], stillHeld: {}, killFiles: [], unclosable: {} }
  }

  throwKill(): string | undefined {
    return this.killFile
  }

  untilWritten(): Promise<boolean> {
    if (this.shown.state === 'atRest') return Promise.resolve(false)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  settle(isWritten: boolean): void {
    for (const resolve of this.#waiting.splice(0)) resolve(isWritten)
  }
}

function openScene(...names: string[]) {
  const accounts = ['main', ...names].map((name) => new Accounted(name))
  const log: Logged[] = []
  const control = new DaemonControl({
    accounts,
    configOption: ' -c main.yaml',
    off: [],
    clock: { now: () => 0, monotonic: () => 0 },
    timers: { after: () => () => undefined },
    logger: {
      listen: () => undefined,
      log: (level: string, event: string, { result }: { result?: unknown } = {}) =>
        log.push({ level, event, result }),
    },
  } as unknown as DaemonControlOptions)
  const due = new Set<() => void>()
  const after = (_delayMs: number, act: () => void): (() => void) => {
    due.add(act)
    return () => due.delete(act)
  }
  const passTime = (): void => {
    for (const act of due) act()
  }
  const answered = new AnsweredRequests({ timers: { after } })
  const send = (
    order: ControlRequest['order'],
    requestId = `request-${order.kind}`,
  ): Promise<ControlAnswer> => {
    const request = { requestId, reason: 'a drill', by: 'anna', order }
    return answered.once(request, () =>
      control.command(request, 'socket'),
    ) as Promise<ControlAnswer>
  }
  const [first] = accounts
  if (first === undefined) throw new Error('no account')
  return { accounts, first, bench: first.bench, log, send, passTime }
}

test('[ORD7] an order by hand is answered as obeyed when its record is written in time', async () => {
  const { first, bench, log, send } = openScene()
  const ordering = send(ORDER)
  bench.pass(29_000)
  first.settle(true)

  expect(await ordering).toMatchObject({ isObeyed: true, text: PLACED })
  expect(log).toMatchObject([{ level: 'info', event: 'control.commanded', result: PLACED }])
})

test('[ORD7] an order by hand whose record is written after its time is answered as dropped, and so is its repetition', async () => {
  const { first, bench, log, send } = openScene()
  const ordering = send(ORDER)
  const meanwhile = send(ORDER)
  bench.pass(31_000)
  first.settle(true)
  const late = expect.stringMatching(/^not done: it was dropped, .* under another requestId$/)

  expect(await ordering).toMatchObject({ isObeyed: false, text: late })
  const again = expect.stringMatching(/^sent again; when it came first: not done: it was dropped/)
  expect(await meanwhile).toMatchObject({ isObeyed: false, text: again })
  expect(await send(ORDER)).toMatchObject({ isObeyed: false, text: again })
  expect(log).toMatchObject([{ level: 'warn', event: 'control.commanded', result: late }])
  expect(bench.book.places.size + bench.book.orders.size).toBe(0)
})

test('[ORD7] an order by hand that a halt with a flatten drops before its record is written is answered as dropped', async () => {
  const { first, bench, send } = openScene()
  const ordering = send(ORDER)
  bench.step({
    kind: 'commanded',
    command: { kind: 'flatten', scope: SYMBOL, by: 'anna', reason: 'a drill' },
  })
  bench.pass(100)
  first.settle(true)

  expect(await ordering).toMatchObject({
    isObeyed: false,
    text: expect.stringMatching(/^not done: it was dropped before it was sent/),
  })
})

test('[RSK2] a kill before or after the run, whose file cannot be written, is answered as not done', async () => {
  const { first, log, send } = openScene()
  first.shown.state = 'atRest'
  const answer = await send({ kind: 'kill' })

  expect(answer).toMatchObject({ isObeyed: false })
  expect(answer.isUncertain).toBeUndefined()
  expect(answer.text).toMatch(
    /^not killed: .*kill file could not be written.*run has not begun, or is over.*send it again/,
  )
  expect(answer.text).not.toMatch(/in this process|obeys/)
  expect(log).toMatchObject([{ level: 'warn', result: answer.text }])
})

test('[RSK2] after a breakdown no answer says that the command acts', async () => {
  const { first, log, send } = openScene()
  const answers = [ORDER, HALT, { kind: 'kill' } as const].map((order) => send(order))
  first.settle(false)

  for (const answer of await Promise.all(answers)) {
    expect(answer).toMatchObject({ isObeyed: false, isUncertain: true })
    expect(answer.text).toMatch(/^not confirmed: the run ended before .* until the next start: /)
    expect(answer.text).not.toMatch(/in this process|is there/)
  }
  expect(log.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn'])
  for (const { result } of log) expect(result).not.toMatch(/in this process/)
})

test('[RSK2] after the breakdown of one of several accounts the answer says that the command acts in the others alone', async () => {
  const { accounts, send } = openScene('second')
  const halting = send(HALT)
  accounts[0]?.settle(false)
  accounts[1]?.settle(true)

  expect(await halting).toMatchObject({ isObeyed: false, isUncertain: true })
  expect((await halting).text).toMatch(
    /^not confirmed: the run of main ended before .* until the next start: .*; written and obeyed in second$/,
  )
})

test('[RSK2] a kill after the end of the run counts as obeyed by its file, and says what rests and how it is cancelled', async () => {
  const { first, bench, log, send } = openScene()
  bench.quote({ side: 'buy', ticks: 99_400, lots: 10 })
  bench.accept(bench.grantBatch())
  first.killFile = '/state/KILL'
  first.break()

  const answer = await send({ kind: 'kill' })

  expect(answer).toMatchObject({ isObeyed: true })
  expect(answer.isUncertain).toBeUndefined()
  expect(answer.text).toBe(
    'killed here, also after a restart: nothing that creates an order leaves while /state/KILL is there; the run is over: a daemon that starts here obeys before its first order; 1 order was open when it ended, and this process cancels none: `intentd kill -c main.yaml` does',
  )
  expect(log).toMatchObject([{ level: 'info', event: 'control.commanded' }])
})

test('[RSK2] a kill after a run whose end has cancelled everything names no orders', async () => {
  const { first, bench, send } = openScene()
  bench.quote({ side: 'buy', ticks: 99_400, lots: 10 })
  bench.accept(bench.grantBatch())
  first.killFile = '/state/KILL'
  first.break()
  first.shown.retreat = 'cancelled'

  expect((await send({ kind: 'kill' })).text).toMatch(/before its first order$/)
})

test('[RSK2] a kill that is in no file and with which the run breaks down is not confirmed', async () => {
  const { first, send } = openScene()
  first.breaksNow = true

  expect(await send({ kind: 'kill' })).toMatchObject({ isObeyed: false, isUncertain: true })
})

test('[RSK2] a command with which the run breaks down is not answered as certainly refused', async () => {
  const { first, send } = openScene()
  first.breaksNow = true
  const broken = await send(HALT)
  const after = await send({ ...HALT, scope: SYMBOL })

  expect(broken).toMatchObject({ isObeyed: false, isUncertain: true })
  expect(broken.text).toMatch(/^not confirmed: the run ended before the journal had confirmed it/)
  expect(after).toMatchObject({ isObeyed: false })
  expect([after.isUncertain, after.text.slice(0, 8)]).toEqual([undefined, 'not now:'])
})

test('[RSK2] an account whose run was over before makes no command of the others uncertain', async () => {
  const { accounts, first, send } = openScene('second')
  accounts[1]?.break()
  const halting = send(HALT)
  first.settle(true)

  expect(await halting).toMatchObject({ isObeyed: true, text: '* is held halted' })
})

const LOOSER = [{ ...HALT, mode: 'reducing' }, 'request-looser'] as const
const REFUSED = 'not done: a restriction never loosens; release * first'

test('[RSK2] a refusal that rests on a record waits until the record is written', async () => {
  const { first, log, send } = openScene()
  const halting = send(HALT)
  const loosening = send(...LOOSER)
  let isAnswered = false
  void loosening.then(() => (isAnswered = true))
  await new Promise((resolve) => setImmediate(resolve))
  expect(isAnswered).toBe(false)
  first.settle(true)

  expect(await halting).toMatchObject({ isObeyed: true })
  expect(await loosening).toMatchObject({ isObeyed: false, text: REFUSED })
  expect((await loosening).isUncertain).toBeUndefined()
  expect(log.map(({ level }) => level)).toEqual(['info', 'warn'])
  // It was refused, so it is judged again.
  const again = send(...LOOSER)
  first.settle(true)
  expect(await again).toMatchObject({ isObeyed: false, text: REFUSED })
})

test('[RSK2] a refusal whose record is not written in time, or is lost, says that it is not confirmed', async () => {
  const { first, log, send, passTime } = openScene()
  void send(HALT)
  const loosening = send(...LOOSER)
  passTime()
  const meanwhile = await loosening
  const repeated = send(...LOOSER)
  first.break()

  expect(meanwhile).toMatchObject({
    isObeyed: false,
    isUncertain: true,
    text: expect.stringMatching(
      /^not confirmed: .*what the refusal rests on.*same requestId.*: not done: a restriction never/,
    ),
  })
  expect(await repeated).toMatchObject({
    isObeyed: false,
    isUncertain: true,
    text: expect.stringMatching(/not confirmed: the run ended .*: not done: a restriction never/),
  })
  expect(log.map(({ level }) => level)).toEqual(['warn', 'warn'])
})

test('[RSK2] a refusal where one of several accounts has lost the record names the account', async () => {
  const { accounts, send } = openScene('second')
  void send(HALT)
  const loosening = send(...LOOSER)
  accounts[0]?.settle(true)
  accounts[1]?.break()

  expect((await loosening).text).toMatch(/^not confirmed: the run of second ended /)
})
