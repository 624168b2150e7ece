import { NO_CLOCK_REFUSALS } from '../../domain/answer.ts'
import type { LiquidationState } from '../../domain/liquidation.ts'
import type { LossState } from '../../domain/loss-limits.ts'
import { toNeededCandles } from './candles.ts'
import type { Book } from '../book/book.ts'
import { createChanges } from './changes.ts'
import { createSettled } from './totals.ts'
import { createDenials } from './denials.ts'
import { createExitWatch } from './exits.ts'
import { createWorstCase } from './worst-case.ts'
import { createRecount } from '../book/recount.ts'
import type { EngineSettings } from '../settings.ts'
import type { Core } from './core.ts'
import { createInstrumentState } from './instrument-state.ts'
import { enterPresentMembers } from './roster.ts'

const NOT_REFUSED = { refusals: 0, refused: '', refusedUntil: 0 } as const

/** The book, rebuilt from the journal, puts members of universes into the settings. */
export function createCore(settings: EngineSettings, book: Book): Core {
  enterPresentMembers(settings, book)
  const symbols = [...settings.instruments.keys()]
  return {
    settings,
    book,
    now: 0,
    effects: [],
    clock: {
      offsetMs: undefined,
      firstOffsetMs: undefined,
      synchronisedAt: 0,
      unsynchronised: undefined,
      ...NOT_REFUSED,
    },
    market: createMarket(),
    instruments: new Map(symbols.map((symbol) => [symbol, createInstrumentState(symbol)])),
    calls: createCalls(),
    readings: {
      fillsKnownUntil: 0,
      fillsAskedAt: 0,
      fillsReadThroughAt: 0,
      orphans: new Map(),
      unreadable: new Map(),
      failures: new Map(),
      wholes: new Map(),
    },
    silence: { calls: new Map(), outage: undefined },
    decisions: {
      decidedOn: new Map(),
      failuresInRow: new Map(),
      quoteHolds: new Map(),
      wishesFrom: 1,
      states: new Map(),
    },
    denials: createDenials(),
    unlisted: { symbols: new Set(), listed: new Set() },
    names: {
      suspected: new Set(),
      suspectedWishes: new Map(),
      unlistedAt: new Map(),
      search: undefined,
    },
    candles: {
      needed: toNeededCandles(settings),
      open: new Map(),
      wholeFrom: new Map(),
      due: new Set(),
    },
    losses: createLosses(),
    disputes: { open: new Map(), reduced: new Map() },
    liquidation: createLiquidation(),
    hours: new Map(),
    worstCase: createWorstCase(),
    funding: new Map(),
    ...createExitWatch(settings),
    ...(settings.listsExits === true && { keptExits: new Map() }),
    unkeptExits: new Set(),
    reductions: new Map(),
    recount: createRecount(book),
    refusals: new Map(),
    lastMinute: new Map(),
    run: createRun(),
    changes: createChanges(symbols),
    totals: new Map(),
    settled: createSettled(),
    ladders: new Map(),
    universeRefusals: new Map(),
  }
}

function createCalls(): Core['calls'] {
  return {
    asked: new Set(),
    batches: new Map(),
    cancels: new Map(),
    cancelId: 0,
    clockRefusals: NO_CLOCK_REFUSALS,
    cancelsThatFound: 0,
    accountCalls: new Map(),
    accountCallId: 0,
    accountCallsNotBefore: new Map(),
    sentAt: new Map(),
  }
}

function createMarket(): Core['market'] {
  return {
    tickers: undefined,
    snapshots: 0,
    feeds: new Map(),
    marks: new Map(),
    contracts: undefined,
  }
}

function createRun(): Core['run'] {
  return {
    phase: 'starting',
    startedAt: 0,
    start: {
      isOver: false,
      hasEnded: false,
      askedAt: 0,
      saidAt: 0,
      wishesFrom: new Map(),
      wishesFromLatest: 0,
    },
    stop: undefined,
    kill: undefined,
    flattens: new Map(),
    prunedAt: 0,
    spaceLowSince: undefined,
    beyondLimit: new Map(),
    flatBeforeStop: undefined,
  }
}

function createLosses(): LossState {
  return {
    statements: new Map(),
    statedCounters: new Map(),
    statedEntries: new Map(),
    worths: new Map(),
    peaks: new Map(),
    used: new Map(),
    warned: new Set(),
    awaited: new Set(),
    askedAt: new Map(),
    unreadAt: 0,
  }
}

function createLiquidation(): LiquidationState {
  return {
    distances: new Map(),
    warned: new Set(),
    awaited: new Map(),
    alone: new Set(),
    nearest: new Map(),
  }
}
