import { type Decimal, decimal } from '../../lib/decimal.ts'
import type { EngineSettings } from '../settings.ts'
import type { Book } from './book.ts'

interface CapitalSource {
  readonly settings: Pick<EngineSettings, 'capital'>
  readonly book: Pick<Book, 'deposited'>
}

/**
 * Margin coin: what equity is counted from, `account.capital` with all that was deposited since.
 * Undefined where it is not configured.
 */
export function capitalOf({ settings: { capital }, book }: CapitalSource): Decimal | undefined {
  // It is asked for at each reading of a position, and most accounts have none.
  return capital === undefined || book.deposited === '0'
    ? capital
    : capital.plus(decimal(book.deposited))
}
