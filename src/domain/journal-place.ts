/**
 * How far the journal had been read for a figure, so that of two answers the newer one is known.
 * The figure may include records that came while the journal was read.
 */
export interface JournalPlace {
  /** The number of starts of the daemon. */
  readonly run: number
  /** The newest record. */
  readonly sequence: number
}

/** `journal record 1234 of run 3` */
export function describeJournalPlace({ run, sequence }: JournalPlace): string {
  return `journal record ${sequence} of run ${run}`
}
