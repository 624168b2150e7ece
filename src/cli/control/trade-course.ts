import { CANDLE_INTERVALS_MS, type CandleView } from '../../control/detail-views.ts'
import { writeOut } from '../../lib/write-out.ts'
import { readClosedTrades } from '../../views/closed-trades.ts'
import { pricesOf, readTradeCourse, type TradeCourse } from '../../views/trade-course.ts'
import { findSocket, withClient } from '../operator/find-daemon.ts'
import { loadOperated } from '../operator/operated-config.ts'
import { print } from '../process/operator.ts'
import { type JournalSpanOptions, withRows } from './journal-rows.ts'

interface CourseOptions extends JournalSpanOptions {
  readonly strategy?: string
  readonly symbol?: string
  /** 1: the last one. */
  readonly course: number
}

const EXIT_NONE = 1

/** Prints how one closed trade went, as JSON: `null` if there is none. */
export async function showTradeCourse(options: CourseOptions): Promise<number> {
  const found = withRows(options, ({ reader, config, book, since, until }) => {
    const { strategy, symbol, course: limit } = options
    const { positionMode } = config.account
    const query = { strategy, symbol, since, until, limit }
    const { trades } = readClosedTrades(reader, positionMode, query)
    const trade = trades.length === limit ? trades[0] : undefined
    if (trade === undefined) return undefined
    const tick = book().grids.get(trade.symbol)?.tick
    return readTradeCourse(reader, { trade, positionMode, tick })
  })
  if (found === undefined) {
    writeOut('null\n')
    print('so many trades were not closed')
    return EXIT_NONE
  }
  const prices = pricesOf(found.trade, await readCandles(options, found.trade.symbol))
  const course: TradeCourse = { ...found, prices }
  writeOut(`${JSON.stringify(course, undefined, 2)}\n`)
  return 0
}

/** The finest first; none without a daemon. */
async function readCandles(
  options: CourseOptions,
  symbol: string,
): Promise<readonly (readonly CandleView[])[]> {
  const socket = findSocket(loadOperated(options))
  if (socket === undefined) return []
  return withClient(socket, (client) =>
    Promise.all(
      CANDLE_INTERVALS_MS.map(async (intervalMs) => {
        const path = `/v1/candles?symbol=${encodeURIComponent(symbol)}&intervalMs=${intervalMs}`
        const reply = await client.read(path)
        return reply.kind === 'answered' && reply.status === 200
          ? (reply.body as readonly CandleView[])
          : []
      }),
    ),
  )
}
