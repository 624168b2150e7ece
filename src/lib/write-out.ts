import { cleanLines } from './text/clean-text.ts'

/** Others may have put in what a terminal obeys. */
export function writeOut(text: string): void {
  process.stdout.write(cleanLines(text))
}

export function writeAside(text: string): void {
  process.stderr.write(cleanLines(text))
}
