import { Failure, type FailureDetails, messageOf } from './failure.ts'

/** Errors would lose their class between threads. */
export interface ErrorCrossing<Packed = unknown> {
  pack(error: unknown): Packed
  unpack(packed: Packed): Error
}

export type PackedError =
  | { readonly failure: FailureDetails }
  | { readonly error: Error }
  | { readonly text: string }

/** Only a failure keeps class and cause. */
export const FAILURES_CROSSING: ErrorCrossing<PackedError> = {
  pack(error) {
    if (!(error instanceof Error)) return { text: String(error) }
    if (!(error instanceof Failure)) return { error: toPlain(error) }
    const { code, message, facts, hint, cause } = error
    const sentence = message.split('\n', 1)[0]?.slice(`${code}: `.length) ?? ''
    const failure = {
      code,
      sentence,
      facts,
      ...(hint !== undefined && { hint }),
      ...(cause !== undefined && { cause: messageOf(cause) }),
    }
    return { failure }
  },
  unpack(packed) {
    if ('failure' in packed) return new Failure(packed.failure)
    return 'error' in packed ? packed.error : new Error(packed.text)
  },
}

/** A cause may be a function, which cannot cross. */
function toPlain(error: Error): Error {
  try {
    return structuredClone(error)
  } catch {
    return new Error(messageOf(error))
  }
}
