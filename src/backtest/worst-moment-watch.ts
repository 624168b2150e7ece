import type { DaemonConfig } from '../config/load-config.ts'
import type { PositionReading } from '../domain/position.ts'
import type { TickerTable } from '../domain/ticker-table.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineSettings } from '../engine/settings.ts'
import type { Step } from '../interpreter/ports.ts'
import type { WorstMoment } from '../report/run-report.ts'
import { describeScenario } from '../risk/worst-case.ts'
import { drawCurve } from '../views/move-curve.ts'
import { type AccountPicture, pictureAccount } from '../views/scenario-account.ts'

type MomentFigure = Pick<WorstMoment, 'measure' | 'figure' | 'subject'>

/** They come at each look, and neither figure is measured after them. */
const MEASURES_NOTHING: ReadonlySet<Step['event']['kind']> = new Set([
  'pollDue',
  'decided',
  'clockSynchronised',
])

/**
 * When a move would have hurt most: by the use of `risk.survives`, else by the nearest liquidation.
 */
export class WorstMomentWatch {
  readonly #engine: Engine
  readonly #settings: EngineSettings
  readonly #config: Pick<DaemonConfig, 'risk' | 'simulator'>
  readonly #positions = new Map<string, PositionReading>()
  #tickers: TickerTable | undefined
  #worst: (MomentFigure & AccountPicture & { readonly at: number }) | undefined

  constructor(
    engine: Engine,
    settings: EngineSettings,
    config: Pick<DaemonConfig, 'risk' | 'simulator'>,
  ) {
    this.#engine = engine
    this.#settings = settings
    this.#config = config
  }

  hear({ at, event }: Pick<Step, 'at' | 'event'>): void {
    if (MEASURES_NOTHING.has(event.kind)) return
    if (event.kind === 'snapshotTaken') this.#tickers = event.tickers
    if (event.kind === 'positionRead') this.#positions.set(event.reading.symbol, event.reading)
    const found = this.#settings.survives ? this.#findUsed() : this.#findDistance()
    if (found !== undefined) this.#worst = { ...found, at, ...this.#picture() }
  }

  /** Undefined where nothing was held, or figures were not known. */
  report(): WorstMoment | undefined {
    if (this.#worst === undefined) return undefined
    const { measure, figure, subject, at, account, notCounted } = this.#worst
    const drawing = drawCurve(account)
    let drawn = drawing.next()
    while (!drawn.done) drawn = drawing.next()
    return {
      at,
      measure,
      figure,
      subject,
      equity: account.equity,
      held: account.instruments.flatMap(({ symbol, price, legs, orders }) =>
        legs.map(({ holdSide, size, entryPrice }) => ({
          symbol,
          holdSide,
          size,
          entryPrice,
          price,
          resting: orders.length,
        })),
      ),
      notCounted,
      curve: drawn.value,
    }
  }

  #findUsed(): MomentFigure | undefined {
    const worst = this.#engine.worstCase
    if (worst === undefined || worst.used <= (this.#worst?.figure ?? 0)) return undefined
    return { measure: 'worstCase', figure: worst.used, subject: describeScenario(worst.scenario) }
  }

  #findDistance(): MomentFigure | undefined {
    const known = this.#worst?.figure ?? Number.POSITIVE_INFINITY
    for (const { symbol, holdSide, distance } of this.#engine.nearestDistances.values())
      if (distance < known)
        return { measure: 'distance', figure: distance, subject: `${symbol} ${holdSide}` }
    return undefined
  }

  #picture(): AccountPicture {
    const { equity, book } = this.#engine
    const shown = {
      settings: this.#settings,
      config: this.#config,
      engine: this.#engine,
      book,
      state: 'begun',
      tickers: this.#tickers,
      positions: this.#positions,
    } as const
    return pictureAccount(shown, equity?.equity ?? Number.NaN)
  }
}
