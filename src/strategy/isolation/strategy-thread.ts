// While the thread waits for a question its event loop stands still: a strategy's timers and
// promises never run.

import { receiveMessageOnPort } from 'node:worker_threads'
import { systemClock, threadCpuMs } from '../../lib/clock.ts'
import { decimal } from '../../lib/decimal.ts'
import { runTask } from '../../lib/supervised-thread.ts'
import { loadStrategy } from '../load-strategy.ts'
import { type SaidLine, StrategyRunner } from '../strategy-runner.ts'
import { strategyFailure } from '../strategy-failure.ts'
import { guardThread } from './guard-thread.ts'
import { ShownMoment } from './shown-moment.ts'
import { createMemoryCheck } from './thread-memory.ts'
import {
  type ThreadAnswer,
  ANSWERED,
  ASKED,
  CPU_US,
  type Question,
  REPEATS,
  type StrategyThreadData,
} from './thread-messages.ts'

/** A memory check takes some microseconds. */
const MEMORY_LOOKED_AT_EVERY = 16

const said: SaidLine[] = []

await runTask<StrategyThreadData, 'ready'>(async (data, report) => {
  const isTooLarge = createMemoryCheck(data.heapMb)
  const runner = await open(data)
  report('ready')
  serve(data, runner, isTooLarge)
})

async function open(data: StrategyThreadData): Promise<StrategyRunner> {
  guardThread()
  const { moduleFile, strategyId, params, stateText } = data
  const strategy = await loadStrategy(moduleFile)
  const instruments = data.instruments.map((one) => ({
    ...one,
    notionalMin: decimal(one.notionalMin),
  }))
  const onSaid = (line: SaidLine): number => said.push(line)
  return new StrategyRunner({
    strategyId,
    strategy,
    params,
    instruments,
    stateText,
    clock: systemClock,
    threadCpuMs,
    onSaid,
  })
}

function serve(data: StrategyThreadData, runner: StrategyRunner, isTooLarge: () => boolean): never {
  const control = new Int32Array(data.control)
  const tooLarge = tooLargeOf(data)
  const shown = new ShownMoment(data)
  let before: Extract<ThreadAnswer, { kind: 'decided' }> | undefined
  for (let asked = 0; ;) {
    Atomics.wait(control, ASKED, asked)
    asked = Atomics.load(control, ASKED)
    for (let news = receiveMessageOnPort(data.port); news; news = receiveMessageOnPort(data.port)) {
      shown.take(news.message as Question)
    }
    const { elapsedMs: _, isSlow: _slow, cpuMs, ...decided } = runner.decide(shown.snapshot())
    const decision = asked % MEMORY_LOOKED_AT_EVERY === 0 && isTooLarge() ? tooLarge : decided
    const lines = said.splice(0)
    const answer: ThreadAnswer = lines.length > 0 ? { ...decision, said: lines } : decision
    const isSame =
      lines.length === 0 &&
      before !== undefined &&
      answer.kind === 'decided' &&
      repeats(answer, before)
    if (!isSame) data.port.postMessage(answer)
    before = answer.kind === 'decided' ? answer : undefined
    Atomics.store(control, CPU_US, cpuMs === undefined ? -1 : Math.round(cpuMs * 1000))
    Atomics.store(control, REPEATS, Number(isSame))
    Atomics.store(control, ANSWERED, asked)
    Atomics.notify(control, ANSWERED)
  }
}

function tooLargeOf({ heapMb }: StrategyThreadData): Extract<ThreadAnswer, { kind: 'failed' }> {
  const { message } = strategyFailure('STRATEGY_MEMORY', { facts: { heapMb } })
  return { kind: 'failed', code: 'STRATEGY_MEMORY', message }
}

function repeats(
  { intents, denials, plots, waits, state }: Extract<ThreadAnswer, { kind: 'decided' }>,
  before: Extract<ThreadAnswer, { kind: 'decided' }>,
): boolean {
  return (
    plots === undefined &&
    waits === undefined &&
    denials.length + before.denials.length === 0 &&
    state === before.state &&
    intents.length === before.intents.length &&
    intents.every((intent, index) => intent === before.intents[index])
  )
}
