import { type TickerRows, toTickerRows, toTickerTable } from '../../domain/ticker-rows.ts'
import { parseValue, writeValue } from '../../lib/value-text.ts'
import { type Core, createCore } from '../state/core.ts'

/** Everything that the core knows, with the rows of its own instruments for the table of the whole market. */
type CoreImage = Omit<Core, 'tickers' | 'effects'> & { readonly tickers: TickerRows | undefined }

/**
 * The whole core between two steps as text: settings, book, and what a restart would lose. What is resumed from
 * it goes on exactly as the core that it was taken from, and the same core gives the same text.
 */
export function writeCore(core: Core): string {
  const { effects: _done, tickers, ...rest } = core
  const image: CoreImage = {
    ...rest,
    tickers: tickers && toTickerRows(tickers, core.settings.instruments.keys()),
  }
  return writeValue(image)
}

/** @throws SyntaxError or TypeError for a text that {@link writeCore} did not write. */
export function parseCore(text: string): Core {
  const image = parseValue(text) as CoreImage
  const tickers = image.tickers && toTickerTable(image.tickers)
  // What a later version holds beside this begins as in a new life.
  return { ...createCore(image.settings, image.book), ...image, tickers, effects: [] }
}
