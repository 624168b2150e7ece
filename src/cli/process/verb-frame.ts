import type { Command } from 'commander'

export interface VerbFrame {
  readonly version: string
  readonly setExit: (code: number) => void
}

export type AddVerb = (program: Command, frame: VerbFrame) => void
