import { type FaultSettings } from '../../src/simulator/wire/faults.ts'

/** What goes on around a crash. */
export interface Scenario {
  /** Size of each order of the busy strategy, in BTC: above what a quote displays, orders fill in parts. */
  readonly size: string
  readonly faults: FaultSettings
  /** Of the grid strategies; three levels on each side when absent. */
  readonly ladder?: Ladder
}

export interface Ladder {
  readonly spacingBps: number
  readonly levels: number
  readonly recentreAfterLevels: number
}

const CREATING = ['batchPlaceOrder', 'cancelAllOrders'] as const

/** Above the daemon's time-out, and inside its acceptance window: such an answer counts as lost. */
const LATE_MS = { min: 400, max: 900 }

export const SCENARIOS = {
  normal: { size: '0.01', faults: { probability: {} } },
  /** What is displayed is a few BTC at most. */
  partial: { size: '4', faults: { probability: {} } },
  lost: {
    size: '0.01',
    faults: { probability: { answerLost: 0.2, requestDropped: 0.05 }, endpoints: CREATING },
  },
  late: {
    size: '0.01',
    faults: { probability: { delayedAnswer: 0.25 }, delayMs: LATE_MS, endpoints: CREATING },
  },
  /** A dense ladder that quotes run through: fills of ten seconds are more than a page. */
  many: {
    size: '0.01',
    faults: { probability: { answerLost: 0.2 }, endpoints: CREATING },
    ladder: { spacingBps: 1, levels: 20, recentreAfterLevels: 15 },
  },
  /** A little of everything, everywhere. */
  hostile: {
    size: '0.01',
    faults: {
      probability: {
        requestDropped: 0.01,
        gatewayErrorBefore: 0.02,
        tooManyRequests: 0.02,
        answerLost: 0.04,
        gatewayErrorAfter: 0.02,
        truncatedBody: 0.02,
        garbageBody: 0.02,
        delayedAnswer: 0.03,
      },
      delayMs: LATE_MS,
    },
  },
} as const satisfies Record<string, Scenario>

export type ScenarioName = keyof typeof SCENARIOS

/** How the exchange reads a clientOid that comes twice: the document allows all three. */
export const READINGS = ['replay', 'duplicateError', 'pendingOnly'] as const
export type Reading = (typeof READINGS)[number]

/** What a run does with what rests at its start, and at its end. */
export interface Policies {
  readonly onRestart: 'cancel' | 'adopt'
  readonly onStop: 'leave' | 'cancel' | 'flatten'
}

export const MODES = ['one_way_mode', 'hedge_mode'] as const
export type Mode = (typeof MODES)[number]
