import { expect, test } from 'vitest'
import type { CommandAnswer } from '../../src/daemon/account/command-inbox.ts'
import { judgeRelease, judgeScope } from '../../src/daemon/account/listen-to-operator.ts'
import { planAccountCommand } from '../../src/daemon/control/command-plans.ts'
import { judgeAnswers } from '../../src/daemon/control/judge-answers.ts'
import type { LossLimits } from '../../src/domain/loss-limits.ts'
import { decimal } from '../../src/lib/decimal.ts'
import type { ShownAccount } from '../../src/views/shown-account.ts'
import { EngineBench, SYMBOL } from '../engine/engine-bench.ts'

const HOUR = 3_600_000
const BY_ANNA = { reason: 'looked', by: 'anna' } as const
const DRAWDOWN: LossLimits = { drawdown: { warn: 0.05, reducing: 0.1, flatten: 0.2 } }

type Release = { readonly kind: 'release'; readonly scope: string; readonly newPeak?: boolean }

function open(limits: LossLimits | undefined, capital = '1000'): EngineBench {
  const losses = { timeZone: 'UTC', coolDownMs: HOUR, limits: new Map([['*', limits ?? {}]]) }
  return new EngineBench({ capital: decimal(capital), ...(limits && { losses }) }).start()
}

function hold(bench: EngineBench, scope: string): void {
  bench.step({
    kind: 'commanded',
    command: { kind: 'restrict', scope, mode: 'halted', ...BY_ANNA },
  })
}

/** As the account puts its answer together. @returns also whether the journal has a release */
function give(bench: EngineBench, order: Release) {
  const { book, settings, engine } = bench
  const command = { ...order, ...BY_ANNA }
  const shown = { book, settings, engine, trusted: { clock: { now: () => bench.now } } }
  const plan = planAccountCommand(shown as unknown as ShownAccount, order, '')
  const before = [...book.restrictions]
  const release = judgeRelease(engine, command)
  const known = bench.records.length
  bench.step({ kind: 'commanded', command })
  const answer: CommandAnswer = {
    held: [...book.restrictions.values()],
    lifted: before.flatMap(([key, one]) => (book.restrictions.has(key) ? [] : [one])),
    stillHeld: {},
    killFiles: [],
    ...release,
    ...judgeScope(command, { book, settings, now: bench.now }),
  }
  const frame = { configOption: '', isKilled: false, isToClose: () => false, coolDownMs: HOUR }
  const isRecorded = bench.records.slice(known).some(({ kind }) => kind === 'released')
  return { isRecorded, plan, verdict: judgeAnswers(order, [answer], frame) }
}

const PEAK = { kind: 'release', scope: '*', newPeak: true } as const
const PLAIN = { kind: 'release', scope: '*' } as const

test.each([
  ['a new peak where nothing is restricted', { limits: DRAWDOWN, order: PEAK, isDone: true }],
  ['a new peak and a restriction', { limits: DRAWDOWN, order: PEAK, held: '*', isDone: true }],
  ['a restriction alone', { limits: DRAWDOWN, order: PLAIN, held: '*', isDone: true }],
  ['nothing', { limits: DRAWDOWN, order: PLAIN, isDone: false }],
  [
    'a restriction of another scope',
    { limits: DRAWDOWN, order: PLAIN, held: SYMBOL, isDone: false },
  ],
  ['a new peak of a scope without a drawdown', { limits: {}, order: PEAK, isDone: false }],
  ['a new peak without any limits', { limits: undefined, order: PEAK, isDone: false }],
  [
    'a new peak of an instrument without a drawdown',
    { limits: DRAWDOWN, order: { ...PEAK, scope: SYMBOL }, isDone: false },
  ],
])('[RSK2] a release of %s is planned and answered as what the journal has', (_, scene) => {
  const { limits, order, isDone } = scene
  const bench = open(limits)
  if ('held' in scene) hold(bench, scene.held)

  const { isRecorded, plan, verdict } = give(bench, order)

  expect(isRecorded).toBe(isDone)
  expect(verdict.isObeyed).toBe(isDone)
  expect(plan.refusal === undefined).toBe(isDone)
  expect(verdict.text.startsWith('not done: ')).toBe(!isDone)
})

test('a release that only takes a new peak says so, and names nothing as released', () => {
  const { verdict } = give(open(DRAWDOWN), PEAK)

  expect(verdict).toMatchObject({ isObeyed: true, lifted: [] })
  expect(verdict.text).toBe('nothing was restricted in *, and its drawdown has a new peak')
})
