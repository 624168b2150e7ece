import type { Command } from 'commander'

export interface VerbFrame {
  readonly version: string
  /** The exit code is 0 unless this is called. */
  readonly setExit: (code: number) => void
}

export type AddVerb = (program: Command, frame: VerbFrame) => void
