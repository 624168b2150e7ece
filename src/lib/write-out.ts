import { cleanLines } from './text/clean-text.ts'

/** What a command has found, to standard output: nothing that others have put into it is obeyed by a terminal. */
export function writeOut(text: string): void {
  process.stdout.write(cleanLines(text))
}

/** What there is to say beside it, to standard error. */
export function writeAside(text: string): void {
  process.stderr.write(cleanLines(text))
}
