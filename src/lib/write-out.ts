import { cleanLines } from './text/clean-text.ts'

/** Writes a command's result to standard output, cleaned so that no terminal obeys what others have put into it. */
export function writeOut(text: string): void {
  process.stdout.write(cleanLines(text))
}

/** Writes remarks beside the result to standard error. */
export function writeAside(text: string): void {
  process.stderr.write(cleanLines(text))
}
