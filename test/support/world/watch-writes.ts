import type { CallOptions } from '../../../src/exchange/client/request-writer.ts'
import { type ExchangePort } from '../../../src/interpreter/ports.ts'

/** Called right before the first byte of each batch and cancel-all, after all checks. */
export interface WriteListener {
  batch(body: string): void
  cancelAll(body: string): void
}

export function watchWrites(exchange: ExchangePort, listener: WriteListener): void {
  const placeBatch = exchange.placeBatch.bind(exchange)
  const cancelAll = exchange.cancelAll.bind(exchange)
  exchange.placeBatch = (body, options, onAnswer) =>
    placeBatch(
      body,
      whenWritten(options, () => listener.batch(body)),
      onAnswer,
    )
  exchange.cancelAll = (body, options, onAnswer) =>
    cancelAll(
      body,
      whenWritten(options, () => listener.cancelAll(body)),
      onAnswer,
    )
}

function whenWritten(options: CallOptions, hear: () => void): CallOptions {
  const beforeWrite = () => {
    const objection = options.beforeWrite?.()
    if (objection === undefined) hear()
    return objection
  }
  return { ...options, beforeWrite }
}
