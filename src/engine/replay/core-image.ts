import { type TickerRows, toTickerRows, toTickerTable } from '../../domain/ticker-rows.ts'
import { parseValue, writeValue } from '../../lib/value-text.ts'
import type { Core } from '../state/core.ts'
import { createSettled } from '../state/totals.ts'

/** Without what follows from the book; the tickers have only the rows of traded instruments. */
type CoreImage = Omit<Core, 'market' | 'effects' | 'totals' | 'settled' | 'ladders'> & {
  readonly market: Omit<Core['market'], 'tickers'> & { readonly tickers: TickerRows | undefined }
}

/** A core that is read from the text goes on exactly alike, and the same core gives the same text. */
export function writeCore(core: Core): string {
  const {
    effects: _done,
    totals: _follows,
    settled: _counted,
    ladders: _sorted,
    market,
    ...rest
  } = core
  const tickers = market.tickers && toTickerRows(market.tickers, core.settings.instruments.keys())
  const image: CoreImage = { ...rest, market: { ...market, tickers } }
  return writeValue(image)
}

/** @throws SyntaxError or TypeError for a text that {@link writeCore} did not write */
export function parseCore(text: string): Core {
  const image = parseValue(text) as CoreImage
  const tickers = image.market.tickers && toTickerTable(image.market.tickers)
  return {
    ...image,
    market: { ...image.market, tickers },
    effects: [],
    totals: new Map(),
    settled: createSettled(),
    ladders: new Map(),
  }
}
