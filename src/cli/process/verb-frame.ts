import type { Command } from 'commander'

/** What a verb is given beside its options. */
export interface VerbFrame {
  readonly version: string
  /** How the process ends; 0 unless it is called. */
  readonly setExit: (code: number) => void
}

/** Adds a verb, or several, to the command line. */
export type AddVerb = (program: Command, frame: VerbFrame) => void
