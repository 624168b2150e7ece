/**
 * A figure was counted from the journal up to here, so the newer of two answers is known. It may
 * include records that came while the journal was read.
 */
export interface JournalPlace {
  /** The number of starts of the daemon. */
  readonly run: number
  /** The newest record. */
  readonly sequence: number
}

/** `journal record 1234 of run 3` */
export function describeJournalPlace({ run, sequence }: JournalPlace): string {
  if (Number.isNaN(sequence)) return 'a journal record that is not known'
  return `journal record ${sequence} of run ${run}`
}
