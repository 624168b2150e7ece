import { expect, test } from 'vitest'
import {
  beginStep,
  type Core,
  instrumentOf,
  type InstrumentState,
} from '../../../src/engine/state/core.ts'
import { createCore } from '../../../src/engine/state/create-core.ts'
import { enterStartStage } from '../../../src/engine/state/instrument-state.ts'
import { enterPhase } from '../../../src/engine/state/run-state.ts'
import { expectDisplaced, watchDisplaced } from '../../../src/engine/resolution/resolved-orders.ts'
import { madeTerms } from '../../execution/made-terms.ts'
import { EngineBench, STRATEGY, SYMBOL } from '../engine-bench.ts'

const FIRST = { side: 'buy', ticks: 99_990, lots: 10 } as const
const SECOND = { side: 'buy', ticks: 99_980, lots: 10 } as const

/** A core that runs and whose book wants both levels, of which nothing rests. */
function wanting(): { readonly core: Core; readonly instrument: InstrumentState } {
  const bench = new EngineBench().start()
  bench.quote(FIRST, SECOND)
  const core = createCore(bench.settings, bench.book)
  enterPhase(core.run, 'running')
  const instrument = instrumentOf(core, SYMBOL)
  enterStartStage(instrument, { stage: 'proved', readSince: 0 })
  return { core, instrument }
}

function take(instrument: InstrumentState, ticks: number, cancelledAt: number): void {
  const terms = madeTerms({
    strategyId: STRATEGY,
    symbol: SYMBOL,
    purpose: 'quote',
    ticks,
    lots: 10,
  })
  expectDisplaced(instrument, [terms], cancelledAt)
}

function lateAt(core: Core, instrument: InstrumentState, now: number): unknown[] {
  beginStep(core, now)
  watchDisplaced(core, instrument)
  return [...core.effects]
}

test('[ORD8] an order is reported late though another one is late already', () => {
  const { core, instrument } = wanting()
  take(instrument, FIRST.ticks, 1000)
  expect(lateAt(core, instrument, 6500)).toMatchObject([
    { event: 'order.displacedLate', fields: { sinceMs: 5500 } },
  ])

  take(instrument, SECOND.ticks, 7000)
  expect(lateAt(core, instrument, 12_000)).toEqual([])
  expect(lateAt(core, instrument, 12_100)).toMatchObject([
    { event: 'order.displacedLate', fields: { sinceMs: 5100 } },
  ])
})

test('[ORD8] an order that is taken twice counts from the first time', () => {
  const { core, instrument } = wanting()
  take(instrument, FIRST.ticks, 1000)
  take(instrument, FIRST.ticks, 4000)

  expect(lateAt(core, instrument, 6500)).toMatchObject([{ fields: { sinceMs: 5500 } }])
})

test('[ORD8] until a start has proved the instrument nothing is given up', () => {
  const { core, instrument } = wanting()
  enterStartStage(instrument, { stage: 'resolving', readSince: 0 })
  take(instrument, FIRST.ticks, 1000)

  expect(lateAt(core, instrument, 9000)).toEqual([])
  enterStartStage(instrument, { stage: 'proved', readSince: 0 })
  expect(lateAt(core, instrument, 9000)).toMatchObject([{ event: 'order.displacedLate' }])
})
