/**
 * Up to where a journal was read for a figure: of two answers it tells the newer one, and in which
 * run and at which record to look. What came while it was read may be counted already.
 */
export interface JournalPlace {
  /** Starts of the daemon are counted, over all of them. */
  readonly run: number
  /** The newest record. */
  readonly sequence: number
}

/** `journal record 1234 of run 3` */
export function describeJournalPlace({ run, sequence }: JournalPlace): string {
  return `journal record ${sequence} of run ${run}`
}
